"""`RubricReward`: the same rewards and infos in one environment and in a lane of a batch, in every autoreset mode."""

import numpy as np
import pytest

import ludus
from ludus.core.info import lane_info
from ludus.rubrics import EpisodeRubric, RubricReward, WeightedSum
from ludus.testing import check_env

SEED = 3


def rubric():
    return WeightedSum(
        {
            "upright": lambda observation: 1.0 - abs(float(observation[2])),
            "push": lambda action: float(action),
            "episode": EpisodeRubric(lambda steps: float(len(steps))),
        },
        {"upright": 1.0, "push": -0.1, "episode": 0.01},
    )


def alone(steps, seed, limit=8):
    env = RubricReward(ludus.make("CartPole-v1", max_episode_steps=limit), rubric())
    env.reset(seed=seed)
    found = []
    for action in steps:
        step = env.step(int(action))
        found.append((step.reward, step.info["reward_components"], step.info["rubric"]))
        if step.terminated or step.truncated:
            env.reset()
    return found


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_lane_of_a_batch_is_rewarded_as_one_environment(mode):
    actions = np.random.default_rng(0).integers(0, 2, (20, 3))
    batch = ludus.make_vec("CartPole-v1", 3, autoreset_mode=mode, max_episode_steps=8)
    envs = RubricReward(batch, rubric())
    envs.reset(seed=[SEED, SEED + 1, SEED + 2])
    found, over = [[], [], []], np.zeros(3, bool)
    played = [[], [], []]
    for row in actions:
        step = envs.step(row)
        ended = step.terminated | step.truncated
        for lane in range(3):
            if mode == "NextStep" and over[lane]:
                assert step.reward[lane] == 0.0
                continue
            info = step.info["final_info"] if mode == "SameStep" and ended[lane] else step.info
            told = lane_info(info, lane)
            found[lane].append((step.reward[lane], told["reward_components"], told["rubric"]))
            played[lane].append(row[lane])
        over = ended
    for lane in range(3):
        assert found[lane] == alone(played[lane], SEED + lane)


def test_the_environments_own_reward_may_be_a_component():
    env = RubricReward(ludus.make("CartPole-v1"), lambda action: 0.5, own_weight=2.0)
    env.reset(seed=0)
    step = env.step(0)
    assert (step.reward, step.info["reward_components"]) == (2.5, {"environment": 2.0, "function": 0.5})


def test_the_contract_of_environments_holds_with_it():
    report = check_env(lambda: RubricReward(ludus.make("CartPole-v1"), rubric()))
    assert [one for one in report.findings if one.level == "error"] == []


def test_a_snapshot_has_the_episode_so_far():
    env = RubricReward(ludus.make("CartPole-v1", max_episode_steps=3), rubric())
    env.reset(seed=0)
    env.step(0)
    kept = env.snapshot()
    first = [env.step(0).reward for _ in range(2)]
    env.restore(kept)
    assert [env.step(0).reward for _ in range(2)] == first


def test_parts_are_served_by_name_and_recorded():
    def made():
        return RubricReward(ludus.make("CartPole-v1", max_episode_steps=2), rubric())

    with ludus.serve(made, port=0, block=False) as server, ludus.connect(server.url) as env:
        env.reset(seed=SEED)
        steps = [env.step(1) for _ in range(2)]
    assert [(one.reward, one.info["reward_components"], one.info["rubric"]) for one in steps] == alone(
        [1, 1], SEED, limit=2
    )
