"""Evaluations: the same episodes wherever they are played, whatever the agent is given as."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

import ludus
from ludus.cli.episode import play
from ludus.core import Outcome
from ludus.envs.teaching import GridWorld
from ludus.errors import EvaluationError, InvalidArgument, InvalidType, LudusError
from ludus.evaluate import Agent, EpisodeResult, Evaluation, derived_seed, evaluate, mean
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Discrete, Record
from tests.core.wording import says


@dataclass
class Guess:
    number: int


@dataclass
class Hint:
    text: str


class Higher(ludus.Env):
    """A stranger's: guess a number that each seed hides."""

    observation_space = Record(Hint)
    action_space = Record(Guess)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.hidden = int(self.np_random.integers(1, 9))
        return Hint("guess"), {"low": 1}

    def step(self, action):
        right = action.number == self.hidden
        hint = Hint("higher" if action.number < self.hidden else "lower")
        outcome = {"outcome": "success"} if right else {}
        return hint, float(right), right, False, {"tried": action.number, **outcome}


class Climber(Agent):
    """Counts up, in each lane for itself."""

    def __init__(self):
        self.last = {}

    def begin(self, lane, seed):
        self.last[lane] = 0

    def act(self, observation, info, lane):
        assert info.get("tried", 0) == self.last[lane]
        self.last[lane] += 1
        return Guess(self.last[lane])


@pytest.mark.parametrize(
    "options",
    [
        {"num_envs": 1},
        {"num_envs": 5},
        {"num_envs": 12},
        {"num_envs": 3, "executor": "thread"},
        {"num_envs": 3, "executor": "process"},
    ],
    ids=str,
)
def test_a_strangers_environment_has_the_same_episodes_wherever_they_are_played(options):
    found = evaluate(Higher, Climber, episodes=12, seed=3, **options)
    hidden = [one.length for one in found.episodes]
    env = Higher()
    expected = []
    for number in range(12):
        env.reset(seed=derived_seed(found.name, 3, number))
        expected.append(env.hidden)
    assert hidden == expected
    assert [one.number for one in found.episodes] == list(range(12))
    assert {one.outcome for one in found.episodes} == {Outcome.SUCCESS}
    assert found.totals().tolist() == [1.0] * 12


def test_a_compiled_batch_plays_what_single_environments_play():
    policy = lambda seen: int(seen[2] > 0)  # noqa: E731
    found = evaluate("CartPole-v1", policy, episodes=9, seed=1, num_envs=4)
    assert found == evaluate("CartPole-v1", policy, episodes=9, seed=1, num_envs=2, executor="serial")
    assert len({one.length for one in found.episodes}) > 1


def test_random_agents_draw_the_same_in_every_layout_and_otherwise_by_every_seed():
    found = evaluate("GridWorld-v0", "random", episodes=6, num_envs=4, executor="serial")
    assert found == evaluate("GridWorld-v0", "random", episodes=6, num_envs=1, executor="serial")
    assert found != evaluate("GridWorld-v0", "random", episodes=6, seed=1, num_envs=4, executor="serial")


def test_episodes_without_end_are_cut_and_the_next_begins():
    class Endless(GridWorld):
        def step(self, action):
            return super().step(action)._replace(terminated=False)

    found = evaluate(Endless, "nop", episodes=5, num_envs=2, max_steps=7)
    assert [(one.length, one.truncated, one.terminated) for one in found.episodes] == [(7, True, False)] * 5


def test_what_is_legal_is_known_to_the_agents():
    class Narrow(ludus.Env):
        observation_space = Discrete(2)
        action_space = Discrete(5)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.left = 3
            return 0, {"action_mask": np.array([0, 0, 1, 0, 1], np.int8)}

        def step(self, action):
            assert action in (2, 4)
            self.left -= 1
            return (
                1,
                1.0,
                not self.left,
                False,
                {"action_mask": np.array([0, 0, 0, 0, 1] if action == 4 else [0, 0, 1, 0, 1], np.int8)},
            )

    for agent in ("random", "nop"):
        assert evaluate(Narrow, agent, episodes=4).totals().tolist() == [3.0] * 4


class Policy:
    """As Stable-Baselines3's are."""

    def predict(self, observation, deterministic=False):
        assert deterministic
        return (observation[..., 2] > 0).astype(int), None


def module_level(seen, info):
    assert isinstance(info, dict)
    return int(seen[2] > 0)


def test_an_agent_may_be_given_in_many_ways():
    ways = [Policy(), Policy, module_level, lambda seen: int(seen[2] > 0), f"{__name__}:module_level"]
    found = [evaluate("CartPole-v1", one, episodes=4, num_envs=2, executor="serial") for one in ways]
    assert all(one.episodes == found[0].episodes for one in found)
    assert evaluate("GridWorld-v0", [1, 1, 0], episodes=2, max_steps=9).episodes[0].length >= 1


def test_progress_is_told_of_each_episode_once():
    seen = []
    found = evaluate("GridWorld-v0", "random", episodes=7, num_envs=3, progress=seen.append)
    assert sorted(one.number for one in seen) == list(range(7))
    assert set(seen) == set(found.episodes)


def test_statistics_of_an_evaluation():
    found = Evaluation("x", 0, tuple(EpisodeResult(one, one, float(one), 1, True, False) for one in range(8)))
    assert found.interval(mean).value == 3.5
    assert found.interval().value == 3.5


def test_episodes_that_failed_are_no_scores():
    ends = [Outcome.SUCCESS, Outcome.ENVIRONMENT_FAILED, None, Outcome.ABORTED]
    episodes = [EpisodeResult(one, one, float(one), 1, True, False, end) for one, end in enumerate(ends)]
    found = Evaluation("x", 0, tuple(episodes))
    assert found.totals().tolist() == [0.0, 2.0]
    assert [one.number for one in found.counted] == [0, 2]


class Toll(NamedTuple):
    paid: int


class TollParams(NamedTuple):
    price: int = 3


class TollFacts(NamedTuple):
    outcome: int


PAID, BROKE = Outcome.SUCCESS.code, Outcome.FAILURE.code


def pay(state, action, rng, params):
    paid = state.paid + action
    over = action == 0 or paid >= params.price
    return Toll(paid), 0.0, over, False, TollFacts((PAID if paid >= params.price else BROKE) if over else 0)


class TollGate(RuleEnv):
    rules = Rules(Toll, TollParams, lambda rng, params: Toll(0), pay, lambda state, params: state.paid)
    observation_space, action_space = Discrete(9), Discrete(2)


@pytest.mark.parametrize("executor", ["kernel", "serial"])
def test_rules_tell_outcomes_by_their_codes(executor):
    found = evaluate(TollGate, "random", episodes=20, executor=executor)
    assert {one.outcome for one in found.episodes} == {Outcome.SUCCESS, Outcome.FAILURE}
    assert all(one.outcome is Outcome.FAILURE for one in found.episodes if one.length < 3)


def test_what_is_no_outcome_is_told():
    class Odd(TollGate):
        rules = TollGate.rules._replace(
            step=lambda state, action, rng, params: (state, 0.0, True, False, TollFacts(77))
        )

    with pytest.raises(
        EvaluationError, match=r"ContractViolation: info\['outcome'\]: outcome: expected one of .*, got 77"
    ):
        evaluate(Odd, "nop", episodes=1, executor="serial")


def test_seeds_depend_on_every_part():
    seeds = {
        derived_seed(name, seed, number, purpose)
        for name in ("a", "ab")
        for seed in (0, 1, 10)
        for number in (0, 1, 10)
        for purpose in ("environment", "agent")
    }
    assert len(seeds) == 2 * 3 * 3 * 2
    assert all(0 <= one < 2**63 for one in seeds)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: evaluate("GridWorld-v0", "best"),
            InvalidArgument,
            "agent: expected random, nop, one-step, mcts, module:name, http://… or a file (.zip, .pt, .onnx, "
            ".safetensors), got 'best'",
        ),
        (
            lambda: evaluate("GridWorld-v0", 7),
            InvalidType,
            "agent: expected an Agent, a function of the observation, an object with predict, a list of actions or a "
            "name, got 7",
        ),
        (
            lambda: evaluate("GridWorld-v0", "nop", episodes=0),
            InvalidArgument,
            "expected at least 1 episode and 1 step, got 0 and 100000",
        ),
        (lambda: derived_seed("a", -1, 0), InvalidArgument, "seed: expected an integer of at least 0, got -1"),
        (lambda: derived_seed("a", 0, True), InvalidArgument, "index: expected an integer of at least 0, got True"),
    ],
)
def test_what_makes_no_sense_is_refused(call, kind, text):
    with says(kind, text):
        call()


def test_an_environment_that_is_made_already_is_refused_with_the_reason():
    with pytest.raises(InvalidType, match=r"expected an id, a spec, a class or a function that makes an environment, "):
        evaluate(GridWorld(), "nop")
    with pytest.raises(LudusError):
        evaluate("GridWorld-v0", [])


@dataclass
class Pick:
    """What a stranger's typed game is told: the choice, and a remark."""

    square: Annotated[int, Discrete(6)]
    remark: str


class Dwindling(ludus.Env):
    """A stranger's: squares are taken once, and a mask says which are left, though an action is a record."""

    observation_space = Record(Hint)
    action_space = Record(Pick)

    def _told(self):
        return {"action_mask": self.free.copy(), "facts": {"free": int(self.free.sum())}}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.free = np.ones(6, np.int8)
        self.free[int(self.np_random.integers(6))] = 0
        return Hint("begin"), self._told()

    def step(self, action):
        if not self.free[action.square]:
            return ludus.Step(Hint("taken"), -10.0, True, False, self._told())
        self.free[action.square] = 0
        return ludus.Step(Hint("ok"), 1.0, not self.free.any(), False, self._told())


@pytest.mark.parametrize("agent", ["random", "nop"])
def test_a_mask_of_choices_restricts_an_agents_records_too(agent):
    found = evaluate(Dwindling, agent, episodes=4, num_envs=2, executor="serial")
    assert {(one.total, one.outcome) for one in found.episodes} == {(5.0, None)}


def test_a_run_at_random_takes_legal_records_and_any_where_the_mask_is_the_environments_own():
    assert play(Dwindling(), seed=3, max_steps=9).steps == 5

    class Own(Dwindling):
        def _told(self):
            return {"action_mask": "whatever is left"}

    assert {play(Own(), seed=seed, max_steps=9).total for seed in range(9)} != {5.0}
