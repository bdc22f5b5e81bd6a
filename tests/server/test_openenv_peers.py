"""OpenEnv's stock packages, 0.10.0 and 0.3.0, against our server: their clients, their validator, their old ways."""

import json
import subprocess
from pathlib import Path

import pytest

from ludus.server.config import ServerConfig
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from tests.sampling import covering
from tests.server.openenv_peers import SECONDS, VERSIONS, python_of, quiet, run
from tests.server.openenv_worlds import ANSWERS, Riddle

pytestmark = [
    pytest.mark.no_cover,
    pytest.mark.xdist_group("openenv"),
    pytest.mark.in_turns("version"),
]
BOTH = pytest.mark.parametrize("version", VERSIONS)
TARGETS = ("CartPole-v1", "open/Echo-v0", "open/EchoTools-v0")
MORE = ("FrozenLake-v1", "Pendulum-v1", "Blackjack-v1")


@pytest.fixture(scope="module")
def running():
    with serve(ServedEnv(Riddle, "riddle"), *TARGETS, *MORE, port=0, block=False) as running:
        yield running


@pytest.fixture(scope="module", params=VERSIONS)
def met(request, running):
    """What the stock client of any environment met."""
    return run(request.param, "generic", running.url)


def check_episode(episode, number, place):
    (begun, no_reward, not_done), wrong, right, state = episode
    index = (number + place) % 3
    assert (begun["riddle"], no_reward, not_done) == (index, None, False)
    assert (wrong[1], wrong[2]) == (pytest.approx(-0.1), False)
    assert (right[1], right[2]) == (pytest.approx(0.8), True)
    assert (state["episode_id"], state["step_count"], state["tries"]) == (f"{number}-{place}", 2, 2)
    assert state["answer"] == ANSWERS[index]


def test_the_stock_client_plays_several_episodes(met):
    assert len(met["episodes"]) == 3
    for place, episode in enumerate(met["episodes"]):
        check_episode(episode, 0, place)


def test_stock_clients_at_once_have_each_their_own_episode(met):
    assert len(met["at once"]) == 12
    for number, episodes in enumerate(met["at once"]):
        for place, episode in enumerate(episodes):
            check_episode(episode, number, place)


def test_the_stock_client_gets_over_errors(met):
    errors, (_, reward, done) = met["errors"]
    assert len(errors) == 4
    assert all("VALIDATION_ERROR" in one for one in errors)
    assert (reward, done) == (pytest.approx(0.9), True)


def test_the_stock_client_works_without_async(met):
    begun, stepped, state = met["synchronous"]
    assert begun[0] == {"riddle": 1, "hint": "think", "metadata": {}}
    assert (stepped[1], stepped[2], state["step_count"]) == (pytest.approx(0.9), True, 1)


@BOTH
def test_a_typed_client_finds_no_field_that_it_does_not_know(running, version):
    assert run(version, "typed", running.url) == [2, "well", pytest.approx(0.9), True, 1, 1]


def test_a_client_of_the_oldest_kind_holds_its_episode_by_the_cookie(running):
    for rewards, mine, other in run("0.3.0", "legacy", running.url):
        assert rewards == pytest.approx([-0.1, -0.2, -0.3, -0.4])
        assert (mine, other) == (4, 0)


PLANS = {
    "riddle": ({"index": 1}, [{"answer": "no"}, {"answer": "an echo"}]),
    "CartPole-v1": ({}, [{"action": number % 2} for number in range(9)]),
    "FrozenLake-v1": ({}, [{"action": 1}, {"action": 2}]),
    "Pendulum-v1": ({}, [{"action": [0.5]}, {"action": [-0.5]}]),
    "Blackjack-v1": ({}, [{"action": 0}]),
    "open/Echo-v0": ({}, [{"message": "hi"}]),
    "open/EchoTools-v0": ({}, [{"tool": "echo_message", "arguments": {"message": "hi"}}]),
}


CHECKS = ("runtime.observation_schema", "runtime.reward_well_formed", "runtime.state_contract")


def test_the_stock_graders_find_rewards_observations_and_states_in_order(running):
    plans = {}
    for name, (options, actions) in PLANS.items():
        reset = {"episode_id": "measured", "seed": 3, "options": options}
        plans[f"{running.url}/env/{name}"] = {"plan_schema_version": "1", "reset": reset, "actions": actions}
    for url, judged in run("0.10.0", "graders", json.dumps(plans)).items():
        assert (url, judged["failure"]) == (url, None)
        assert judged["exchanges"] >= 4
        passed = {check for check, (status, _) in judged["checks"].items() if status == "pass"}
        assert passed == set(CHECKS), (url, judged["checks"])


@covering("version, path", VERSIONS, ["", "/env/open/EchoTools-v0"], strength=1)
def test_the_stock_validator_passes_every_criterion(running, version, path):
    command = [str(Path(python_of(version)).with_name("openenv")), "validate", "--json", "--url"]
    done = subprocess.run(
        [*command, f"{running.url}{path}"], capture_output=True, text=True, timeout=SECONDS, env=quiet(), check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    report = json.loads(done.stdout)
    assert report["passed"] is True
    assert len(report["criteria"]) >= 6
    assert [one["id"] for one in report["criteria"] if not one["passed"]] == []


@pytest.fixture(scope="module")
def two_processes():
    config = ServerConfig(workers=2, isolation="none")
    with serve("tests.server.openenv_worlds:Riddle", port=0, block=False, config=config) as running:
        yield running


def test_with_two_processes_every_session_is_found(two_processes):
    assert [mine for _, mine, _ in run("0.3.0", "legacy", two_processes.url)] == [4, 4]


@pytest.mark.full  # a connection stays with its process, whatever the client: those of one process are tried each run
def test_with_two_processes_connections_have_their_own_episodes(two_processes):
    for number, episodes in enumerate(run("0.10.0", "generic", two_processes.url)["at once"]):
        for place, episode in enumerate(episodes):
            check_episode(episode, number, place)
