"""The one matrix: environment × executor × autoreset mode × wrappers; an executor never changes what lanes do."""

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode, Episode
from ludus.testing import data_equal
from ludus.vector import Process
from ludus.wrappers import FlattenObservation, StickyAction, TimeAwareObservation, TransformReward
from tests.engines import has_turn, in_small, starts_programs
from tests.kernels.variants import RULED, unchecked
from tests.sampling import FULL, covering

pytestmark = pytest.mark.no_cover  # what they run is measured by shorter tests

LANES, STEPS = 3, 40
FEW = 12
"""Steps of what is slow, so that each lane has an end and goes on: an episode has nine. `make test-full` makes all."""
IDS = [spec.id for spec in ludus.list_envs() if spec.id != "CartPole-v0" and spec.family not in ("openspiel", "atari")]
INSIDE = (StickyAction.using(repeat_action_probability=0.25), TransformReward.using(func=lambda reward: 2 * reward + 1))
AROUND = (TimeAwareObservation.using(), FlattenObservation.using())


def history(name, executor, mode, inside, around):
    """All that a batch gives over some steps, with partial resets where lanes wait for one, and planned episodes."""
    where = Process(workers=2) if executor == "process" else executor
    envs = ludus.make_vec(in_small(ludus.spec(name)), LANES, where, mode, inside, max_episode_steps=9, episodes=plan)
    assert envs.executor == executor
    for wrapper in around:
        envs = wrapper(envs)
    told = [envs.reset(seed=[11, 12, 13])]
    envs.action_space.seed(7)
    with envs:
        for _ in range(FEW if name.startswith("open/") and not FULL else STEPS):
            step = envs.step(envs.action_space.sample())
            told.append(tuple(step))
            ended = step[2] | step[3]
            if mode is AutoresetMode.DISABLED and ended.any():
                told.append(envs.reset(options={"reset_mask": ended}))
    return told


def outer(name):
    """Texts are not flattened: a row of numbers for each of thousands of characters says nothing more of executors."""
    return (TimeAwareObservation.using(flatten=False),) if name.startswith("open/") else AROUND


def plan(lane, number):
    return Episode(seed=100 * lane + number) if number % 2 else Episode()


def same(ours, theirs):
    """Equal in every value that is told; of lanes that tell nothing, a column holds filler."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key, column in ours.items():
            mask = ours.get(f"_{key}")
            if mask is None or isinstance(column, dict):
                same(column, theirs[key])
            else:
                same(
                    [column[lane] for lane in np.flatnonzero(mask)],
                    [theirs[key][lane] for lane in np.flatnonzero(mask)],
                )
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(ours, float | np.number):
        assert ours == theirs  # a column holds one kind of number; a lane by itself may tell of 1 once and of 1.0 later
    else:
        assert data_equal(ours, theirs)


@covering(
    *("name, mode, wrapped", IDS, list(AutoresetMode), ["plain", "inside", "around"]),
    strength=1,
    marks=lambda name, mode, wrapped: [] if has_turn(name) and not starts_programs(name) else [pytest.mark.full],
    ids=lambda one: getattr(one, "value", one),
)
def test_every_executor_gives_the_serial_history(name, mode, wrapped):
    inside, around = INSIDE if wrapped == "inside" else (), outer(name) if wrapped == "around" else ()
    expected = history(name, "serial", mode, inside, around)
    for executor in ("thread", "process"):
        same(history(name, executor, mode, inside, around), expected)


@pytest.mark.full
@pytest.mark.parametrize("name", ["open/Echo-v0", "open/TextArena-v0", "open/DIPGSafety-v0"])
def test_flattened_texts_are_the_same_from_every_executor(name):
    expected = history(name, "serial", AutoresetMode.NEXT_STEP, (), AROUND)
    for executor in ("thread", "process"):
        same(history(name, executor, AutoresetMode.NEXT_STEP, (), AROUND), expected)


@covering(
    *("name, mode, wrapped", [name for name in IDS if name in RULED], list(AutoresetMode), ["plain", "around"]),
    strength=1,
    marks=lambda name, mode, wrapped: unchecked(name),
    ids=lambda one: getattr(one, "value", one),
)
def test_a_compiled_batch_gives_the_serial_history(name, mode, wrapped):
    around = outer(name) if wrapped == "around" else ()
    same(history(name, "kernel", mode, (), around), history(name, "serial", mode, (), around))
