"""What a user of Ludus writes, strictly typed: `test_types.py` has pyright hold it to its claims, and runs it."""

from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import ludus
from ludus import AutoresetMode, Env, ObservationWrapper, RewardWrapper, Step, VectorEnv, Wrapper
from ludus.core.step import Info
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete, Record, Space
from ludus.vector import SerialVectorEnv
from ludus.wrappers import ClipReward, OrderEnforcing, RecordEpisodeStatistics, RescaleObservation, TimeLimit

Row = npt.NDArray[np.float32]


class Walk(Env[Row, int]):
    """A walk on a line, of which one sees the place."""

    def __init__(self, length: int = 3) -> None:
        self.length = length
        self.observation_space = Box(0.0, float(length), shape=(1,), dtype=np.float32)
        self.action_space = Discrete(2)
        self._place = 0

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Row, Info]:
        super().reset(seed=seed, options=options)
        self._place = 0
        return self._seen(), {}

    def step(self, action: int) -> Step[Row]:
        self._place = max(0, self._place + (1 if action else -1))
        if self._place == self.length:
            return Step.success(self._seen(), 1.0)
        return Step.transition(self._seen(), 0.0)

    def _seen(self) -> Row:
        return np.array([self._place], dtype=np.float32)


@dataclass
class Question:
    """What is asked."""

    text: str


@dataclass
class Answer:
    """What is said."""

    number: int


class Sums(Env[Question, Answer]):
    """An environment whose values are models."""

    observation_space: Space[Question] = Record(Question)
    action_space: Space[Answer] = Record(Answer)

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Question, Info]:
        super().reset(seed=seed)
        return Question("1 + 1"), {}

    def step(self, action: Answer) -> Step[Question]:
        return Step.termination(Question(""), float(action.number == 2))


class Total(ObservationWrapper[float, int, Row]):
    """Shows a number in place of a row."""

    def observation(self, observation: Row) -> float:
        return float(observation.sum())


class Costly(RewardWrapper[Row, int]):
    """Each step costs something."""

    def reward(self, reward: float) -> float:
        return reward - 0.5


class Mirrored(Wrapper[Row, int, Row, int]):
    """The other action."""

    def step(self, action: int) -> Step[Row]:
        return self.env.step(1 - action)


def make_by_class() -> float:
    """`make` knows the types of a class; `Step` and its parts have them."""
    env = ludus.make(Walk, max_episode_steps=5, length=2)
    assert_type(env, Env[Row, int])
    observation, _ = env.reset(seed=0)
    assert_type(observation, Row)
    step = env.step(1)
    assert_type(step, Step[Row])
    assert_type(step.observation, Row)
    assert_type(env.action_space.sample(), int)
    return float(step.observation[0])


def make_by_id() -> float:
    """Of an id nothing is known but that it is an environment."""
    env = ludus.make("CartPole-v1")
    assert_type(env, Env[Any, Any])
    return float(env.reset(seed=0)[0][0])


def wrapped() -> float:
    """Wrappers that change no observations keep their types, and those that do have new ones."""
    limited = TimeLimit(Walk(), 5)
    assert_type(limited, TimeLimit[Row, int])
    assert_type(limited.reset(seed=0)[0], Row)
    assert_type(limited.step(1), Step[Row])
    clipped = ClipReward(OrderEnforcing(RecordEpisodeStatistics(limited)), 0.0, 1.0)
    assert_type(clipped.reset(seed=0)[0], Row)
    assert_type(clipped.step(1), Step[Row])
    assert_type(RescaleObservation(clipped, -1.0, 1.0).reset(seed=0)[0], npt.NDArray[Any])
    total = Total(Costly(Mirrored(clipped)))
    assert_type(total.reset(seed=0)[0], float)
    assert_type(total.step(0).observation, float)
    assert_type(Walk() | Costly, Costly)
    return total.step(0).observation


def of_models() -> float:
    """Dataclasses in, dataclasses out."""
    env = ludus.make(Sums)
    assert_type(env, Env[Question, Answer])
    question, _ = env.reset(seed=0)
    assert_type(question.text, str)
    return float(env.step(Answer(len(question.text) - 3)).reward)


def batched() -> int:
    """A batch is an environment, too."""
    envs = ludus.make_vec(Walk, 2)
    assert_type(envs, VectorEnv[Any, Any])
    assert_type(envs.num_envs, int)
    assert_type(envs.autoreset_mode, AutoresetMode)
    other = SerialVectorEnv([Walk, Walk])
    observation, _ = other.reset(seed=0)
    return envs.num_envs + len(observation)
