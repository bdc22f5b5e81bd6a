"""`step_masked` and `autoreset`, in every executor: the lanes of a mask move, and no other."""

from functools import partial

import numpy as np
import pytest

from ludus.core import AutoresetMode, Episode, VectorEnv
from ludus.errors import ClosedEnvironment, InvalidAction, InvalidArgument, InvalidType, ResetNeeded
from ludus.kernels.batch import KernelVectorEnv
from ludus.vector import ProcessVectorEnv, SerialVectorEnv, ThreadVectorEnv
from tests.core.wording import says
from tests.vector.lanes import Office, Sentences, Troubled
from tests.wrappers.drift import Drift
from tests.wrappers.equivalence import SEED, Lane, Trial, check_observations, same, told_by

LANES = 5


def kernel(makers, **kwargs):
    return KernelVectorEnv(makers[0], len(makers), **kwargs)


EXECUTORS = {
    "serial": SerialVectorEnv,
    "thread": partial(ThreadVectorEnv, num_threads=2),
    "process": partial(ProcessVectorEnv, num_workers=2),
    "kernel": kernel,
}
EVERY = pytest.mark.parametrize("executor", EXECUTORS)


def plan(lane, number):
    return Episode(100 * lane + number, {"longest": 3} if number % 4 == 0 else None) if number % 2 else Episode()


def made(executor, mode="NextStep", make=Drift, **kwargs):
    return EXECUTORS[executor]([make] * LANES, autoreset_mode=mode, **kwargs)


def lanes_beside(trial, make=Drift):
    lanes = [Lane(make(), place, trial) for place in range(LANES)]
    return lanes, {lane.place: lane.reset(SEED + lane.place)[0] for lane in lanes}


@pytest.mark.one_of(2)
@EVERY
@pytest.mark.parametrize("planned", [None, plan], ids=["no plan", "plan"])
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
def test_lanes_of_a_mask_go_on_as_by_themselves_and_others_stay(executor, mode, planned):
    trial = Trial(mode, plan=planned)
    lanes, last = lanes_beside(trial)
    draw = np.random.default_rng(1)
    with made(executor, mode, episodes=planned) as envs:
        check_observations(envs, envs.reset(seed=SEED)[0], last)
        for number in range(60):
            mask = draw.random(LANES) < 0.5
            if mode is AutoresetMode.DISABLED:
                begins = np.array([lane.ended for lane in lanes])
            else:
                begins = draw.random(LANES) < 0.15
            if begins.any():
                observations, infos = envs.autoreset(begins)
                for place in np.flatnonzero(begins).tolist():
                    last[place], info = lanes[place].begin()
                    assert same(told_by(infos, place), info)
                assert not any(told_by(infos, place) for place in np.flatnonzero(~begins))
                check_observations(envs, observations, last)
            actions = np.where(mask, draw.integers(0, 3, LANES), 99)
            step = envs.step_masked(actions, mask) if number % 7 else envs.step_masked(actions % 3, mask)
            check_step(envs, step, lanes, last, actions, mask)


def check_step(envs, step, lanes, last, actions, mask):
    for place, lane in enumerate(lanes):
        told = told_by(step.info, place)
        if mask[place]:
            last[place], reward, over, cut, info = lane.step(actions[place])
            assert (step.reward[place], step.terminated[place], step.truncated[place]) == (reward, over, cut)
            assert same(told, info)
        else:
            assert (step.reward[place], step.terminated[place], step.truncated[place]) == (0.0, False, False)
            assert told == {}
    check_observations(envs, step.observation, last)


@EVERY
def test_a_mask_of_all_lanes_is_a_step_and_one_of_none_changes_nothing(executor):
    everything, nothing = np.ones(LANES, bool), np.zeros(LANES, bool)
    with made(executor) as envs, made(executor) as other:
        envs.reset(seed=0)
        other.reset(seed=0)
        for _ in range(12):
            before = envs.step_masked(np.ones(LANES, int), everything)
            assert np.array_equal(before.observation, other.step(np.ones(LANES, int)).observation)
            idle = envs.step_masked(np.full(LANES, -1), nothing)
            assert np.array_equal(idle.observation, before.observation)
            assert not idle.reward.any()
            assert not idle.done.any()
            observations, infos = envs.autoreset(nothing)
            assert np.array_equal(observations, before.observation)
            assert not any(np.any(column) for key, column in infos.items() if key.startswith("_"))


@EVERY
def test_wrong_actions_and_masks_are_refused_before_any_lane_moves(executor):
    mask = np.array([True, False, True, False, True])
    with made(executor) as envs, made(executor) as other:
        with says(ResetNeeded, "step_masked: expected reset() first, got no reset yet"):
            envs.step_masked(np.zeros(LANES, int), mask)
        with says(ResetNeeded, "autoreset: expected reset() first, got no reset yet"):
            envs.autoreset(mask)
        envs.reset(seed=0)
        other.reset(seed=0)
        with pytest.raises(InvalidAction, match=r"action\[2\]: expected .*, got 7"):
            envs.step_masked(np.array([0, 0, 7, 0, 0]), mask)
        with says(InvalidType, "mask: expected an array of bool, got [True, False]"):
            envs.step_masked(np.zeros(LANES, int), [True, False])
        with pytest.raises(InvalidArgument, match=r"mask: expected shape \(5,\), got"):
            envs.autoreset(np.ones(2, bool))
        step, expected = envs.step(np.ones(LANES, int)), other.step(np.ones(LANES, int))
        assert np.array_equal(step.observation, expected.observation)
    with pytest.raises(ClosedEnvironment):
        envs.step_masked(np.zeros(LANES, int), mask)
    with pytest.raises(ClosedEnvironment):
        envs.autoreset(mask)


@EVERY
def test_a_lane_that_waits_for_a_reset_may_be_left_out_but_not_stepped(executor):
    with made(executor, "Disabled") as envs:
        envs.reset(seed=0)
        ended = np.zeros(LANES, bool)
        while not ended.any():
            ended = envs.step_masked(np.zeros(LANES, int), ~ended).done
        envs.step_masked(np.zeros(LANES, int), ~ended)
        lane = int(ended.argmax())
        only = np.arange(LANES) == lane
        with says(
            ResetNeeded,
            f"step_masked: expected lanes under way, got ended lanes [{lane}]; "
            "reset them with options={'reset_mask': mask}",
        ):
            envs.step_masked(np.zeros(LANES, int), only)
        envs.autoreset(only)
        envs.step_masked(np.zeros(LANES, int), only)


@pytest.mark.parametrize("executor", ["serial", "thread", "process"])
@pytest.mark.parametrize(("make", "action"), [(Sentences, "word"), (Office, None)], ids=["texts", "records"])
def test_values_that_are_no_arrays_go_the_same_way(executor, make, action):
    trial = Trial(AutoresetMode.NEXT_STEP)
    lanes, last = lanes_beside(trial, make)
    draw = np.random.default_rng(1)
    with made(executor, make=make) as envs:
        check_first = envs.reset(seed=SEED)[0]
        assert all(same(row, last[place]) for place, row in enumerate(envs.observation_space.iterate(check_first)))
        sample = envs.single_action_space.sample() if action is None else action
        for _ in range(12):
            mask = draw.random(LANES) < 0.5
            step = envs.step_masked(tuple(sample if moves else None for moves in mask), mask)
            for place in np.flatnonzero(mask).tolist():
                last[place], *_ = lanes[place].step(sample)
            rows = list(envs.observation_space.iterate(step.observation))
            assert all(same(row, last[place]) or row == last[place] for place, row in enumerate(rows))


def test_a_lane_that_fails_in_a_masked_step_is_made_anew_where_that_is_asked_for():
    with ProcessVectorEnv([Troubled] * 4, num_workers=2, on_failure="restart") as envs:
        envs.reset(seed=0)
        mask = np.array([True, True, False, False])
        step = envs.step_masked(np.array([1, 0, 1, 1]), mask)
        assert step.truncated.tolist() == [True, False, False, False]
        assert step.info["_worker_failure"].tolist() == [True, False, False, False]
        step = envs.step_masked(np.array([0, 2, 1, 1]), mask)
        assert step.truncated.tolist() == [True, True, False, False]
        assert not envs.step(np.zeros(4, int)).truncated.any()


def test_a_batch_without_them_says_what_to_define():
    class Whole(VectorEnv):
        num_envs = 2

    assert Whole().autoreset_mode is AutoresetMode.NEXT_STEP
    with says(
        InvalidType,
        "step_masked(action, mask): expected a batch that advances some of its lanes, got Whole, which defines no such "
        "method; define step_masked(action, mask), or wrap each lane, by make_vec(wrappers=[…])",
    ):
        Whole().step_masked(0, np.ones(2, bool))
    with pytest.raises(InvalidType, match=r"^autoreset\(mask\): expected a batch that begins episodes in some"):
        Whole().autoreset(np.ones(2, bool))
