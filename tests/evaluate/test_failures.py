"""What fails in an evaluation: an agent's fault counts, an environment's is masked, and the rest goes on."""

import numpy as np
import pytest

from ludus.core import Env, Outcome, Step
from ludus.errors import EvaluationError
from ludus.evaluate import Agent, evaluate, read_evaluation, verify
from ludus.spaces import Box, Discrete

FAILED, LOST = Outcome.ENVIRONMENT_FAILED, Outcome.AGENT_FAILED


class Brittle(Env):
    """A stranger's: some seeds hide an error, in the step they draw or when they begin; the reward is the draw."""

    observation_space = Box(0, 9, (1,), np.float64)
    action_space = Discrete(3, start=1)

    def __init__(self, share=0.2, begins=0.0):
        self.share, self.begins = share, begins

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if self.np_random.random() < self.begins:
            raise RuntimeError("never begun")
        self.breaks = self.np_random.random() < self.share
        self.left = int(self.np_random.integers(2, 9))
        return np.zeros(1), {}

    def step(self, action):
        assert action in (1, 2, 3)
        self.left -= 1
        if self.breaks and self.left == 1:
            raise ZeroDivisionError("a bug of the environment's")
        return Step(self.np_random.random(1) * action, float(action), self.left == 0, False, {})


class Shaky(Agent):
    """Raises in some episodes, in the third step; in others it gives what is no action."""

    def begin(self, lane, seed):
        self.lanes = getattr(self, "lanes", {}) | {lane: [0, seed % 5]}

    def act(self, observation, info, lane):
        self.lanes[lane][0] += 1
        steps, kind = self.lanes[lane]
        if steps == 2 and kind == 0:
            raise KeyError("lost")
        if steps == 2 and kind == 1:
            return 17
        return "none at all" if steps == 2 and kind == 2 else 2


@pytest.mark.parametrize("num_envs", [1, 5])
def test_an_environment_that_raises_is_masked_and_the_others_are_as_they_were(num_envs):
    found = evaluate(Brittle, "random", episodes=30, num_envs=num_envs, max_masked=0.9)
    sound = evaluate(Brittle, "random", episodes=30, kwargs={"share": 0.0})
    broken = [one.number for one in found.episodes if one.outcome is FAILED]
    assert 2 <= len(broken) == found.masked <= 15
    assert [one.number for one in found.counted] == [one for one in range(30) if one not in broken]
    assert [one.total for one in found.counted] == [one.total for one in sound.episodes if one.number not in broken]
    assert found.marks == (f"{len(broken)} of 30 episodes masked, and left out",)
    assert found.interval().value == pytest.approx(
        np.mean(sorted(found.totals())[len(found.counted) // 4 :][: -(len(found.counted) // 4)])
    )


def test_above_a_share_of_masked_episodes_it_fails_loudly(tmp_path):
    path = tmp_path / "result.ludus"
    with pytest.raises(
        EvaluationError,
        match=r"Brittle: expected at most 5% of episodes masked, got [\d.]+% \(\d+ of 30: environment_failed\)",
    ):
        evaluate(Brittle, "random", episodes=30, max_masked=0.05, out=path)
    assert read_evaluation(path).masked > 1


def test_failures_of_environments_are_in_the_file_and_fail_again(tmp_path):
    path = tmp_path / "result.ludus"
    found = evaluate(Brittle, "random", episodes=20, max_masked=0.9, out=path, kwargs={"begins": 0.2})
    assert any(one.length == 0 for one in found.episodes)
    assert any(one.length > 0 and one.outcome is FAILED for one in found.episodes)
    assert read_evaluation(path) == found
    checked = verify(path, Brittle)
    assert checked, str(checked)

    class Mended(Brittle):
        def __init__(self, share=0.2, begins=0.0):
            super().__init__(share, 0.0)

        def step(self, action):
            self.breaks = False
            return super().step(action)

    found = [str(one) for one in verify(path, Mended).findings]
    expected = "outcome: recorded 'environment_failed', executed again 'an environment that goes on'"
    assert any(expected in one for one in found)


@pytest.mark.parametrize("num_envs", [1, 4])
def test_an_agent_that_fails_has_failed_in_that_episode_which_is_played_to_its_end(num_envs, tmp_path):
    path = tmp_path / "result.ludus"
    found = evaluate(Brittle, Shaky, episodes=25, num_envs=num_envs, kwargs={"share": 0.0}, out=path)
    outcomes = {one.outcome for one in found.episodes}
    assert outcomes == {None, LOST, Outcome.INVALID_ACTION}
    assert found.masked == 0
    for one in found.episodes:
        assert one.terminated
        failed = one.outcome is not None
        assert one.total == (2.0 + one.length - 1 if failed else 2.0 * one.length)
    assert read_evaluation(path) == found
    checked = verify(path, Brittle, agent=Shaky)
    assert checked, str(checked)


def test_an_agent_of_whole_batches_that_fails_has_failed_in_all_of_its_lanes():
    class Batched(Agent):
        calls = 0

        def act_batch(self, observations, info, mask):
            assert observations.shape == (len(mask), 1)
            self.calls += 1
            if self.calls == 2:
                raise MemoryError
            return np.full(len(mask), 3)

    found = evaluate(Brittle, Batched, episodes=9, num_envs=3, kwargs={"share": 0.0})
    assert [one.outcome for one in found.episodes].count(LOST) == 3
    assert {one.total / one.length for one in found.episodes if one.outcome is None} == {3.0}


def test_an_agent_that_cannot_begin_has_failed():
    class Never(Agent):
        def begin(self, lane, seed):
            raise OSError("no model")

    found = evaluate("CartPole-v1", Never, episodes=3)
    assert [one.outcome for one in found.episodes] == [LOST] * 3
    assert found.masked == 0


def test_a_worker_that_dies_is_a_failure_of_what_it_runs_on():
    found = evaluate(Deadly, "nop", episodes=6, num_envs=2, executor="process", max_masked=0.9)
    dead = [one for one in found.episodes if one.outcome is Outcome.INFRASTRUCTURE_FAILED]
    assert 1 <= len(dead) <= 5
    assert all(one.terminated for one in found.counted)


class Deadly(Brittle):
    """Takes its process with it, by some seeds."""

    def step(self, action):
        if self.np_random.random() < 0.15:
            import os  # as a crash in native code would

            os._exit(9)
        self.breaks = False
        return super().step(action)
