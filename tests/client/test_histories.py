"""An environment at a server is an `Env` here: the same histories, spaces, attributes and contract."""

import numpy as np
import pytest

import ludus
from ludus.client import RemoteEnv, RemoteVectorEnv, connect
from ludus.core import AutoresetMode
from ludus.errors import EnvError
from ludus.spaces import Record
from ludus.testing import check_env
from ludus.testing.equality import difference
from ludus.testing.history import first_difference, play
from ludus.wrappers import TimeLimit
from tests.client.conftest import SERVED

IDS = [name for name in SERVED if ":" not in name]
PLAIN = [name for name in IDS if not name.startswith("open/")]


def history(env, seed=3, steps=80):
    """What it gives; a flag is a bool, whichever, and a record is its fields, whoever made its class."""
    events, space = play(env, seed=seed, steps=steps), env.observation_space
    seen = space.to_fields if isinstance(space, Record) else lambda observation: observation
    return [
        one._replace(observation=seen(one.observation), terminated=bool(one.terminated), truncated=bool(one.truncated))
        for one in events
    ]


@pytest.mark.parametrize("name", [*PLAIN, "open/Echo-v0", "tests.client.neighbours:Album"])
def test_the_history_is_that_of_the_environment_itself(server, name):
    with connect(server.url, env=name.rpartition(":")[2]) as env, ludus.make(name) as bare:
        assert isinstance(env, RemoteEnv)
        assert env.observation_space == bare.observation_space
        assert env.action_space == bare.action_space
        assert first_difference(history(bare), history(env)) is None


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "GridWorld-v0"])
def test_the_history_of_a_batch_is_that_of_the_batch_itself(server, name, mode):
    with (
        connect(server.url, 5, env=name, autoreset_mode=mode) as envs,
        ludus.make_vec(name, 5, autoreset_mode=mode) as bare,
    ):
        assert isinstance(envs, RemoteVectorEnv)
        assert envs.autoreset_mode is mode
        assert (envs.observation_space, envs.action_space) == (bare.observation_space, bare.action_space)
        assert difference(envs.reset(seed=4), bare.reset(seed=4), "reset") is None
        envs.action_space.seed(1)
        for number in range(150):
            actions = envs.action_space.sample()
            mine, theirs = envs.step(actions), bare.step(actions)
            assert difference(tuple(mine), tuple(theirs), f"step {number}") is None
            assert [one.dtype for one in mine[1:4]] == [np.float64, np.bool_, np.bool_]
            if mode is AutoresetMode.DISABLED and mine.done.any():
                mask = mine.done
                options = {"reset_mask": mask}
                assert difference(envs.reset(options=options), bare.reset(options=options), "reset") is None


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "open/Echo-v0", "GridWorld-v0"])
def test_it_keeps_the_contract(server, name):
    report = check_env(lambda **kwargs: connect(server.url, env=name, kwargs=kwargs), steps=30)
    # The generator stays at the server: nobody draws from it here.
    drawing = {"reset-continues-the-stream", "another-seed-another-history"}
    assert {finding.rule for finding in report.findings} <= drawing
    assert all("EnvError" in finding.message for finding in report.findings)


@pytest.mark.parametrize("options", [{"compression": "zstd"}])
def test_smaller_messages_carry_the_same(server, options):
    with connect(server.url, env="Album", **options) as env, connect(server.url, env="Album") as plain:
        assert first_difference(history(plain), history(env)) is None
        assert difference(plain.render(), env.render(), "picture") is None


def test_it_says_what_it_is(server):
    with connect(server.url, env="CartPole-v1") as env:
        assert env.metadata["render_modes"] == ["rgb_array", "ansi", "svg"]  # a window would open at the server
        assert env.render_mode == "rgb_array"
        assert env.spec is not None
        assert env.spec.id == "CartPole-v1"
        assert str(env) == "<RemoteEnv<CartPole-v1>>"
        env.reset(seed=1)
        assert env.render().shape[2] == 3
    with connect(server.url, env="FrozenLake-v1", kwargs={"render_mode": "ansi"}) as env:
        env.reset(seed=1)
        assert isinstance(env.render(), str)


def test_arguments_reach_the_constructor(server):
    with connect(server.url, env="GridWorld-v0", kwargs={"size": 3}) as env:
        assert env.reset(seed=0)[1]["goal"].tolist() == [2, 1]


def test_wrappers_go_around_it(server):
    with TimeLimit(connect(server.url, env="GridWorld-v0"), 3) as env:
        env.reset(seed=0)
        assert [env.step(0).truncated for _ in range(3)] == [False, False, True]


def test_streams_follow_from_the_seed(server):
    with connect(server.url, env="CartPole-v1") as env, ludus.make("CartPole-v1") as bare:
        assert env.np_random_seed >= 0  # what the server chose
        env.reset(seed=5)
        bare.reset(seed=5)
        assert env.np_random_seed == 5
        assert env.stream("noise").random() == bare.stream("noise").random()
        with pytest.raises(EnvError, match="lives with the environment, in another process"):
            _ = env.np_random
        with pytest.raises(EnvError, match="cannot travel"):
            env.np_random = np.random.default_rng(0)
    with connect(server.url, 2, env="CartPole-v1") as envs:
        envs.reset(seed=5)
        assert envs.np_random_seed == (5, 6)
        assert len(envs.stream("noise")) == 2


def test_the_address_may_name_the_environment(server):
    with connect(f"{server.url}/env/open/Echo-v0") as env:
        assert env.spec is not None
        assert env.spec.id == "open/Echo-v0"
    with connect(server.url.replace("http", "ws") + "/v1/ws") as env:
        assert env.spec is not None
        assert env.spec.id == SERVED[0]
