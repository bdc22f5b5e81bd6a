"""The open environments elsewhere: in a sandbox and at a server an episode is the one of this process."""

import re
from contextlib import ExitStack
from dataclasses import replace

import msgspec
import numpy as np
import pytest

import ludus
from ludus.envs.open.atari.policies import POLICIES as ATARI
from ludus.envs.open.chat.policies import POLICIES as CHAT
from ludus.envs.open.coding.policies import POLICIES as CODING
from ludus.envs.open.connect4.policies import POLICIES as CONNECT4
from ludus.envs.open.dipg_safety.policies import POLICIES as DIPG
from ludus.envs.open.echo_policies import POLICIES as ECHO
from ludus.envs.open.finrl.policies import POLICIES as FINRL
from ludus.envs.open.git.policies import POLICIES as GIT
from ludus.envs.open.openspiel.policies import POLICIES as OPENSPIEL
from ludus.envs.open.reasoning_gym.policies import POLICIES as REASONING
from ludus.envs.open.sumo.policies import POLICIES as SUMO
from ludus.envs.open.textarena.policies import POLICIES as TEXTARENA
from ludus.server.protocols.memory import LocalServer
from ludus.spaces.shown import shown
from ludus.testing import check_env
from ludus.testing.service import check_url

POLICIES = {
    "open/Connect4-v0": CONNECT4,
    "open/Atari-breakout-v0": ATARI,
    "open/Coding-v0": CODING,
    "open/DIPGSafety-v0": DIPG,
    "open/OpenSpiel-v0": OPENSPIEL,
    "open/OpenSpiel-leduc_poker-v0": OPENSPIEL,
    "open/TextArena-v0": TEXTARENA,
    "open/FinRL-v0": FINRL,
    "open/SumoRL-v0": SUMO,
    "open/ReasoningGym-v0": REASONING,
    "open/Chat-v0": CHAT,
    "open/Git-v0": GIT,
    "open/Echo-v0": ECHO,
}
IDS = list(POLICIES)
OUTERMOST = {"open/Git-v0"}
"""Whose own sandbox does not work inside of another one, and says so: in that one nobody sets the modes of files."""
REFUSED = r"got one around it already.*make it without\s+isolation"
SESSIONS, SOME, FEW = 64, 12, 4
"""Sessions in `make test-full`, in each run, and there of environments that start programs or load a console."""
SLOW = {"open/Atari-breakout-v0", "open/Coding-v0", "open/Git-v0", "open/SumoRL-v0"}


@pytest.fixture(scope="module")
def server():
    with LocalServer(*IDS) as server:
        yield server


def to_text(value):
    """As a stranger reads it; as bytes, since a picture has a hundred thousand numbers to compare."""
    return msgspec.json.encode(shown(value), order="sorted")


def history(env, name, policy="random", seed=7, most=6):
    """What an episode gives, as a stranger would read it; a policy that looks into the environment sees a local one."""
    rng, local = np.random.default_rng(seed), None
    observation, info = env.reset(seed=seed)
    told = [to_text(observation), to_text(info)]
    for _ in range(most):
        step = env.step(POLICIES[name][policy](local, observation, rng))
        observation = step.observation
        told.append(to_text(list(step)))
        if step.done:
            break
    env.close()
    return told


@pytest.mark.parametrize("name", IDS)
def test_an_episode_is_the_same_in_a_sandbox_and_at_a_server(name, server):
    here = history(ludus.make(name), name)
    if name in OUTERMOST:
        with pytest.raises(ludus.errors.LudusError, match=REFUSED):
            history(ludus.make(name, isolation="sandbox"), name)
    else:
        assert history(ludus.make(name, isolation="sandbox"), name) == here
    assert history(ludus.connect(server, env=name), name) == here


@pytest.mark.parametrize(
    ("name", "sessions"),
    [
        *((name, FEW if name in SLOW else SOME) for name in IDS),
        *(pytest.param(name, SESSIONS, marks=pytest.mark.full) for name in IDS),
    ],
)
def test_sessions_of_one_seed_have_one_task_each_its_own(name, sessions, server):
    with ExitStack() as stack:
        envs = [stack.enter_context(ludus.connect(server, env=name)) for _ in range(sessions)]
        begun = [shown(env.reset(seed=3)[0]) for env in envs]
        assert all(one == begun[0] for one in begun)
        rng = np.random.default_rng(0)
        first, _ = envs[0].reset(seed=3)
        action = POLICIES[name]["random"](None, first, rng)
        for env in envs[:2]:
            env.step(action)
        assert shown(envs[2].reset(seed=3)[0]) == begun[0]


@pytest.mark.parametrize("name", [IDS[0], *(pytest.param(name, marks=pytest.mark.full) for name in IDS[1:])])
def test_a_server_of_it_passes_the_check(name):
    with ludus.serve(name, port=0, block=False) as running:
        report = check_url(running.url)
        assert report.ok, str(report.whole)


ESSENTIAL = {"episodes-run", "fresh-instance-same-history", "episodes-see-nothing-of-others", "snapshot-is-exact"}
"""Rules without which a check in a sandbox would show nothing."""


@pytest.mark.full
@pytest.mark.parametrize("name", IDS)
def test_the_check_passes_in_a_sandbox(name):
    spec = ludus.spec(name)
    report = check_env(spec.replace(security=replace(spec.security, isolation="sandbox")), steps=20)
    if name in OUTERMOST:
        assert {finding.rule for finding in report.errors} == {"reset-returns-a-pair"}
        assert re.search(REFUSED, report.errors[0].message)
    else:
        assert report.ok, str(report)
        assert set(report.rules) >= ESSENTIAL
