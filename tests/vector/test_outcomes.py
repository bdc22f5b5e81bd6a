"""Every executor tells how episodes ended, in one form; what a failure ends is never a plain reward of 0."""

import os
import signal
from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode, Env, Episode, Outcome, Step
from ludus.core.info import lane_info
from ludus.envs.classic import CartPole
from ludus.errors import ContractViolation, InvalidAction
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Box, Discrete
from ludus.vector import Process, ProcessVectorEnv, SerialVectorEnv, ThreadVectorEnv
from ludus.wrappers import DictInfoToList, TimeLimit

MODES = list(AutoresetMode)
LANES = 4


class Kiln(Env):
    """Pots are fired for a few steps: done, cracked, or out of fuel; what it tells is written in several ways."""

    observation_space = Box(-1.0, 99.0, (1,), np.float64)
    action_space = Discrete(6)
    fire = None
    """The seeds of episodes whose process is killed in the second step."""

    def __init__(self, fire: tuple[int, ...] = ()) -> None:
        self.fire = fire

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.heat, self.seed = float(self.np_random.random()), seed
        self.age = 0
        return np.array([self.heat]), {}

    def step(self, action):
        self.age += 1
        self.heat += self.np_random.random()
        seen, parts = np.array([self.heat]), {"heat": self.heat, "fuel": -0.5}
        if self.seed in self.fire and self.age == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if action == 5:
            raise RuntimeError("the kiln fell over")
        if action == 4:
            raise InvalidAction("action: expected a pot, got a spoon")
        if action == 3:
            return seen, -0.5, False, True, {"outcome": "budget"}
        if self.heat > 3.0:
            return Step.success(seen, self.heat - 0.5, facts={"glazed": True}, reward_components=parts)
        if action == 2:
            return Step.failure(seen, facts={"cracked": self.age})
        return Step.transition(seen, 0.25)


def executors(make, mode=AutoresetMode.NEXT_STEP, **options):
    yield SerialVectorEnv([make] * LANES, autoreset_mode=mode, **options)
    yield ThreadVectorEnv([make] * LANES, autoreset_mode=mode, num_threads=2, **options)
    yield ProcessVectorEnv([make] * LANES, autoreset_mode=mode, num_workers=2, **options)


def told(step, mode):
    """The outcomes of the lanes that ended, by lane."""
    infos = step.info.get("final_info", {}) if mode is AutoresetMode.SAME_STEP else step.info
    return {lane: lane_info(infos, lane).get("outcome") for lane in np.flatnonzero(step.done).tolist()}


def history(envs, mode, actions):
    with envs:
        found = [envs.reset(seed=7)]
        for action in actions:
            step = envs.step(action)
            found.append(step)
            if mode is AutoresetMode.DISABLED and step.done.any():
                envs.reset(options={"reset_mask": step.done})
        return found


def seen_in(step, mode):
    infos = step.info.get("final_info", {}) if mode is AutoresetMode.SAME_STEP else step.info
    if "outcome" not in infos:
        return None
    return infos["outcome"].dtype, infos["outcome"].tolist(), infos["_outcome"].tolist()


@pytest.mark.parametrize("mode", MODES)
def test_outcomes_are_one_column_of_codes_in_every_executor(mode):
    actions = np.random.default_rng(0).integers(0, 4, (40, LANES))
    one, *others = (history(envs, mode, actions) for envs in executors(lambda: TimeLimit(Kiln(), 5), mode))
    kinds = set()
    for step in one[1:]:
        kinds |= set(told(step, mode).values())
        assert all(outcome is not None for outcome in told(step, mode).values())
    assert kinds == {"success", "failure", "budget", "time_limit"}
    for other in others:
        assert [seen_in(step, mode) for step in other[1:]] == [seen_in(step, mode) for step in one[1:]]
    columns = [found for found in (seen_in(step, mode) for step in one[1:]) if found]
    assert {dtype for dtype, _, _ in columns} == {np.dtype(np.int8)}
    assert all([code != 0 for code in codes] == mask for _, codes, mask in columns)


def test_a_lane_alone_tells_outcomes_facts_and_components_as_in_a_list_of_infos():
    envs = DictInfoToList(SerialVectorEnv([Kiln] * LANES))
    envs.reset(seed=7)
    for _ in range(20):
        for lane, info in enumerate(envs.step(np.zeros(LANES, np.int64)).info):
            if "outcome" in info:
                assert (type(info["outcome"]), info["outcome"]) == (Outcome, "success")
                assert info["facts"] == {"glazed": True}, lane
                assert set(info["reward_components"]) == {"heat", "fuel"}


def test_a_typo_stops_every_executor_and_says_where():
    class Clumsy(Kiln):
        def step(self, action):
            return super().step(action)[0], 0.0, True, False, {"outcome": "succes"}

    for envs in executors(Clumsy):
        with envs:
            envs.reset(seed=0)
            with pytest.raises(ContractViolation, match=r"^lane 0 info\['outcome'\].*got 'succes'.*did you mean 'succ"):
                envs.step(np.zeros(LANES, np.int64))
    with ludus.make(Clumsy) as env:
        env.reset(seed=0)
        with pytest.raises(ContractViolation, match=r"^Clumsy.step info\['outcome'\]: .*got 'succes'"):
            env.step(0)


# --- time limits ---


class Swing(NamedTuple):
    age: int
    drift: float


class SwingParams(NamedTuple):
    strange: int = 0


class SwingFacts(NamedTuple):
    outcome: int
    age: int


def swing_reset(rng, params):
    return Swing(0, 0.0)


def swing_step(state, action, rng, params):
    swing = Swing(state.age + 1, state.drift + rng.random())
    over = action == 1 or swing.drift > 3.0
    code = params.strange
    if over:
        code = 1 if action == 1 else 2
    return swing, 0.5, over, False, SwingFacts(code, swing.age)


def swing_seen(state, params):
    return (state.drift,)


class Swinging(RuleEnv):
    """Rules that tell, by a code, what they know; the limit of steps is somebody else's."""

    rules = Rules(Swing, SwingParams, swing_reset, swing_step, swing_seen)
    observation_space, action_space = Box(0.0, 99.0, (1,), np.float64), Discrete(2)


@pytest.mark.parametrize(("kind", "limit"), [(Swinging, 4), (CartPole, 9)])
@pytest.mark.parametrize("mode", MODES)
def test_compiled_lanes_tell_what_lanes_in_series_under_a_limit_tell(kind, limit, mode):
    actions = (np.random.default_rng(3).random((60, LANES)) < 0.1).astype(np.int64)
    compiled = history(KernelVectorEnv(kind, LANES, autoreset_mode=mode, max_episode_steps=limit), mode, actions)
    series = SerialVectorEnv([lambda: TimeLimit(kind(), limit)] * LANES, autoreset_mode=mode)
    around = TimeLimit(KernelVectorEnv(kind, LANES, autoreset_mode=mode), limit)
    kinds = set()
    for one, other, third in zip(compiled[1:], *(history(e, mode, actions)[1:] for e in (series, around)), strict=True):
        assert seen_in(one, mode) == seen_in(other, mode) == seen_in(third, mode)
        assert told(one, mode) == told(other, mode)
        kinds |= set(told(one, mode).values())
    assert kinds == ({"success", "failure", "time_limit"} if kind is Swinging else {None, "time_limit"})


def test_rules_with_a_code_that_is_none_are_refused_alone_and_compiled():
    alone, batch = Swinging(strange=12), KernelVectorEnv(lambda: Swinging(strange=12), LANES)
    alone.reset(seed=0)
    batch.reset(seed=0)
    with pytest.raises(ContractViolation, match=r"^info\['outcome'\]: .*got 12"):
        alone.step(0)
    with pytest.raises(ContractViolation, match=r"^lane 0 info\['outcome'\]: .*got 12"):
        batch.step(np.zeros(LANES, np.int64))


def test_an_episode_that_ends_by_itself_on_its_last_step_is_no_time_limit():
    class Silent(Kiln):
        def step(self, action):
            return Step(np.array([1.0]), 0.0, action == 1, False, {})

    env = TimeLimit(Silent(), 2)
    env.reset(seed=0)
    assert env.step(0).info == {}
    last = env.step(1)
    assert (last.terminated, last.truncated, last.info) == (True, True, {})


@pytest.mark.parametrize("mode", MODES)
def test_planned_episodes_of_compiled_lanes_tell_outcomes_too(mode):
    plan = lambda lane, number: Episode(100 * lane + number)  # noqa: E731
    batch = KernelVectorEnv(Swinging, LANES, autoreset_mode=mode, max_episode_steps=4, episodes=plan)
    series = SerialVectorEnv([lambda: TimeLimit(Swinging(), 4)] * LANES, autoreset_mode=mode, episodes=plan)
    actions = (np.random.default_rng(4).random((30, LANES)) < 0.1).astype(np.int64)
    both = [[seen_in(step, mode) for step in history(envs, mode, actions)[1:]] for envs in (batch, series)]
    assert both[0] == both[1]
    assert any(both[0])


# --- failures ---


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("action", "outcome"), [(5, "environment_failed"), (4, "invalid_action")])
def test_a_lane_that_raises_and_is_made_anew_says_who_failed(mode, action, outcome):
    with ProcessVectorEnv([Kiln] * LANES, num_workers=2, on_failure="restart", autoreset_mode=mode) as envs:
        envs.reset(seed=7)
        step = envs.step(np.array([0, action, 0, 0]))
        assert told(step, mode) == {1: outcome}
        assert (step.truncated.tolist(), step.reward[1]) == ([False, True, False, False], 0.0)


def test_the_lanes_of_a_killed_process_say_that_it_was_the_infrastructure():
    envs = ludus.make_vec(Kiln, LANES, Process(workers=2, on_failure="restart"), kwargs={"fire": (1,)})
    with envs:
        envs.reset(seed=0)
        envs.step(np.zeros(LANES, np.int64))
        step = envs.step(np.zeros(LANES, np.int64))
        assert told(step, AutoresetMode.NEXT_STEP) == {0: "infrastructure_failed", 1: "infrastructure_failed"}
        assert (step.terminated.any(), step.reward[:2].tolist()) == (False, [0.0, 0.0])
        assert all("SIGKILL" in reason for reason in step.info["worker_failure"][:2])


def episodes_played(envs, count):
    """Return and outcome of the first `count` episodes of each lane, by lane and number."""
    found, totals, numbers = {}, np.zeros(envs.num_envs), np.zeros(envs.num_envs, int)
    with envs:
        envs.reset(seed=[1000 * lane for lane in range(envs.num_envs)])
        while (numbers < count).any():
            step = envs.step(np.zeros(envs.num_envs, np.int64))
            totals += step.reward
            for lane, outcome in told(step, AutoresetMode.SAME_STEP).items():
                found[lane, int(numbers[lane])] = (totals[lane], outcome)
                totals[lane], numbers[lane] = 0.0, numbers[lane] + 1
    return {key: one for key, one in found.items() if key[1] < count}


def test_of_episodes_of_which_a_tenth_is_killed_the_others_are_what_they_would_have_been():
    lanes, count = 10, 2
    plan = lambda lane, number: Episode(1000 * lane + number)  # noqa: E731
    killed = {(int(key) // count, int(key) % count) for key in np.random.default_rng(5).choice(20, 2, replace=False)}
    fire = tuple(1000 * lane + number for lane, number in killed)
    options = {"autoreset_mode": "SameStep", "episodes": plan}
    whole = episodes_played(SerialVectorEnv([Kiln] * lanes, **options), count)
    makers = [lambda: Kiln(fire)] * lanes
    found = episodes_played(ProcessVectorEnv(makers, num_workers=lanes, on_failure="restart", **options), count)
    masked = {key for key, (_, outcome) in found.items() if outcome.masked}
    assert masked == killed
    assert len(masked) / len(found) == 0.1
    assert {found[key][1] for key in masked} == {"infrastructure_failed"}
    assert {key: one for key, one in found.items() if key not in masked} == {
        key: one for key, one in whole.items() if key not in killed
    }
