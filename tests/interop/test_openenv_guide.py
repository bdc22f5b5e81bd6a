"""Programs of OpenEnv's guide, with only their import changed, and a typed client of each of the twelve."""

import warnings
from contextlib import contextmanager

import pytest

from ludus.errors import InvalidArgument, SandboxUnavailable
from ludus.interop.openenv import envs
from ludus.interop.openenv.envs import (
    BrowserAction,
    BrowserGymEnv,
    ChatAction,
    CodeAction,
    CodingEnv,
    EchoAction,
    EchoEnv,
    GitEnv,
    OpenSpielAction,
    OpenSpielEnv,
    clone_repo,
    execute_git_command,
    list_repos,
)
from ludus.server import serve

CLIENTS = [one for name, one in vars(envs).items() if name.endswith("Env") and name in envs.__all__]
ACTIONS = {
    "open/Echo-v0": EchoAction("hello"),
    "open/OpenSpiel-v0": OpenSpielAction(1),
    "open/Connect4-v0": envs.Connect4Action(3),
    "open/Atari-v0": envs.AtariAction(0),
    "open/BrowserGym-v0": BrowserAction("noop()"),
    "open/Coding-v0": CodeAction("print(1)"),
    "open/Chat-v0": ChatAction(message="Hello"),
    "open/Git-v0": list_repos(),
    "open/FinRL-v0": envs.FinRLAction([0.0] * 5),
    "open/SumoRL-v0": envs.SumoAction(0),
    "open/TextArena-v0": envs.TextArenaAction("[crane]"),
    "open/DIPGSafety-v0": envs.DIPGAction("none"),
}


@contextmanager
def told_that_it_is_served_here(name):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    [one] = [str(one.message) for one in heard if "no such image" in str(one.message)]
    assert one.startswith(name)


def test_echo():
    with told_that_it_is_served_here("echo-env:latest"):
        client = EchoEnv.from_docker_image("echo-env:latest")
        result = client.reset()
        result = client.step(EchoAction(message="Hello!"))
    assert result.observation.echoed_message == "Hello!"
    assert result.reward == pytest.approx(0.6)
    client.close()


def test_code():
    with told_that_it_is_served_here("coding-env:latest"):
        client = CodingEnv.from_docker_image("coding-env:latest")
        client.reset()
        result = client.step(CodeAction(code="print(2 + 2)"))
    assert (result.observation.stdout, result.observation.exit_code) == ("4\n", 0)
    client.close()


def test_repositories():
    with told_that_it_is_served_here("git-env:latest"):
        client = GitEnv.from_docker_image("git-env:latest", task="tag_release")
        client.reset()
        repos = client.step(list_repos())
    name = repos.observation.repos[0]["name"]
    assert client.step(clone_repo(name)).observation.success
    status = client.step(execute_git_command("git status", f"/workspace/{name}"))
    assert status.observation.output.startswith("On branch")
    client.close()


def test_blackjack():
    with told_that_it_is_served_here("openspiel-env:latest"):
        env = OpenSpielEnv.from_docker_image("openspiel-env:latest", game="blackjack")
        obs = env.reset()
    rewards = []
    for _ in range(3):
        obs, done = env.reset(), False
        while not done:
            result = env.step(OpenSpielAction(action=obs.observation.legal_actions[-1]))
            obs, done = result, result.done
        rewards.append(result.reward)
    assert set(rewards) <= {-1.0, 0.0, 1.0}
    assert env.state().game_name == "blackjack"
    env.close()


@pytest.mark.xdist_group("browsergym")
def test_a_browser():
    with told_that_it_is_served_here("browsergym-env:latest"):
        env = BrowserGymEnv.from_docker_image("browsergym-env:latest", task_name="click-test")
        obs = env.reset()
    assert obs.observation.goal
    result = env.step(BrowserAction(action="scroll down"))
    assert (result.done, result.observation.last_action_error) == (False, False)
    env.close()


@pytest.mark.xdist_group("browsergym")
def test_each_of_the_twelve_has_a_client_that_gives_its_own_observations():
    assert {one.env_id for one in CLIENTS} == set(ACTIONS)
    with serve(*ACTIONS, port=0, block=False) as server:
        for kind in CLIENTS:
            with kind(base_url=f"{server.url}/env/{kind.env_id}") as client:
                first, step = client.reset(seed=1), client.step(ACTIONS[kind.env_id])
                assert type(first.observation) is type(step.observation) is kind.observation
                assert client.state().step_count == 1


def test_what_no_image_and_no_guide_has_is_not_served():
    with pytest.raises(SandboxUnavailable, match="expected one that is on this machine"):
        EchoEnv.from_docker_image("quiet-env:latest").reset()
    with pytest.raises(InvalidArgument, match="expected arguments of open/OpenSpiel-v0 by name"):
        OpenSpielEnv.from_docker_image("openspiel-env:latest", env_vars={"OPENSPIEL_GAME": "chess"}).reset()
    with pytest.raises(InvalidArgument, match="expected env_vars for a container, got game"):
        OpenSpielEnv.from_docker_image("openspiel-env:latest", provider=object(), game="chess")
