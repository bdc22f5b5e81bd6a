"""A run executed again agrees in every executor, and the first step that differs is named."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import numpy as np
import pytest
from pydantic import BaseModel

import ludus
from ludus.core import Env, Step
from ludus.errors import TrajectoryError
from ludus.spaces import Box, Discrete, Record
from ludus.trajectory import Recorder, Run, diff, replay
from ludus.trajectory.block import AUTORESET, StepRow
from ludus.wrappers import NormalizeReward, RecordEpisodeStatistics
from tests.trajectory.conftest import Workshop, batch, play, random_actions, record

MODES = ("NextStep", "SameStep", "Disabled")


@pytest.mark.parametrize("level", ["seeds", "steps", "full"])
@pytest.mark.parametrize("mode", MODES)
def test_a_batch_is_replayed_in_every_autoreset_mode(path, level, mode):
    envs = Recorder(batch("kernel", mode), path, level)
    envs.reset(seed=3)
    for action in random_actions(envs, 70):
        step = envs.step(action)
        if mode == "Disabled" and step.done.any():
            envs.reset(options={"reset_mask": step.done})
    envs.close()
    result = replay(path)
    assert result, result
    assert result.replayed == result.rows > 70
    assert not result.source_changed
    assert replay(path, executor="serial")


def test_a_run_is_replayed_in_isolation_and_its_source_is_still_the_same(path):
    record(batch("serial"), path, "seeds", 20)
    result = replay(path, isolation="process")
    assert result, result
    assert not result.source_changed


def test_a_run_of_processes_is_replayed_compiled_and_the_other_way_round(path, tmp_path):
    record(batch("process"), path, "seeds", 40)
    assert replay(path, executor="kernel")
    record(batch("kernel"), tmp_path / "b.ludus", "full", 20)
    assert replay(tmp_path / "b.ludus", executor="process")


@pytest.mark.parametrize("level", ["seeds", "steps", "full"])
def test_one_environment_is_replayed_alone_or_as_a_batch_of_one(path, level):
    record(ludus.make("FrozenLake-v1"), path, level, 50)
    assert replay(path)
    assert replay(path, executor="serial")


@pytest.mark.parametrize("level", ["seeds", "steps", "full"])
def test_a_strangers_environment_is_replayed_from_its_own_instance(path, level):
    record(Workshop(), path, level)
    assert replay(path, Workshop())
    with pytest.raises(TrajectoryError, match=r"expected a spec to make the environment from, got none: .*Workshop"):
        replay(path)


def test_wrappers_around_a_whole_batch_are_made_again(path):
    envs = Recorder(NormalizeReward(RecordEpisodeStatistics(batch())), path, "steps")
    play(envs, 40)
    envs.close()
    assert replay(path)


def test_masked_steps_and_autoresets_are_replayed(path):
    envs = Recorder(batch("serial"), path, "full")
    envs.reset(seed=[4, 9, 2, 7, 7])
    mask = np.array([True, False, True, False, False])
    for _ in range(30):
        envs.step_masked(np.ones(5, np.int64), mask)
    envs.autoreset(~mask)
    envs.step(np.zeros(5, np.int64))
    envs.close()
    result = replay(path, executor="kernel")
    assert result, result


class Drifting(Workshop):
    """Differs from the fifth step of its third episode on."""

    def step(self, action):
        step = super().step(action)
        if (self.episodes, self.steps) == (3, 5):
            step = self.changed(step)
        return step

    def changed(self, step):
        return step._replace(reward=step.reward + 1)


class Seeing(Drifting):
    def changed(self, step):
        return step._replace(observation={**step.observation, "word": "zz"})


class Ending(Drifting):
    def changed(self, step):
        return step._replace(terminated=True)


@pytest.mark.parametrize(
    ("level", "kind", "field"),
    [
        ("full", Drifting, "reward"),
        ("steps", Drifting, "reward"),
        ("full", Seeing, "observation.2"),
        ("steps", Seeing, "observation"),
        ("seeds", Seeing, "observation"),
        ("full", Ending, "terminated"),
        ("steps", Ending, "terminated"),
    ],
)
def test_the_first_step_that_differs_is_named(path, level, kind, field):
    record(Workshop(), path, level)
    found = replay(path, kind()).difference
    assert (found.episode, found.step, found.lane, found.field) == (2, 5, 0, field)
    assert str(found).startswith(f"episode 2, step 5: {field}: recorded ")


def test_at_level_seeds_a_changed_reward_shows_in_the_return_of_its_episode(path):
    record(Workshop(), path, "seeds")
    found = replay(path, Drifting()).difference
    assert (found.episode, found.step, found.field) == (2, 7, "return")
    assert found.replayed == pytest.approx(found.recorded + 1)


def test_at_level_seeds_an_early_end_shows(path):
    record(Workshop(), path, "seeds")
    found = replay(path, Ending()).difference
    assert found.field in ("number of episodes", "length", "end")


def test_what_only_a_batch_can_do_is_a_difference_where_one_environment_is_executed(path):
    """It was an AttributeError."""
    with Recorder(ludus.make("GridWorld-v0"), path) as recorder:
        recorder.reset(seed=1)
        row = StepRow(AUTORESET, {**recorder._acted.zeros(), "seen": np.uint64(0)}, {})
        recorder._writer.put(row)
        recorder._tracker.begin(1, None, recorder._writer.ended)
    found = replay(path).difference
    assert (found.row, found.field) == (1, "error")
    assert "what only a batch can do" in str(found.replayed)


def test_a_batch_of_another_size_or_mode_is_refused(path):
    record(batch(), path, "seeds")
    with pytest.raises(TrajectoryError, match="expected 5 lanes with autoreset NextStep, got 4 with 'NextStep'"):
        replay(path, batch(lanes=4))
    with pytest.raises(TrajectoryError, match="got 5 with 'SameStep'"):
        replay(path, batch(mode="SameStep"))


@dataclass
class Hand:
    """A part of what is seen."""

    cards: list[str]
    best: float = float("inf")


@dataclass
class Table:
    text: str
    hand: Hand
    bids: dict[str, int]
    seat: Literal["north", "south"] = "north"
    last: int | None = None


@dataclass
class Line:
    """Numbers and text alone: the recorder leaves its instances to the encoder as they are."""

    text: str
    number: int


class Deal(msgspec.Struct, omit_defaults=True):
    text: str
    cards: list[str] = []
    best: float = float("inf")


class Offer(BaseModel):
    text: str
    cards: list[str] = []
    best: float = float("inf")


class Placed(msgspec.Struct):
    text: str
    at: Annotated[np.ndarray, Box(0, 1, (2,), np.float32)]


def seen_as(kind, word, rng):
    cards = [word, word * 2]
    if kind is Table:
        return Table(word, Hand(cards), {word: int(rng.integers(9))})
    if kind is Line:
        return Line(word, int(rng.integers(9)))
    if kind is Placed:
        return Placed(word, rng.random(2, np.float32))
    return kind(text=word, cards=cards)


class CardTable(Env):
    """A stranger's: it shows records, dataclasses in dataclasses among them."""

    action_space = Discrete(3)

    def __init__(self, kind="Table", salt=""):
        self.kind = {"Table": Table, "Line": Line, "Deal": Deal, "Offer": Offer, "Placed": Placed}[kind]
        self.observation_space, self.salt = Record(self.kind), salt

    def _seen(self):
        return seen_as(self.kind, "abcdefgh"[int(self.np_random.integers(8))] + self.salt, self.np_random)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return self._seen(), {}

    def step(self, action):
        self.left -= 1
        return Step(self._seen(), float(action), self.left == 0, False, {})


@pytest.mark.parametrize("kind", ["Table", "Line", "Deal", "Offer", "Placed"])
@pytest.mark.parametrize("level", ["seeds", "steps", "full"])
def test_records_that_are_seen_are_replayed_whatever_they_are_classes_of(path, level, kind):
    record(CardTable(kind), path, level, 20)
    found = replay(path, CardTable(kind))
    assert found, found
    envs = ludus.vector.SerialVectorEnv([lambda: CardTable(kind)] * 2)
    batch_path = path.with_name("batch.ludus")
    record(envs, batch_path, level, 20)
    assert replay(batch_path, ludus.vector.SerialVectorEnv([lambda: CardTable(kind)] * 2))
    other = replay(path, CardTable(kind, salt="!"))
    assert other.difference is not None
    assert (other.difference.step, other.replayed) == (0, 0)


def test_two_recorded_episodes_of_records_do_not_differ(path):
    record(CardTable("Line"), path, "full", 20)
    again = path.with_name("again.ludus")
    record(CardTable("Line"), again, "full", 20)
    with Run.open(path) as one, Run.open(again) as two:
        assert diff(one, two) is None
