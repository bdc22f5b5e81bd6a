"""Lanes of a compiled batch that differ, fork, are planned, counted, seeded in numbers, or split over threads."""

from copy import deepcopy
from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode, Episode
from ludus.envs.classic import CartPole
from ludus.errors import ClosedEnvironment, InvalidAction, InvalidArgument, InvalidType
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.seeds import fresh_entropy, seeded_words
from ludus.kernels.split import MIN_LANES_PER_THREAD, ThreadSplit
from ludus.kernels.stream import stream_rows
from ludus.spaces import Box, Discrete
from ludus.testing import data_equal
from ludus.vector import Kernel
from ludus.wrappers import RecordEpisodeStatistics
from tests.kernels.test_batch import same_infos


def together(one, other, steps=120, seed=3):
    """Two batches that have to have one history."""
    first, second = one.reset(seed=seed), other.reset(seed=seed)
    assert data_equal(first[0], second[0])
    same_infos(first[1], second[1])
    one.action_space.seed(1)
    for _ in range(steps):
        actions = one.action_space.sample()
        a, b = one.step(actions), other.step(actions)
        assert data_equal(a.observation, b.observation)
        assert all(np.array_equal(x, y) for x, y in zip(a[1:4], b[1:4], strict=True))
        same_infos(a.info, b.info)


@pytest.mark.one_of(2)
@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("CartPole-v1", {"gravity": [9.8, 1.6, 25.0], "force_mag": [10.0, 8.0, 3.0]}),
        ("CartPole-v1", {"sutton_barto_reward": [True, False, True]}),
        pytest.param("Pendulum-v1", {"g": [10.0, 2.0, 5.0]}, marks=pytest.mark.full),
        ("FrozenLake-v1", {"desc": [["SFF", "FFF", "FFG"], ["SFH", "FHF", "FFG"], ["SFF", "HFF", "FFG"]]}),
        pytest.param(
            *("Taxi-v4", {"is_rainy": [True, False, True], "fickle_passenger": [False, True, True]}),
            marks=pytest.mark.full,
        ),
        ("Acrobot-v1", {"AVAIL_TORQUE": [(-1.0, 0.0, 1.0), (-2.0, 0.0, 2.0), (0.0, 0.0, 1.0)]}),
    ],
)
def test_each_lane_may_have_parameters_of_its_own(name, each):
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        batches = [
            ludus.make_vec(name, 3, kind, mode, each=each, max_episode_steps=30) for kind in ("kernel", "serial")
        ]
        assert [one.executor for one in batches] == ["kernel", "serial"]
        together(*batches)


def test_parameters_are_set_lane_by_lane_or_for_all():
    batches = [ludus.make_vec("CartPole-v1", 3, kind, max_episode_steps=20) for kind in ("kernel", "serial")]
    for batch in batches:
        batch.set_attr("gravity", [1.0, 2.0, 3.0])
    assert batches[0].get_attr("gravity") == (1.0, 2.0, 3.0)
    together(*batches)
    for batch in batches:
        batch.set_attr("gravity", 4)
    assert batches[0].get_attr("gravity") == (4.0, 4.0, 4.0)
    together(*batches)


@pytest.mark.parametrize(
    ("name", "values"), [("gravity", [1.0, 2.0]), ("gravity", "heavy"), ("colour", 1.0), ("gravity", [1.0, 2.0, "x"])]
)
def test_parameters_that_are_none_are_refused(name, values):
    batch = KernelVectorEnv(CartPole, 3)
    with pytest.raises((InvalidArgument, InvalidType)):
        batch.set_attr(name, values)
    assert batch.get_attr("gravity") == (9.8, 9.8, 9.8)


def test_lanes_of_other_shapes_are_refused_with_what_to_do():
    with pytest.raises(InvalidArgument, match="use executor='serial'"):
        ludus.make_vec("FrozenLake-v1", 2, "kernel", each={"map_name": ["4x4", "8x8"]})


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_fork_goes_on_alike(mode):
    batch = ludus.make_vec("Taxi-v4", 5, "kernel", mode, max_episode_steps=30)
    batch.reset(seed=0)
    batch.action_space.seed(0)
    for _ in range(10):
        batch.step(batch.action_space.sample())
    lanes = np.array([4, 0, 0, 2])
    twin = batch.fork(lanes)
    assert twin.num_envs == 4
    assert twin.action_space.shape == (4,)
    for _ in range(15):
        actions = batch.action_space.sample()
        ours, theirs = batch.step(actions), twin.step(actions[lanes])
        assert np.array_equal(ours.observation[lanes], theirs.observation)
        assert np.array_equal(ours.reward[lanes], theirs.reward)
    before = batch.snapshot()
    expected = batch.step(actions).observation
    batch.restore(before)
    twin.step(actions[lanes])
    assert np.array_equal(batch.step(actions).observation, expected)


def test_forks_of_forks_and_of_lanes_that_differ():
    batch = ludus.make_vec("CartPole-v1", 3, each={"gravity": [1.0, 2.0, 3.0]})
    batch.reset(seed=0)
    twin = batch.fork([2, 1]).fork([1, 1, 0, 0])
    assert twin.get_attr("gravity") == (2.0, 2.0, 3.0, 3.0)
    assert twin.np_random_seed == (1, 1, 2, 2)
    actions = np.ones(4, int)
    assert np.array_equal(twin.step(actions).observation, batch.step(actions[:3]).observation[[1, 1, 2, 2]])


def test_a_fork_draws_actions_as_the_batch_would_have_and_apart_from_it():
    batch = KernelVectorEnv(CartPole, 3)
    batch.reset(seed=0)
    batch.action_space.seed(4)
    twin = batch.fork([0, 1, 2])
    theirs = [twin.action_space.sample().tolist() for _ in range(5)]
    assert [batch.action_space.sample().tolist() for _ in range(5)] == theirs


def test_options_that_make_lanes_alike_or_numbers_whole_reach_the_rules():
    batch = ludus.make_vec("CartPole-v1", 2, each={"start_low": [-0.05, 0.0]})
    first, _ = batch.reset(seed=0, options={"low": 0, "high": 1})
    assert (first > 0.1).any()
    assert ((first >= 0) & (first <= 1)).all()


def test_a_new_seed_starts_the_streams_of_its_lane_alone():
    batch = KernelVectorEnv(CartPole, 2)
    batch.reset(seed=3)
    first, second = (one.random() for one in batch.stream("noise"))
    batch.reset(seed=[3, None], options={"reset_mask": np.array([True, False])})
    again, other = (one.random() for one in batch.stream("noise"))
    assert again == first
    assert other != second


def test_a_closed_batch_says_so():
    batch = KernelVectorEnv(CartPole, 2)
    batch.reset(seed=0)
    batch.close()
    for use in (batch.reset, lambda: batch.step(np.zeros(2, int)), lambda: batch.fork([0])):
        with pytest.raises(ClosedEnvironment, match="expected an open batch"):
            use()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("kind", ["seed", "options", "both", "neither"])
@pytest.mark.parametrize("name", ["CartPole-v1", "Copy-v0", "Taxi-v4"])
def test_planned_episodes_are_those_of_the_serial_executor(mode, kind, name):
    options = {"low": 0.01, "high": 0.02} if name == "CartPole-v1" else None

    def plan(lane, number):
        seed = 100 * lane + number if kind in ("seed", "both") and number % 3 else None
        return Episode(seed, options if kind in ("options", "both") and (lane + number) % 2 else None)

    batches = [
        ludus.make_vec(name, 4, executor, mode, episodes=plan, max_episode_steps=7) for executor in ("kernel", "serial")
    ]
    together(*batches, steps=60)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_episodes_are_counted_inside(mode):
    inside = ludus.make_vec("CartPole-v1", 4, Kernel(statistics=True), mode)
    around = RecordEpisodeStatistics(ludus.make_vec("CartPole-v1", 4, "kernel", mode))
    inside.reset(seed=0)
    around.reset(seed=0)
    inside.action_space.seed(0)
    told = 0
    for _ in range(150):
        actions = inside.action_space.sample()
        a, b = inside.step(actions), around.step(actions)
        assert ("episode" in a.info) == ("episode" in b.info)
        if "episode" in a.info:
            told += 1
            assert np.array_equal(a.info["_episode"], b.info["_episode"])
            for key in ("r", "l", "_r", "_l"):
                assert np.array_equal(a.info["episode"][key], b.info["episode"][key])
        if mode is AutoresetMode.DISABLED and a.done.any():
            for one in (inside, around):
                one.reset(options={"reset_mask": a.done})
    assert told > 5


def test_streams_are_seeded_as_numpy_seeds_them():
    seeds = [0, 1, 7, 2**31, 2**32 - 1, 2**32, 2**33 + 5, 2**64 - 1, 2**64, 2**100, 2**128 - 1, 2**128, 2**200 + 7]
    seeds += np.random.default_rng(0).integers(2**63, size=200).tolist()
    assert np.array_equal(seeded_words(seeds), stream_rows(seeds))
    assert len(set(fresh_entropy(50))) == 50


def test_a_lane_knows_its_seed_and_its_streams():
    batch = KernelVectorEnv(CartPole, 2)
    batch.reset(seed=[5, None])
    first, second = batch.np_random_seed
    assert first == 5
    assert second >= 0
    alone = CartPole()
    assert np.array_equal(alone.reset(seed=second)[0], batch.reset(seed=[None, second])[0][1])
    alone.reset(seed=5)
    assert batch.stream("noise")[0].random() == alone.stream("noise").random()


def test_a_split_step_is_the_same_step():
    lanes = 3 * MIN_LANES_PER_THREAD + 17
    split, whole = (KernelVectorEnv(CartPole, lanes, max_episode_steps=20, threads=count) for count in (3, 1))
    assert whole._split is None
    split._split._way = lambda: 1
    together(split, whole, steps=40)
    bad = np.zeros(lanes, int)
    bad[-1] = 2
    before = split._block.copy()
    with pytest.raises(InvalidAction, match=rf"action\[{lanes - 1}\]"):
        split.step(bad)
    assert np.array_equal(split._block, before)
    together(split, whole, steps=5)


def test_the_quicker_way_is_taken_and_the_other_tried_again():
    split = ThreadSplit(8 * MIN_LANES_PER_THREAD, 2)
    times = {0: 4.0, 1: 1.0}
    taken = []

    def step():
        way = split._way()
        taken.append(way)
        split._took(times[way])

    for _ in range(200):
        step()
    assert sum(taken[20:]) > 170
    times.update({0: 1.0, 1: 5.0})
    for _ in range(5000):
        step()
    assert sum(taken[-500:]) < 20


class Fragile(NamedTuple):
    x: float


class Limits(NamedTuple):
    most: int = 3


def decay(state, action, rng, params):
    return Fragile(1.0 / (state.x - params.most)), 0.0, False


class Breaking(RuleEnv):
    observation_space, action_space = Box(-np.inf, np.inf, (1,), np.float64), Discrete(2)
    rules = Rules(Fragile, Limits, lambda rng, params: Fragile(0.0), decay, lambda state, params: (state.x,))


def test_an_error_in_a_piece_reaches_the_caller():
    lanes = 4 * MIN_LANES_PER_THREAD
    batch = KernelVectorEnv(Breaking, lanes, threads=2)
    batch._split._way = lambda: 1
    action = np.zeros(lanes, np.int64)
    for lane in (0, lanes // 2, lanes - 1):
        batch.reset(seed=0)
        batch.set_attr("state", [Fragile(3.0 if one >= lane else 1.0) for one in range(lanes)])
        with pytest.raises(ZeroDivisionError, match=f"lane {lane}, step 1: division by zero at .*test_lanes.py"):
            batch.step(action)
    batch.reset(seed=0)
    assert batch.step(action).observation[-1] == -1 / 3


@pytest.mark.parametrize("threads", [0, -1, True])
def test_threads_that_are_none_are_refused(threads):
    with pytest.raises(InvalidArgument, match="threads: expected a whole number above 0"):
        KernelVectorEnv(CartPole, 4 * MIN_LANES_PER_THREAD, threads=threads)


def test_a_lane_of_cartpole_takes_little_memory():
    batch = KernelVectorEnv(CartPole, 1024)
    assert batch._block.nbytes / 1024 <= 256


def test_a_deep_copy_has_memory_of_its_own():
    batch = KernelVectorEnv(CartPole, 3)
    batch.reset(seed=0)
    twin = deepcopy(batch)
    action = np.array([0, 1, 0])
    first = batch.step(action)
    batch.step(action)
    assert np.array_equal(twin.step(action).observation, first.observation)


def test_actions_are_read_however_they_lie_in_memory():
    batch, alike = (KernelVectorEnv(CartPole, 3) for _ in range(2))
    plain = np.array([0, 1, 1])
    odd = np.frombuffer(b"\0" + plain.tobytes(), np.uint8)[1:].view(np.int64)
    fixed = plain.copy()
    fixed.flags.writeable = False
    for other in (np.repeat(plain, 2)[::2], plain.astype(">i8"), plain.astype(np.uint8), odd, fixed, plain.tolist()):
        assert data_equal(batch.reset(seed=0)[0], alike.reset(seed=0)[0])
        assert np.array_equal(batch.step(other).observation, alike.step(plain).observation)
