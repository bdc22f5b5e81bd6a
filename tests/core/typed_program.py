"""What a user of Ludus writes, strictly typed: `test_types.py` has pyright hold it to its claims, and runs it."""

from dataclasses import dataclass
from datetime import date
from typing import Any, TypedDict, assert_type

import numpy as np
import numpy.typing as npt

import ludus
from ludus import ActionWrapper, AutoresetMode, Env, ObservationWrapper, RewardWrapper, Step, VectorEnv, Wrapper
from ludus.client import EnvClient, StepResult
from ludus.core.fork import Lanes
from ludus.core.outcome import Outcome
from ludus.core.step import Info
from ludus.evaluate import Agent, evaluate
from ludus.rendering import resize
from ludus.seeding import Seed
from ludus.spaces import (
    ArraySpace,
    Box,
    Dict,
    Discrete,
    MultiBinary,
    MultiDiscrete,
    Record,
    Scalar,
    Sequence,
    Space,
    Text,
    Tuple,
)
from ludus.tools import Call, ToolEnv, ToolOutcome, tool
from ludus.vector import SerialVectorEnv
from ludus.wrappers import (
    ClipReward,
    DtypeObservation,
    FrameStackObservation,
    OrderEnforcing,
    PlayAgainst,
    RecordEpisodeStatistics,
    RescaleObservation,
    TimeLimit,
    TransformAction,
    TransformObservation,
)

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


class Pushed(Env[int, Row]):
    """A place on a line of five, moved by a force."""

    def __init__(self) -> None:
        self.observation_space = Discrete(5)
        self.action_space = Box(-1.0, 1.0, shape=(1,))
        self._place = 2

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[int, Info]:
        super().reset(seed=seed, options=options)
        self._place = 2
        return self._place, {}

    def step(self, action: Row) -> Step[int]:
        self._place = min(max(self._place + int(np.sign(action[0])), 0), 4)
        return Step.transition(self._place, float(self._place))


class Even(Space[int]):
    """A space of one's own, whose methods take what its values are."""

    def sample(self, mask: None = None, probability: None = None) -> int:
        return 2 * int(self.np_random.integers(50))

    def contains(self, x: int) -> bool:
        return x % 2 == 0

    def default(self) -> int:
        return 0

    def encode(self, x: int, *, binary: bool = False) -> int:
        return x // 2

    def decode(self, data: int) -> int:
        return 2 * data

    def arguments(self) -> dict[str, int]:
        return {}

    def json_schema(self) -> dict[str, str]:
        return {"type": "integer"}


class Low(Discrete):
    """A space of ours, which holds less of what it takes."""

    def contains(self, x: int) -> bool:
        return super().contains(x) and x < self.n // 2


class Simplex(ArraySpace[Row]):
    """A space of arrays of one's own."""

    def sample(self, mask: None = None, probability: None = None) -> Row:
        return self.np_random.dirichlet(np.ones(3)).astype(np.float32)

    def contains(self, x: Row) -> bool:
        return bool(abs(x.sum() - 1) < 1e-4)

    def flatten(self, x: Row) -> Row:
        return x

    def encode(self, x: Row, *, binary: bool = False) -> list[float]:
        return [float(one) for one in x]


class Halves(Box):
    """A space of ours, of which one method is another."""

    def sample(self, mask: None = None, probability: None = None) -> Row:
        return (super().sample() / 2).astype(np.float32)


@dataclass
class Countdown(Env[int, int]):
    """An environment that is a dataclass, whose spaces are one's own."""

    start: int = 4
    left: int = 0

    def __post_init__(self) -> None:
        self.observation_space = Even(seed=0)
        self.action_space = Discrete(2)

    def reset(self, *, seed: Seed | None = None, options: dict[str, int] | None = None) -> tuple[int, Info]:
        super().reset(seed=seed)
        self.left = self.start if options is None else options["start"]
        return self.left, {"start": self.start}

    def step(self, action: int) -> Step[int]:
        self.left -= 2 * action
        return Step(self.left, float(action), self.left <= 0, False, {"left": self.left})

    def render(self) -> str:
        return "*" * self.left


class Halved(Wrapper[float, bool, int, int]):
    """A wrapper that changes what is seen and what is done."""

    def reset(self, *, seed: Seed | None = None, options: dict[str, int] | None = None) -> tuple[float, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation / 2, info

    def step(self, action: bool) -> Step[float]:
        step = self.env.step(int(action))
        return Step(step.observation / 2, step.reward, step.terminated, step.truncated, step.info)


class Flipped(ActionWrapper[int, bool, int]):
    """Actions by another type."""

    def action(self, action: bool) -> int:
        return int(not action)


class Total(ObservationWrapper[float, int, Row]):
    """Shows a number in place of a row."""

    def observation(self, observation: Row) -> float:
        return float(observation.sum())


class Costly(RewardWrapper[Row, int]):
    """Each step costs something."""

    def reward(self, reward: float) -> float:
        return reward - 0.5


class Doubled(Wrapper):
    """A wrapper that says nothing of types goes around everything, and needs no casts."""

    def step(self, action: Any) -> Step:
        step = self.env.step(action)
        return step._replace(reward=step.reward * 2)


class Watched(TimeLimit):
    """A wrapper of ours, of which one says no more than what it adds."""

    def around(self, env: Env) -> bool:
        return self.unwrapped is env


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
    envs = ludus.make_vec(Walk, 2, executor="serial", length=4)
    assert_type(envs.num_envs, int)
    assert_type(envs.autoreset_mode, AutoresetMode)
    first, _ = envs.reset(seed=0)
    assert_type(first, Row)
    assert_type(envs.reset(seed=[3, None])[0], Row)
    envs.step([1, 0])
    envs.step(envs.action_space.sample())
    step = envs.step(first.argmax(axis=1))
    assert_type(step, Step[Row])
    assert_type(TimeLimit(envs, 9).step([1, 0]).observation, Row)
    other = SerialVectorEnv([Walk, Walk])
    observation, _ = other.reset(seed=0)
    return envs.num_envs + len(observation)


def batched_as_known() -> int:
    """Of a class of arrays or integers the batch is known; of others, and of an id, nothing is claimed."""
    arms = ludus.make_vec(lambda: Pushed(), 2)
    assert_type(arms, VectorEnv[npt.NDArray[np.int64], Row])
    places, _ = arms.reset(seed=0)
    assert_type(arms.step(np.ones((2, 1), np.float32)).observation, npt.NDArray[np.int64])
    assert_type(ludus.make_vec(Sums, 2), VectorEnv[Any, Any])
    assert_type(ludus.make_vec(Named, 2), VectorEnv[Any, Any])
    assert_type(ludus.make_vec("CartPole-v1", 2), VectorEnv[Any, Any])
    assert_type(ludus.make_vec([Walk, Walk]), VectorEnv[Any, Any])
    return int(places.sum()) + len(arms.action_space.sample())


def batch_of_any(kind: type[Env[Any, Any]]) -> VectorEnv[Any, Any]:
    """A function over environments of whatever types claims none for their batch."""
    envs = ludus.make_vec(kind, 2)
    assert_type(envs, VectorEnv[Any, Any])
    return envs


def own_space() -> int:
    """A space of one's own has the types of its values wherever it goes."""
    space = Even(seed=0)
    assert_type(space.sample(), int)
    assert_type(space.decode(space.encode(4)), int)
    assert_type(space.read(3), int)
    assert_type(space.coerce(4), int)
    several: Space[tuple[int, ...]] = space.batch(2)
    pair = Tuple((space, Halves(0.0, 1.0, shape=(1,))), seed=0)
    named = Dict({"even": space, "row": Halves(0.0, 1.0, shape=(1,))}, seed=0)
    assert pair.sample() in pair
    assert named.sample() in named
    return len(several.sample())


class Seen(TypedDict):
    """What one sees, by name."""

    place: Row
    goal: int


class Named(Env[Seen, tuple[int, Row]]):
    """An environment whose observations are dictionaries, and whose actions are pairs."""

    observation_space: Space[Seen] = Dict({"place": Box(0.0, 1.0, shape=(1,)), "goal": Discrete(3)})
    action_space: Space[tuple[int, Row]] = Tuple((Discrete(2), Box(0.0, 1.0)))

    def reset(self, *, seed: Seed | None = None, options: dict[str, str] | None = None) -> tuple[Seen, Info]:
        super().reset(seed=seed, options=options)
        return {"place": np.zeros(1, np.float32), "goal": 1}, {}

    def step(self, action: tuple[int, Row]) -> Step[Seen]:
        return Step.termination({"place": action[1], "goal": action[0]}, 1.0)


def samples() -> float:
    """What a space samples, a type checker knows, from its class, its dtype or its parts."""
    assert_type(Discrete(3).sample(), np.int64)
    assert_type(Box(0.0, 1.0).sample(), npt.NDArray[np.float32])
    assert_type(Box(0, 255, shape=(2, 2), dtype=np.uint8).sample(), npt.NDArray[np.uint8])
    assert_type(MultiDiscrete([2, 3]).sample(), npt.NDArray[np.int64])
    assert_type(MultiBinary(3).sample(), npt.NDArray[np.int8])
    assert_type(Text(5).sample(), str)
    assert_type(Scalar("date").sample(), date)
    assert_type(Scalar("bytes", max_length=4).read("AA=="), bytes)
    assert_type(Sequence(Box(0.0, 1.0)).sample(), tuple[Row, ...])
    assert_type(Sequence(Record(Question)), Sequence[tuple[Question, ...]])
    assert_type(Sequence(Box(0.0, 1.0), stack=True).sample(), Any)
    assert_type(Record(Question).sample(), Question)
    assert_type(Record(Question).coerce({"text": "?"}), Question)
    assert_type(Record(Question).bind(Question), Record[Question])
    assert_type(Tuple((Even(seed=0), Box(0.0, 1.0))).sample(), tuple[int, npt.NDArray[np.float32]])
    assert_type(Dict({"even": Even(seed=0)}).sample(), dict[str, Any])
    space = Dict[Seen]({"place": Box(0.0, 1.0, shape=(1,)), "goal": Discrete(3)}, seed=0)
    assert_type(space.sample(), Seen)
    assert_type(space.sample()["place"], Row)
    low = Low(6, seed=0)
    assert low.contains(2)
    assert Simplex((3,), np.float32, seed=0).contains(np.array([0.5, 0.25, 0.25], np.float32))
    return float(space.sample()["place"][0]) + int(low.default())


def size(space: Space[Any]) -> int:
    """Agents look at what a space is, and go on with what they found."""
    if isinstance(space, Discrete):
        return int(space.n)
    if isinstance(space, Box):
        return _numbers(space)
    if isinstance(space, Dict):
        return sum(size(one) for one in space.spaces.values())
    if isinstance(space, Tuple):
        return sum(size(one) for one in space)
    return space.flatdim


def _numbers(box: Box) -> int:
    return int(box.low.size)


class Steady(Agent[Row, int]):
    """An agent of one's own, which goes on."""

    def act(self, observation: Row, info: Info, lane: int) -> int:
        return int(observation[0] >= 0)


def agents() -> float:
    """An agent has the types of what it sees and does; a function of the observation is one, too."""
    agent = Steady().prepare(Box(0.0, 1.0, shape=(1,)), Discrete(2), 1)
    assert_type(agent, Steady)
    assert_type(agent.act(np.zeros(1, np.float32), {}, 0), int)
    assert_type(agent.observation_space, Space[Row])
    found = evaluate(Walk, Steady, episodes=2)
    assert found.totals().tolist() == evaluate(Walk, lambda observation: 1, episodes=2).totals().tolist()
    return float(found.totals().mean())


def episode() -> float:
    """The loop that everybody writes, with the types of the environment through what `make` puts around it."""
    env = ludus.make(Walk, max_episode_steps=5)
    observation, _ = env.reset(seed=0)
    total, done = 0.0, False
    while not done:
        action = env.action_space.sample() if float(observation[0]) > 9 else 1
        observation, reward, terminated, truncated, _ = env.step(action)
        assert_type(observation, Row)
        total += reward
        done = terminated or truncated
    assert_type(env.unwrapped, Env[Any, Any])
    assert env.spec is not None
    assert_type(env.spec.make(), Env[Any, Any])
    assert_type(env.spec.make_vec(2), VectorEnv[Any, Any])
    named = ludus.make(Named)
    seen, _ = named.reset(seed=0)
    assert_type(seen, Seen)
    assert_type(seen["place"], Row)
    return total + float(named.step((1, seen["place"])).reward)


def lanes_of(envs: VectorEnv[Any, Any], lanes: Lanes) -> int:
    """A part of a batch is a batch."""
    return envs.fork(lanes).num_envs


def own_wrappers() -> float:
    """So have wrappers."""
    env = Halved(Countdown(6))
    observation, _ = env.reset(seed=0, options={"start": 8})
    assert_type(observation, float)
    assert_type(Flipped(Countdown()).step(True), Step[int])
    assert_type(Countdown() | Halved, Halved)
    return observation + env.step(True).observation


def own_batch() -> int:
    """One's own environments in a batch, and wrappers of Ludus around it."""
    envs = SerialVectorEnv([Countdown, lambda: Countdown(2)])
    recorded = RecordEpisodeStatistics(envs)
    envs.reset(seed=[0, 1])
    recorded.reset(seed=0)
    walks = SerialVectorEnv[Row, list[int]]([Walk, Walk])
    assert_type(TimeLimit(walks, 3).reset(seed=0)[0], Row)
    assert_type(walks.step([1, 0]), Step[Row])
    assert_type(SerialVectorEnv([Walk]).reset(seed=0)[0], Any)
    step = recorded.step([1, 1])
    ended = [bool(one) for one in step.done]
    envs.close()
    return sum(ended)


def transformed() -> float:
    """Wrappers that change what is seen or done have the types of what they make of it."""
    stacked = FrameStackObservation(ludus.make(Walk), 4)
    assert_type(stacked, FrameStackObservation[Row, int, Row])
    assert_type(stacked.reset(seed=0)[0], Row)
    assert_type(stacked.step(1).observation, Row)
    assert_type(FrameStackObservation(Countdown(), 2).reset(seed=0)[0], Any)
    assert_type(FrameStackObservation(ludus.make("GridWorld-v0"), 2), FrameStackObservation[Any, Any, Any])
    shown = TransformObservation(Walk(), lambda row: float(row[0]))
    assert_type(shown.reset(seed=0)[0], float)
    assert_type(shown.step(1), Step[float])
    assert_type(TransformObservation(Sums(), _text).reset()[0], str)
    assert_type(TransformObservation(ludus.make("GridWorld-v0"), str).reset(seed=0)[0], str)
    batch = TransformObservation(ludus.make_vec(Walk, 2), lambda row: row * 2)
    assert_type(batch.reset(seed=0)[0], Any)
    done = TransformAction(Walk(), _last)
    assert_type(done, TransformAction[Row, str, int])
    done.reset(seed=0)
    assert_type(done.step("01"), Step[Row])
    assert_type(DtypeObservation(Walk(), np.float64).reset()[0], npt.NDArray[Any])
    answers = PlayAgainst(Walk(), _first)
    assert_type(answers, PlayAgainst[Row, int])
    several = TransformAction(ludus.make_vec(Walk, 2, executor="serial"), _first_lane)
    several.reset(seed=0)
    assert_type(several.step([1, 0]), Step[Row])
    assert_type(answers.env, Env[Row, int])
    sums = Sums()
    watched = Watched(Doubled(sums), 1)
    assert_type(watched.reset()[0], Any)
    assert watched.around(sums)
    env = ludus.make(Walk) | _costly | TimeLimit.using(3)
    return float(stacked.step(1).observation[-1, 0]) + shown.step(1).observation + len(env.batch_shape)


def _costly(env: Env[Row, int]) -> Costly:
    return Costly(env)


def _text(question: Question) -> str:
    return question.text


def _first(row: Row, info: Info) -> np.int64:
    return np.int64(row[0])


def _first_lane(action: int) -> np.int64:
    return np.int64(1 - action)


def _last(digits: str) -> int:
    return int(digits[-1])


def seen_first(env: Env[object, Any]) -> str:
    """What only looks at an environment takes one of any observations, wrapped and batched too."""
    return type(env.reset(seed=0)[0]).__name__


def looked_at() -> set[str]:
    """Environments of one's own, of ours, wrapped ones and batches."""
    wrapped: Env[object, int] = TimeLimit(Walk(), 5)
    batch: VectorEnv[object, Any] = SerialVectorEnv([Walk])
    return {seen_first(env) for env in (Walk(), wrapped, batch)} | {seen_first(Sums()), seen_first(Countdown())}


def round_trip(env: Env[int, int]) -> Outcome | None:
    """Functions over environments of some type; infos are dictionaries by name."""
    env.reset(seed=1)
    snapshot = env.snapshot()
    first = env.step(1)
    env.restore(snapshot)
    again = env.step(1)
    same = first.observation == again.observation and float(first.reward) == float(again.reward)
    return Outcome.of(again.info.get("outcome", "success")) if same else None


class Guess(ToolEnv):
    """An environment of tools, whose author says what they give."""

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[ToolOutcome, Info]:
        super().reset(seed=seed, options=options)
        self._secret = int(self.np_random.integers(3))
        return ToolOutcome(), {}

    @tool
    def guess(self, number: int) -> str:
        """Say a number from 0 to 2."""
        return "right" if number == self._secret else "wrong"

    def judge(self, call: Call, result: str) -> tuple[float, bool | Outcome]:
        won = result == "right" and call.arguments["number"] >= 0
        return (1.0, Outcome.SUCCESS) if won else (0.0, False)


def guessed() -> float:
    """Tools keep their own types, and are called by name."""
    env = Guess()
    assert_type(env.reset(seed=0)[0], ToolOutcome)
    assert_type(env.guess(1), str)
    env.reset(seed=0)
    return max(float(env.call("guess", number=number).reward) for number in range(3) if env.guess(number) == "right")


class Client(EnvClient[Answer, Question, Info]):
    """A client as OpenEnv's guide has it."""

    def _step_payload(self, action: Answer) -> dict[str, int]:
        return {"number": action.number}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Question]:
        return StepResult(Question(payload["observation"]["text"]), payload["reward"])

    def _parse_state(self, payload: dict[str, Any]) -> Info:
        return payload


def asked(client: Client, plain: EnvClient) -> str:
    """A client without `await` knows what it gets; one that is nobody's subclass has attributes."""
    with client.sync() as here:
        assert_type(here.reset(seed=1), StepResult[Question])
        assert_type(here.state(), Info)
        seen = here.step(Answer(2)).observation.text
    return seen + str(plain.sync().step({"number": 2}).observation.text)


def pictures() -> tuple[int, ...]:
    """A picture resized is of the same numbers."""
    small = resize(np.zeros((4, 4, 3), np.uint8), (2, 2))
    assert_type(small, npt.NDArray[np.uint8])
    return small.shape
