"""`Wrapper`: arguments and spec for free, attributes through the stack, copies, and the three one-method kinds."""

import pickle
from copy import deepcopy

import numpy as np
import pytest

from ludus.core import ActionWrapper, Env, EnvSpec, ObservationWrapper, RewardWrapper, Wrapper, WrapperSpec
from ludus.errors import InvalidType
from ludus.spaces import Box, Discrete
from ludus.wrappers import TimeLimit
from tests.core.subjects import Counted, Halved, Keywords, Mirrored, Negated, Walk, history
from tests.core.wording import says

ACTIONS = [0, 1, -1, 1, 1, -1, 0, 0, 1]


class Silent(Wrapper):
    """A wrapper whose author never heard of arguments."""

    def __init__(self, env, low, high=5, *rest, flag=False):
        self.env = env
        super().__init__(env)


@pytest.mark.parametrize(
    ("build", "arguments"),
    [
        (lambda env: Counted(env), {}),
        (lambda env: Counted(env, 0.5), {"scale": 0.5}),
        (lambda env: Counted(env=env, label="x"), {"label": "x"}),
        (lambda env: Counted(label="x", scale=1.0, env=env), {"scale": 1.0, "label": "x"}),
        (lambda env: Mirrored(env), {}),
        (lambda env: Mirrored(env=env), {}),
        (lambda env: Keywords(env, a=1, b=[2]), {"a": 1, "b": [2]}),
        (lambda env: Silent(env, 1), {"low": 1}),
        (lambda env: Silent(env, 1, high=2, flag=True), {"low": 1, "high": 2, "flag": True}),
        (lambda env: TimeLimit(env, max_episode_steps=3), {"max_episode_steps": 3}),
    ],
)
def test_arguments_are_those_given_and_build_the_wrapper_again(build, arguments):
    wrapper = build(Walk())
    assert wrapper.arguments == arguments
    again = type(wrapper)(Walk(), **wrapper.arguments)
    assert again.arguments == arguments


def test_arguments_without_a_name_are_shown_and_never_dropped():
    class Passing(TimeLimit):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    assert Passing(Walk(), 3).arguments == {"*args": (3,)}
    assert Passing(Walk(), max_episode_steps=3).arguments == {"max_episode_steps": 3}
    assert Silent(Walk(), 1, 2, 3).arguments == {"low": 1, "high": 2, "*rest": (3,)}


def test_the_spec_below_gains_each_wrapper_from_the_inside_out():
    env = Walk()
    assert Counted(env).spec is None
    env.spec = EnvSpec("Walk-v0", entry_point="tests.core.subjects:Walk")
    stack = Counted(Mirrored(env), 0.5, label="x")
    assert stack.spec.additional_wrappers == (
        WrapperSpec("Mirrored", "tests.core.subjects:Mirrored", {}),
        WrapperSpec("Counted", "tests.core.subjects:Counted", {"scale": 0.5, "label": "x"}),
    )
    assert EnvSpec.from_json(stack.spec.to_json()) == stack.spec
    assert env.spec.additional_wrappers == ()


def test_a_wrapper_spec_applies_the_wrapper():
    spec = Counted.wrapper_spec(scale=2.0)
    assert spec == Counted.using(2.0) == WrapperSpec("Counted", "tests.core.subjects:Counted", {"scale": 2.0})
    wrapped = Walk() | spec
    assert str(wrapped) == "<Counted(scale=2.0)<Walk instance>>"
    assert wrapped.arguments == {"scale": 2.0}
    assert Counted.class_name() == "Counted"


def test_long_arguments_are_cut_in_text():
    assert str(Keywords(Walk(), a="y" * 99)) == f"<Keywords(a='{'y' * 38}…)<Walk instance>>"


@pytest.mark.parametrize("inner", [None, 3, "Walk"])
def test_only_an_environment_can_be_wrapped(inner):
    message = (
        f"Mirrored env: expected a ludus Env, got {inner!r}; "
        "adapt other libraries' environments first (ludus.core.legacy, ludus.interop)"
    )
    with says(InvalidType, message):
        Mirrored(inner)


def test_everything_is_forwarded_that_is_not_changed():
    env = Walk(render_mode="ansi")
    plain = Wrapper(Wrapper(env))
    assert plain.observation_space is env.observation_space
    assert plain.action_space is env.action_space
    assert plain.metadata is env.metadata
    assert plain.render_mode == "ansi"
    assert plain.batch_shape == ()
    assert history(plain, ACTIONS, seed=2) == history(Walk(), ACTIONS, seed=2)
    assert plain.render() == env.render()
    plain.close()
    assert env.closes == 1


def test_a_wrapper_may_have_spaces_and_metadata_of_its_own():
    env = Walk()
    outer = Wrapper(env)
    outer.action_space, outer.observation_space = Discrete(2), Box(0, 1)
    outer.metadata = {"render_modes": []}
    assert (outer.action_space, outer.observation_space) == (Discrete(2), Box(0, 1))
    assert outer.metadata == {"render_modes": []}
    assert env.action_space == Discrete(3, start=-1)
    assert env.metadata["render_fps"] == 4


def test_an_attribute_is_found_on_the_nearest_layer_that_has_it():
    stack = Counted(Mirrored(Walk(noise=0.25)))
    stack.unwrapped.label = "below"
    assert stack.has_wrapper_attr("noise")
    assert stack.get_wrapper_attr("noise") == 0.25
    assert stack.get_wrapper_attr("label") == "counted"
    assert not stack.has_wrapper_attr("wind")
    with says(AttributeError, "no attribute 'wind' in Counted → Mirrored → Walk"):
        stack.get_wrapper_attr("wind")


def test_an_attribute_is_set_where_it_is_else_on_the_outermost_layer():
    stack = Counted(Mirrored(Walk()))
    assert stack.set_wrapper_attr("noise", 0.5)
    assert stack.unwrapped.noise == 0.5
    assert "noise" not in vars(stack)
    assert stack.set_wrapper_attr("steps", 7)
    assert stack.steps == 7
    assert not stack.set_wrapper_attr("wind", 1, force=False)
    assert not stack.has_wrapper_attr("wind")
    assert stack.set_wrapper_attr("wind", 1)
    assert vars(stack)["wind"] == 1
    assert not hasattr(stack.unwrapped, "wind")


def test_a_missing_attribute_hints_at_the_layer_that_has_it():
    stack = Counted(Mirrored(Walk()))
    message = "Counted has no attribute 'noise', but Walk under it has: use env.get_wrapper_attr('noise')"
    with says(AttributeError, message):
        stack.noise  # noqa: B018
    with says(AttributeError, "Counted has no attribute 'wind'"):
        stack.wind  # noqa: B018
    with says(AttributeError, "Counted has no attribute '_np'"):
        stack._np  # noqa: B018


def test_a_half_built_wrapper_says_what_is_missing():
    with says(AttributeError, "Counted has no attribute 'noise'"):
        Counted.__new__(Counted).noise  # noqa: B018


@pytest.mark.parametrize("copy", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"])
def test_a_copy_of_a_stack_goes_on_alike_and_on_its_own(copy):
    stack = TimeLimit(Counted(Negated(Walk()), 1.0), 50)
    history(stack, ACTIONS, seed=5)
    other = copy(stack)
    assert other.unwrapped is not stack.unwrapped
    assert other.arguments == stack.arguments
    assert str(other) == str(stack)
    assert history(other, ACTIONS) == history(stack, ACTIONS)
    other.unwrapped.noise = 0.0
    assert stack.unwrapped.noise == 1.0


def test_a_copy_of_a_stack_keeps_the_generators_of_its_spaces():
    stack = Counted(Walk())
    stack.action_space.seed(3)
    other = deepcopy(stack)
    assert [stack.action_space.sample() for _ in range(9)] == [other.action_space.sample() for _ in range(9)]


def test_an_observation_wrapper_changes_reset_and_step():
    plain, negated = Walk(), Negated(Walk())
    assert negated.reset(seed=1)[0] == -plain.reset(seed=1)[0]
    assert negated.reset(seed=1)[1] == {"steps": 0}
    step, expected = negated.step(1), plain.step(1)
    assert step.observation == -expected.observation
    assert step[1:] == expected[1:]


def test_an_action_wrapper_changes_what_the_environment_is_told():
    plain, mirrored = Walk(), Mirrored(Walk())
    plain.reset(seed=1)
    mirrored.reset(seed=1)
    assert np.array_equal(mirrored.step(1).observation, plain.step(-1).observation)


def test_a_reward_wrapper_changes_the_reward_alone():
    plain, halved = Walk(), Halved(Walk())
    plain.reset(seed=1)
    halved.reset(seed=1)
    step, expected = halved.step(1), plain.step(1)
    assert step.reward == expected.reward / 2
    assert np.array_equal(step.observation, expected.observation)


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (ObservationWrapper, lambda env: env.reset(), "Plain defines no observation(observation)"),
        (ActionWrapper, lambda env: env.step(0), "Plain defines no action(action)"),
        (RewardWrapper, lambda env: env.step(0), "Plain defines no reward(reward)"),
    ],
)
def test_a_wrapper_without_its_one_method_says_so(kind, call, text):
    env = type("Plain", (kind,), {})(Walk())
    env.unwrapped.reset(seed=0)
    with says(NotImplementedError, text):
        call(env)


def test_the_three_kinds_accept_environments_that_return_plain_tuples():
    class Plain(Walk):
        def step(self, action):
            return tuple(super().step(action))

    ours, expected = Halved(Mirrored(Negated(Plain()))), Halved(Mirrored(Negated(Walk())))
    assert history(ours, ACTIONS, seed=1) == history(expected, ACTIONS, seed=1)


def test_a_wrapper_is_an_environment():
    assert isinstance(Wrapper(Walk()), Env)
