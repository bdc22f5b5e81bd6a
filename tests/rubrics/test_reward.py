"""`RubricReward`: the same rewards and infos in one environment and in a lane of a batch, in every autoreset mode."""

from threading import Lock

import httpx
import numpy as np
import pytest

import ludus
from ludus.core.info import lane_info
from ludus.errors import InvalidType
from ludus.rubrics import EpisodeRubric, Rubric, RubricReward, WeightedSum
from ludus.server.config import ServerConfig
from ludus.testing import check_env
from ludus.trajectory import Recorder, Run

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


class Upright(Rubric):
    """What somebody else would write: a class with another inside, and a lock that cannot be copied."""

    def __init__(self):
        self.lasted, self.lock = EpisodeRubric(lambda steps: float(len(steps)), discount=0.5), Lock()

    def score(self, transition):
        return 1.0 - abs(float(transition.observation[2])) + self.lasted(transition)

    def step_rewards(self):
        return self.lasted.step_rewards()


def made():
    return RubricReward(ludus.make("CartPole-v1", max_episode_steps=2), Upright())


def told(env):
    """Two episodes of two steps, as far as the rubric says something of them."""
    found = []
    for number in range(2):
        env.reset(seed=SEED + number)
        found += [env.step(1) for _ in range(2)]
    return [
        (one.reward, *(one.info.get(name) for name in ("reward_components", "rubric", "step_rewards"))) for one in found
    ]


def test_a_rubric_of_ones_own_says_the_same_in_a_sandbox_and_served_from_one():
    expected = told(made())
    assert [one[3] for one in expected] == [None, [1.0, 2.0]] * 2
    assert [one[2]["upright.lasted"] for one in expected] == [0.0, 2.0] * 2
    with ludus.make(f"{__name__}:made", isolation="sandbox") as env:
        assert told(env) == expected
    config = ServerConfig(isolation="sandbox")
    with (
        ludus.serve(f"{__name__}:made", port=0, block=False, config=config) as server,
        ludus.connect(server.url) as env,
    ):
        assert told(env) == expected


def test_parts_are_recorded_by_name_here_and_at_a_server(tmp_path):
    expected = told(made())
    with Recorder(made(), tmp_path / "here.ludus", "full") as env:
        told(env)
    config = ServerConfig(record=str(tmp_path / "there"), record_level="full")
    with ludus.serve(made, port=0, block=False, config=config) as server, ludus.connect(server.url) as env:
        told(env)
    [there] = (tmp_path / "there").glob("*.ludus")
    for path in (tmp_path / "here.ludus", there):
        infos = [info for episode in Run.open(path) for info in episode.infos[1:]]
        assert [(one["reward_components"], one["rubric"], one.get("step_rewards")) for one in infos] == [
            one[1:] for one in expected
        ]


def test_openenvs_clients_and_callers_of_tools_are_told_the_parts():
    parts = WeightedSum({"said": lambda: 0.5, "long": lambda: 0.25}, {"said": 1, "long": 2})

    def world():
        return RubricReward(ludus.make("open/EchoTools-v0"), parts)

    with ludus.serve(world, port=0, block=False) as server, httpx.Client(base_url=server.url, timeout=60) as http:
        http.post("/reset", json={})
        call = {"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": "hi"}}
        assert http.post("/step", json={"action": call}).json()["reward_components"] == {"said": 0.5, "long": 0.5}
        params = {"name": "echo_message", "arguments": {"message": "hi"}}
        told = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).json()
        assert told["result"]["meta"]["reward_components"] == {"said": 0.5, "long": 0.5}


def test_a_rubric_that_cannot_be_copied_is_refused_for_a_batch_with_the_reason():
    with pytest.raises(InvalidType, match=r"can be copied for each lane, got upright: .*lock.*__deepcopy__"):
        RubricReward(ludus.make_vec("CartPole-v1", 2), Upright())
