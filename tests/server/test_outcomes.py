"""Outcomes, facts and components of rewards reach whoever asks: by our protocol, by OpenEnv's and by MCP."""

import httpx
import numpy as np
import pytest

import ludus
from ludus.core import Env, Outcome, Step
from ludus.errors import ContractViolation, EnvError
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from ludus.spaces import Box, Discrete
from ludus.tools import ToolEnv, tool

WIN, LOSE, TYPO, RAISE, CODE = range(5)


class Locksmith(Env):
    """A lock that opens, breaks, or says what nobody understands."""

    observation_space, action_space = Box(0.0, 9.0, (1,), np.float64), Discrete(6)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1), {}

    def step(self, action):
        seen = np.ones(1)
        if action == WIN:
            parts = {"open": 1.0, "noise": -0.25}
            return Step.success(seen, 0.75, facts={"picked": True}, reward_components=parts)
        if action == LOSE:
            return Step.ending(seen, "budget", facts={"picks": 0})
        if action == TYPO:
            return Step.termination(seen, 0.0, {"outcome": "opened"})
        if action == RAISE:
            raise RuntimeError("the key broke off")
        return Step.termination(seen, 0.0, {"outcome": Outcome.FAILURE.code})


class Workshop(ToolEnv):
    """The same by a tool."""

    @tool
    def turn(self, how: str) -> str:
        """Turn the key.

        Args:
            how: Gently, or not.
        """
        return f"turned {how}"

    def step(self, action):
        step = super().step(action)
        return Step.success(step.observation, 0.5, facts={"turns": 1})


@pytest.fixture(scope="module")
def running():
    with serve(ServedEnv(Locksmith, "lock"), ServedEnv(Workshop, "shop"), port=0, block=False) as running:
        yield running


def test_one_environment_at_a_server_tells_what_it_tells_here(running):
    with ludus.connect(running.url, env="lock") as env:
        for action in (WIN, LOSE, CODE):
            env.reset(seed=0)
            given = env.step(action)
            with ludus.make(Locksmith) as own:
                own.reset(seed=0)
                assert given.info == own.step(action).info
            assert type(given.info["outcome"]) is Outcome


def test_a_batch_at_a_server_has_the_column_of_any_other(running):
    with ludus.connect(running.url, 4, env="lock", autoreset_mode="SameStep") as envs:
        envs.reset(seed=0)
        step = envs.step(np.array([WIN, LOSE, CODE, WIN]))
        final = step.info["final_info"]
        assert (final["outcome"].dtype, final["outcome"].tolist()) == (np.int8, [1, 4, 2, 1])
        assert final["_outcome"].all()
        assert final["reward_components"]["noise"].tolist() == [-0.25, 0.0, 0.0, -0.25]
        assert final["_facts"].tolist() == [True, True, False, True]


def test_what_is_no_outcome_is_the_environments_fault(running):
    with ludus.connect(running.url, env="lock") as env:
        env.reset(seed=0)
        with pytest.raises(ContractViolation, match="got 'opened'") as caught:
            env.step(TYPO)
        assert Outcome.after(caught.value) is Outcome.ENVIRONMENT_FAILED


def test_an_environment_that_raises_stays_an_error_that_says_who_failed(running):
    with ludus.connect(running.url, env="lock") as env:
        env.reset(seed=0)
        with pytest.raises(EnvError, match="the key broke off") as caught:
            env.step(RAISE)
        assert Outcome.after(caught.value) is Outcome.ENVIRONMENT_FAILED


def test_openenv_has_it_in_the_metadata(running):
    with httpx.Client(base_url=f"{running.url}/env/lock") as http:
        http.post("/reset", json={})
        reply = http.post("/step", json={"action": WIN}).json()
        assert reply["metadata"]["outcome"] == "success"
        assert reply["metadata"]["facts"] == {"picked": True}
        assert reply["reward_components"] == {"open": 1.0, "noise": -0.25}
        http.post("/reset", json={})
        assert http.post("/step", json={"action": CODE}).json()["metadata"] == {"outcome": "failure"}
        http.post("/reset", json={})
        assert http.post("/step", json={"action": TYPO}).status_code == 500


def test_the_results_of_tools_have_it_in_their_meta(running):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    asked["params"] = {"name": "turn", "arguments": {"how": "gently"}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with httpx.Client(base_url=f"{running.url}/env/shop") as http:
        begun = http.post("/mcp", json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        names = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        meta = http.post("/mcp", json=asked, headers=names).json()["result"]["_meta"]
    assert (meta["outcome"], meta["facts"], meta["terminated"]) == ("success", {"turns": 1}, True)
