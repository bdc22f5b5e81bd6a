"""The legacy API: one `done` flag and `seed()`, both ways, with nothing lost on the way."""

import numpy as np
import pytest
from gymnasium.utils.step_api_compatibility import convert_to_done_step_api, convert_to_terminated_truncated_step_api

from ludus.core import Env, LegacyEnv, Step, from_done_step, from_legacy, to_done_step, to_legacy
from ludus.core.legacy import accepts
from ludus.envs.teaching import GridWorld
from ludus.errors import ContractViolation, InvalidArgument, InvalidSeed, InvalidType, ResetNeeded
from ludus.spaces import Box, Dict, Discrete
from ludus.wrappers import OrderEnforcing, TimeLimit
from tests.core.subjects import Walk, history
from tests.core.wording import says

CUT = "TimeLimit.truncated"


class Old:
    """As environments were before 2022: `seed()`, `reset()` gives an observation, `step` gives four values."""

    metadata = {"render.modes": ["human", "rgb_array"]}
    observation_space = Box(-100.0, 100.0, (1,), np.float64)
    action_space = Discrete(3)

    def __init__(self):
        self.rng, self.closed, self.count = np.random.default_rng(0), False, 0

    def seed(self, seed=None):
        self.rng = np.random.default_rng(seed)
        return [seed]

    def reset(self):
        self.count = 0
        return self.rng.normal(size=1)

    def step(self, action):
        self.count += 1
        info = {CUT: True, "kept": 1} if self.count == 3 else {"kept": 1}
        return self.rng.normal(size=1), float(action), self.count >= 2 + (CUT in info), info

    def render(self, mode="human"):
        return f"drawn for {mode}"

    def close(self):
        self.closed = True


class Between(Old):
    """As in between: `reset(seed=…, options=…)` returns a pair, `step` still four values."""

    seed = None
    render_mode = "ansi"
    metadata = {"render_modes": ["ansi"]}

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        return super().reset(), {"options": options}

    def render(self):
        return "drawn"


class Passing(Old):
    """As old wrappers were: `reset(**kwargs)` passes on whatever it is given."""

    def reset(self, **kwargs):
        return super().reset(**kwargs)


class Seedless(Old):
    seed = None


DONE_STEPS = {
    "going on": (("s", 1.0, False, {"a": 1}), (False, False)),
    "ended": (("s", 1.0, True, {"a": 1}), (True, False)),
    "cut": (("s", 1.0, True, {"a": 1, CUT: True}), (False, True)),
    "ended, said so": (("s", 1.0, True, {"a": 1, CUT: False}), (True, False)),
    "cut but not done": (("s", 1.0, False, {"a": 1, CUT: True}), (False, False)),
}


@pytest.mark.parametrize("name", DONE_STEPS)
def test_four_values_become_five(name):
    four, flags = DONE_STEPS[name]
    given = dict(four[3])
    step = from_done_step(four)
    assert step == Step("s", 1.0, *flags, {"a": 1})
    assert four[3] == given
    assert step[:4] == convert_to_terminated_truncated_step_api((*four[:3], dict(given)))[:4]


@pytest.mark.parametrize("kind", ["ended", "cut", "both", "going on"])
def test_five_values_become_four_and_gymnasiums_four(kind):
    terminated, truncated = kind in ("ended", "both"), kind in ("cut", "both")
    info = {"a": 1}
    four = to_done_step(Step("s", 1.0, terminated, truncated, info))
    assert info == {"a": 1}
    assert four[:3] == ("s", 1.0, terminated or truncated)
    assert four == convert_to_done_step_api(("s", 1.0, terminated, truncated, info))


def test_a_step_survives_both_ways():
    for step in (Step.transition("s", 1.0), Step.termination("s", 1.0), Step.truncation("s", 1.0, {"a": 1})):
        assert from_done_step(to_done_step(step)) == step


def test_what_has_the_wanted_number_of_values_passes_through():
    five, four = ("s", 1.0, True, False, {}), ("s", 1.0, True, {})
    assert from_done_step(five) == Step(*five)
    assert to_done_step(four) is four


@pytest.mark.parametrize("values", [(), (1, 2, 3), (1, 2, 3, 4, 5, 6)])
def test_other_numbers_of_values_are_refused(values):
    with says(
        ContractViolation,
        f"step: expected four values (observation, reward, done, info) or five, got {len(values)}",
    ):
        from_done_step(values)
    with says(
        ContractViolation,
        f"step: expected five values (observation, reward, terminated, truncated, info) or four, got {len(values)}",
    ):
        to_done_step(values)


@pytest.mark.parametrize("kind", [np.array, list])
def test_a_batch_with_a_list_of_infos_is_split_lane_by_lane(kind):
    infos = [{"a": 1}, {CUT: True}, {CUT: False}, {CUT: True}]
    step = from_done_step((np.zeros(4), np.zeros(4), kind([False, True, True, False]), infos))
    assert step.terminated.tolist() == [False, False, True, False]
    assert step.truncated.tolist() == [False, True, False, False]
    assert step.info == [{"a": 1}, {}, {}, {}]
    assert infos[1] == {CUT: True}


@pytest.mark.parametrize("cut", [np.array([True, False]), True, False])
def test_a_batch_with_one_info_is_split_lane_by_lane(cut):
    info = {CUT: cut, "a": 1}
    step = from_done_step((np.zeros(2), np.zeros(2), np.array([True, True]), info))
    expected = np.broadcast_to(cut, 2)
    assert step.truncated.tolist() == expected.tolist()
    assert step.terminated.tolist() == (~expected).tolist()
    assert step.info == {"a": 1}
    assert CUT in info


def test_a_batch_becomes_done_lane_by_lane():
    info = {"a": 1}
    flags = np.array([True, False, True]), np.array([False, True, True])
    _, _, done, marked = to_done_step(Step(None, np.zeros(3), *flags, info))
    assert done.tolist() == [True, True, True]
    assert marked[CUT].tolist() == [False, True, False]
    assert info == {"a": 1}
    nobody = np.zeros(3, bool)
    assert to_done_step(Step(None, np.zeros(3), nobody, nobody, info))[3] is info


@pytest.mark.parametrize("make", [Old, Between, Passing])
def test_an_old_environment_is_an_env_and_honours_its_seed(make):
    env = from_legacy(make())
    assert isinstance(env, Env)
    first = history(env, [0, 1, 2, 0, 1], seed=3)
    assert history(env, [0, 1, 2, 0, 1], seed=np.int64(3)) == first
    assert history(from_legacy(make()), [0, 1, 2, 0, 1], seed=4) != first
    assert env.np_random_seed == 3


def test_an_old_environment_ends_or_is_cut_as_it_says():
    env = from_legacy(Old())
    observation, info = env.reset(seed=0)
    assert info == {}
    assert observation in env.observation_space
    assert env.step(0)[2:] == (False, False, {"kept": 1})
    assert env.step(0)[2:] == (True, False, {"kept": 1})
    assert env.step(0)[2:] == (False, True, {"kept": 1})


def test_options_reach_an_environment_that_takes_them_and_no_other():
    assert from_legacy(Between()).reset(options={"level": 2})[1] == {"options": {"level": 2}}
    with says(InvalidArgument, "options: expected None, since Old.reset takes none, got {'level': 2}"):
        from_legacy(Old()).reset(options={"level": 2})


def test_a_seed_that_cannot_be_passed_on_is_an_error():
    env = from_legacy(Seedless())
    assert env.reset()[1] == {}
    with says(InvalidSeed, "seed: expected None, since Seedless has no seed(), got 5"):
        env.reset(seed=5)
    with says(InvalidSeed, "seed: expected an integer of at least 0, got -1; None takes one from the system"):
        from_legacy(Old()).reset(seed=-1)


def test_rendering_and_closing_go_through():
    old = Old()
    env = from_legacy(old)
    assert env.metadata["render_modes"] == ["human", "rgb_array"]
    assert env.render() == "drawn for human"
    env.render_mode = "rgb_array"
    assert env.render() == "drawn for rgb_array"
    env.close()
    assert old.closed
    between = from_legacy(Between())
    assert (between.render_mode, between.render()) == ("ansi", "drawn")


def test_an_environment_without_metadata_or_close_will_do():
    class Bare:
        observation_space = action_space = Discrete(2)

        def reset(self):
            return 0

    env = from_legacy(Bare())
    env.close()
    assert env.metadata == {"render_modes": []}
    assert env.reset() == (0, {})


@pytest.mark.parametrize("name", ["observation_space", "action_space"])
def test_spaces_must_be_ours_and_can_be_given(name):
    class Foreign(Old):
        pass

    setattr(Foreign, name, "their space")
    message = f"from_legacy {name}: expected a ludus Space, got 'their space'; pass {name}=… to from_legacy"
    with says(InvalidType, message):
        from_legacy(Foreign())
    empty = Dict({})  # an empty space is a space, though it counts as false
    assert getattr(from_legacy(Foreign(), **{name: empty}), name) is empty


def test_an_old_environment_can_be_wrapped_and_restored():
    env = TimeLimit(OrderEnforcing(from_legacy(Old())), 9)
    env.reset(seed=1)
    snapshot = env.snapshot()
    first = env.step(1).observation.tolist()
    env.restore(snapshot)
    assert env.step(1).observation.tolist() == first


def old_loop(env, seed):
    """The loop of old tutorials."""
    env.seed(seed)
    total, observation = 0.0, env.reset()
    seen = [observation.tolist()]
    for _ in range(30):
        observation, reward, done, info = env.step(1)
        total += reward
        seen.append((observation.tolist(), reward, done, info.get(CUT, False)))
        if done:
            seen.append(env.reset().tolist())
    env.close()
    return total, seen


def test_an_old_loop_runs_on_our_environments():
    first = old_loop(to_legacy(TimeLimit(OrderEnforcing(Walk()), 5)), seed=2)
    assert old_loop(to_legacy(TimeLimit(OrderEnforcing(Walk()), 5)), seed=2) == first
    cuts = {one[3] for one in first[1] if isinstance(one, tuple) and one[2]}
    assert cuts <= {True, False}
    assert cuts


def test_an_old_loop_runs_on_an_old_environment_that_went_through_both_ways():
    assert old_loop(to_legacy(from_legacy(Old())), seed=2) == old_loop(Old(), seed=2)


def test_seed_waits_for_the_next_reset_only():
    env = LegacyEnv(Walk())
    assert env.seed(7) == [7]
    assert env.seed() == []
    assert env.seed(np.int64(7)) == [7]
    first = env.reset()
    assert first == Walk().reset(seed=7)[0]
    assert env.reset() != first
    assert env.reset(seed=7) == first
    with says(InvalidSeed, "seed: expected an integer of at least 0, got -1; None takes one from the system"):
        env.seed(-1)


def test_render_takes_the_mode_the_environment_was_made_with():
    env = to_legacy(Walk(render_mode="ansi"))
    env.reset()
    assert env.render() == env.render(mode="ansi") == env.env.render()
    with says(InvalidArgument, "render mode: expected 'ansi', got 'human'; make it with render_mode='human'"):
        env.render("human")


def test_the_old_face_shows_the_same_spaces_and_environment():
    inner = Walk()
    env = to_legacy(OrderEnforcing(inner))
    assert env.unwrapped is inner
    assert (env.action_space, env.observation_space) == (inner.action_space, inner.observation_space)
    assert env.metadata is inner.metadata
    assert env.reward_range == (-np.inf, np.inf)
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.close()
    assert inner.closes == 1


def test_accepts_tells_named_parameters_from_any():
    assert accepts(lambda seed: 0, "seed")
    assert accepts(lambda **rest: 0, "seed")
    assert not accepts(lambda **rest: 0, "seed", by_name=True)
    assert not accepts(GridWorld().step, "seed")
    assert not accepts(3, "seed")
