"""Making: arguments, wrappers, render modes, and specs that make the same again."""

import functools
import threading
from dataclasses import fields

import numpy as np
import pytest

import ludus
from ludus import EnvSpec, make
from ludus.core import WrapperSpec
from ludus.envs.teaching.grid_world import GridWorld
from ludus.errors import EntryPointError, InvalidArgument, InvalidSpec, InvalidType, RenderError
from ludus.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit


def layers(env) -> list[str]:
    names = []
    while isinstance(env, ludus.Wrapper):
        names.append(type(env).__name__)
        env = env.env
    return [*names, type(env).__name__]


@pytest.fixture
def spec(samples):
    return EnvSpec("Count-v0", samples("Count"), max_episode_steps=3, kwargs={"step_size": 2})


# --- what can be made ---


def test_an_id_makes_its_environment():
    env = make("GridWorld-v0", size=3)
    assert env.unwrapped.size == 3
    assert env.reset(seed=0)[0].tolist() == [0, 0]


@pytest.mark.parametrize("target", [GridWorld, functools.partial(GridWorld, size=4), lambda: GridWorld()])
def test_a_class_or_function_makes_its_environment(target):
    env = make(target)
    assert isinstance(env.unwrapped, GridWorld)
    assert layers(env)[0] == "OrderEnforcing"


def test_the_id_of_a_class_is_its_name():
    assert make(GridWorld).spec.id == "GridWorld"
    assert make(lambda: GridWorld()).spec.id == "lambda"


def test_a_spec_makes_its_environment(spec):
    assert spec.make(start=5).reset()[0] == 5
    assert make(spec).unwrapped.step_size == 2


def test_arguments_go_over_those_of_the_spec(spec):
    env = make(spec, step_size=7)
    assert env.unwrapped.step_size == 7
    assert env.spec.kwargs == {"step_size": 7}
    assert spec.kwargs == {"step_size": 2}


@pytest.mark.parametrize("target", [None, 3, b"GridWorld-v0"])
def test_nothing_else_can_be_made(target):
    with pytest.raises(InvalidType, match="make: expected an id like 'CartPole-v1', an EnvSpec or an Env class, got"):
        make(target)


def test_an_environment_is_made_already():
    with pytest.raises(InvalidType, match=r"; it is made already$"):
        make(make("GridWorld-v0"))


# --- wrappers and the spec of what was made ---


def test_the_standard_wrappers_come_in_their_order(spec):
    assert layers(make(spec)) == ["TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "Count"]


@pytest.mark.parametrize(
    ("changes", "arguments", "missing"),
    [
        ({"max_episode_steps": None}, {}, TimeLimit),
        ({}, {"max_episode_steps": -1}, TimeLimit),
        ({"order_enforce": False}, {}, OrderEnforcing),
        ({"disable_env_checker": True}, {}, PassiveEnvChecker),
        ({}, {"disable_env_checker": True}, PassiveEnvChecker),
    ],
)
def test_each_standard_wrapper_can_be_left_out(spec, changes, arguments, missing):
    expected = ["TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "Count"]
    expected.remove(missing.__name__)
    env = make(spec.replace(**changes), **arguments)
    assert layers(env) == expected
    assert layers(make(env.spec)) == expected


def test_a_time_limit_can_be_set_where_the_spec_has_none(spec):
    env = make(spec, max_episode_steps=np.int64(1))
    env.reset()
    assert env.step(0).truncated
    assert env.spec.max_episode_steps == 1


@pytest.mark.parametrize("limit", [0, -2, 1.5, "3", True])
def test_a_time_limit_is_positive_or_minus_one(spec, limit):
    with pytest.raises(
        InvalidArgument, match="max_episode_steps: expected a positive integer, or -1 for no limit, got"
    ):
        make(spec, max_episode_steps=limit)


def test_the_checker_is_on_or_off(spec):
    with pytest.raises(InvalidSpec, match="disable_env_checker: expected True or False, got 'yes'"):
        make(spec, disable_env_checker="yes")


def test_the_environment_itself_knows_only_itself(spec):
    bare = make(spec).unwrapped.spec
    assert (bare.max_episode_steps, bare.order_enforce, bare.disable_env_checker) == (None, False, True)
    assert bare.additional_wrappers == ()


WRAPPERS = (
    WrapperSpec("Scale", "sample_module:Scale", {"factor": 2.0}),
    WrapperSpec("Scale", "sample_module:Scale", {"factor": 0.5, "offset": 1.0}),
)


@pytest.mark.parametrize("wrappers", [(), WRAPPERS[:1], WRAPPERS], ids=["none", "one", "two"])
@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize("enforce", [True, False])
@pytest.mark.parametrize("unchecked", [True, False])
@pytest.mark.parametrize("creator", ["Count", "count_from_seven"])
def test_the_spec_of_an_environment_makes_it_again(samples, wrappers, limit, enforce, unchecked, creator):
    spec = EnvSpec(
        "Count-v0",
        samples(creator),
        max_episode_steps=limit,
        order_enforce=enforce,
        disable_env_checker=unchecked,
        additional_wrappers=wrappers,
        kwargs={"labels": ("a", "b")},
    )
    env = make(spec, step_size=3)
    again, read = make(env.spec), make(EnvSpec.from_json(env.spec.to_json()))
    assert env.spec == spec.replace(kwargs={"labels": ("a", "b"), "step_size": 3})
    assert env.spec == again.spec == read.spec
    assert layers(env) == layers(again) == layers(read)
    assert [env.reset(seed=1), env.step(0)] == [read.reset(seed=1), read.step(0)]


def test_a_wrapper_put_on_by_hand_is_made_again(samples, spec):
    env = make(spec)
    scale = type(make(spec.with_wrapper(WRAPPERS[1])))
    wrapped = scale(env, 3.0, offset=0.5)
    assert (
        make(wrapped.spec).spec
        == wrapped.spec
        == spec.with_wrapper(WrapperSpec("Scale", "sample_module:Scale", {"factor": 3.0, "offset": 0.5}))
    )


def test_wrappers_that_the_entry_point_adds_are_not_added_twice(samples):
    env = make(EnvSpec("Scaled-v0", samples("scaled_count"), additional_wrappers=WRAPPERS[1:]))
    again = make(EnvSpec.from_json(env.spec.to_json()))
    assert layers(env).count("Scale") == layers(again).count("Scale") == 2
    assert env.spec == again.spec


def test_making_changes_no_spec(samples):
    spec = EnvSpec("Count-v0", samples("Count"), kwargs={"labels": ["a"]})
    env = make(spec, start=1)
    env.unwrapped.labels.append("b")
    assert spec.kwargs == {"labels": ["a"]}
    assert env.spec.kwargs == {"labels": ["a"], "start": 1}


def test_an_argument_that_cannot_be_copied_is_shared(samples):
    lock = threading.Lock()
    assert make(EnvSpec("Count-v0", samples("Count"), kwargs={"labels": lock})).unwrapped.labels is lock


def test_a_spec_with_a_class_in_it_still_makes_the_same(samples):
    kind = type(make(EnvSpec("Count-v0", samples("Count"))).unwrapped)
    env = make(EnvSpec("Count-v0", kind, max_episode_steps=4))
    read = EnvSpec.from_json(env.spec.to_json())
    assert type(make(read).unwrapped) is kind
    assert {one.name for one in fields(read) if getattr(read, one.name) != getattr(env.spec, one.name)} == {
        "entry_point"
    }


@pytest.mark.parametrize(
    ("entry_point", "kwargs", "kind", "message"),
    [
        (
            "sample_module:Count",
            {},
            InvalidType,
            "Count-v0: wrapper 'W': expected a subclass of ludus.Wrapper at 'sample_module:Count', got ",
        ),
        (
            "sample_module:NUMBER",
            {},
            InvalidType,
            "Count-v0: wrapper 'W': expected a subclass of ludus.Wrapper at 'sample_module:NUMBER', got 3",
        ),
        (
            "sample_module:Scal",
            {},
            EntryPointError,
            "Count-v0: wrapper 'W': expected 'Scal' in the module 'sample_module', got no such name; "
            "did you mean 'Scale'?",
        ),
        (
            "Scale",
            {},
            EntryPointError,
            "Count-v0: wrapper 'W': expected an entry point like 'module:Class', got 'Scale'",
        ),
        (
            "sample_module:Scale",
            {"factr": 2.0},
            InvalidArgument,
            "Count-v0: wrapper 'W': unknown argument 'factr'; did you mean 'factor'? Scale takes factor, offset",
        ),
        (
            "sample_module:Scale",
            {},
            InvalidArgument,
            "Count-v0: wrapper 'W': expected the argument 'factor', got none; Scale takes factor, offset",
        ),
    ],
)
def test_a_wrapper_that_cannot_be_put_on_says_why(spec, entry_point, kwargs, kind, message):
    with pytest.raises(kind) as caught:
        make(spec.with_wrapper(WrapperSpec("W", entry_point, kwargs)))
    assert str(caught.value).startswith(message)


# --- arguments ---


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("Blind", {"siz": 3}, "Env-v0: unknown argument 'siz'; did you mean 'size'? Blind takes size"),
        ("Blind", {"size": 3, "xyz": 1}, "Env-v0: unknown argument 'xyz'; Blind takes size"),
        ("Blind", {}, "Env-v0: expected the argument 'size', got none; Blind takes size"),
        ("scaled_count", {"x": 3}, "Env-v0: unknown argument 'x'; scaled_count takes no arguments"),
    ],
)
def test_a_wrong_argument_is_answered_with_those_there_are(samples, name, arguments, message):
    with pytest.raises(InvalidArgument) as caught:
        make(EnvSpec("Env-v0", samples(name)), **arguments)
    assert str(caught.value) == message


def test_a_function_that_takes_anything_is_asked(samples):
    assert make(EnvSpec("Env-v0", samples("count_from_seven")), step_size=4).unwrapped.step_size == 4
    with pytest.raises(TypeError, match="unexpected keyword"):
        make(EnvSpec("Env-v0", samples("count_from_seven")), stepsize=4)


# --- render modes ---


def test_a_render_mode_that_the_class_lists_is_passed_on(spec):
    assert make(spec, render_mode="ansi").render_mode == "ansi"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("count_from_seven", {}, "Env-v0: expected a render_mode out of 'ansi', 'rgb_array', got 'human'"),
        ("Blind", {"size": 3}, "Env-v0: expected no render_mode, got 'human'; Blind does not draw"),
        (
            "scaled_count",
            {},
            "Env-v0: expected no render_mode, got 'human'; scaled_count takes no argument render_mode",
        ),
    ],
)
def test_a_render_mode_that_cannot_be_had_is_an_error(samples, name, arguments, message):
    with pytest.raises(RenderError) as caught:
        make(EnvSpec("Env-v0", samples(name)), render_mode="human", **arguments)
    assert str(caught.value) == message


def test_no_render_mode_can_be_asked_of_anything(samples):
    assert make(EnvSpec("Env-v0", samples("Blind")), render_mode=None, size=3).unwrapped.size == 3


# --- what comes back ---


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "forgetful",
            InvalidType,
            "Env-v0: expected its entry_point to return a ludus Env, got None; is there a `return` missing?",
        ),
        ("foreign", InvalidType, "Env-v0: expected its entry_point to return a ludus Env, got <object object at"),
        (
            "Scale",
            InvalidType,
            "Env-v0: expected an environment, got the wrapper Scale; list it in additional_wrappers",
        ),
        ("NUMBER", EntryPointError, "Env-v0: expected an Env class or a function that returns one, got 3"),
        (
            "Coun",
            EntryPointError,
            "Env-v0: expected 'Coun' in the module 'sample_module', got no such name; did you mean 'Count'?",
        ),
    ],
)
def test_what_is_no_environment_is_refused(samples, name, kind, message):
    with pytest.raises(kind) as caught:
        make(EnvSpec("Env-v0", samples(name)))
    assert str(caught.value).startswith(message)


def test_a_foreign_environment_and_a_forgotten_call_get_a_hint():
    gymnasium = pytest.importorskip("gymnasium")
    with pytest.raises(
        InvalidType, match=r"derive it from ludus.Env, or adapt an old one with ludus.core.from_legacy$"
    ):
        make(lambda: gymnasium.make("CartPole-v1"))
    with pytest.raises(InvalidType, match=r"it returns the class: return GridWorld\(\) instead$"):
        make(lambda: GridWorld)


def test_an_environment_that_exists_only_as_a_batch_says_so():
    with pytest.raises(EntryPointError, match="expected an entry_point, got only a vector_entry_point"):
        make(EnvSpec("Batch-v0", vector_entry_point="batches:Batch"))
