"""The same environment in every sandbox of one machine: it steps alike, and what it may not do, it cannot."""

import socket

import pytest

import ludus
from ludus.sandbox import Deadlines, Limits, Sandbox
from ludus.sandbox.environment import ForkServer, isolate, isolate_vec
from ludus.testing.history import first_difference, play
from tests.sandbox.neighbours import DWELLER, FOLDER

pytestmark = pytest.mark.no_cover
backends = pytest.mark.parametrize("backend", ["process", "landlock", "bubblewrap"])


def box(backend, **limits):
    return Sandbox(backend, limits=Limits(wall=None, **limits))


@backends
def test_the_history_is_that_of_the_environment_itself(backend):
    with isolate("CartPole-v1", sandbox=box(backend)) as env:
        assert first_difference(play(ludus.make("CartPole-v1"), seed=3, steps=60), play(env, seed=3, steps=60)) is None
        assert env.guarantees.backend == backend


@backends
def test_batches_are_those_of_one_process(backend):
    with isolate_vec("CartPole-v1", sandbox=box(backend), num_envs=3, workers=2) as envs:
        expected = play(ludus.make_vec("CartPole-v1", 3), seed=3, steps=40)
        assert first_difference(expected, play(envs, seed=3, steps=40)) is None


@backends
@pytest.mark.parametrize(("deed", "limit"), [("hang", "deadline"), ("exit", None), ("eat", "memory")])
def test_an_end_is_told(backend, deed, limit):
    deadline = Deadlines(step=4.0 if deed == "hang" else 60.0)
    where = box(backend, memory=300 << 20)
    with isolate(DWELLER, {"deed": deed}, where, paths=[FOLDER], deadline=deadline) as env:
        env.reset(seed=0)
        if deed == "eat" and "cgroup" not in env.guarantees.memory:
            with pytest.raises(ludus.errors.EnvError, match="MemoryError"):
                env.step(2)
            return
        step = env.step(2)
        assert step.truncated
        assert step.info["sandbox"]["limit"] == limit
        assert step.info["sandbox"]["code"] == (3 if deed == "exit" else None)
        assert not env.reset(seed=0)[1]["options"]


@backends
def test_a_fork_server_spawns_behind_it(backend):
    server = ForkServer(DWELLER, {"deed": "exit"}, box(backend), paths=[FOLDER])
    with server, server.spawn() as env, server.spawn() as other:
        for one in (env, other):
            one.reset(seed=0)
        step = env.step(2)
        assert step.truncated
        assert step.info["sandbox"]["code"] == 3
        assert not other.step(0).truncated
        assert env.reset(seed=0)[0][0] == 0


def test_the_default_isolation_holds_files_and_network_off(tmp_path):
    marker = tmp_path / "marker"
    marker.write_text("here")
    with socket.create_server(("127.0.0.1", 0)) as listening, isolate("odd_dwellers:Prober", paths=[FOLDER]) as env:
        assert env.guarantees.boundary
        env.reset(seed=0, options={"marker": str(marker), "port": listening.getsockname()[1]})
        assert env.step(0).info == {"seen": False, "written": False, "connected": False, "open": [0, 1, 2, 3]}
