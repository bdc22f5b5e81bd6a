"""Sessions that are recorded: one file each, whole when they end, out of reach for whoever uses them."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.core import Env, Episode, Outcome, Step
from ludus.errors import InvalidArgument, LudusError, ServerBusy
from ludus.server import ServerConfig, serve
from ludus.server.access import Principal
from ludus.server.recorder import SessionRecorder, new_file
from ludus.server.served_env import ServedEnv
from ludus.server.sessions import Sessions
from ludus.spaces import Discrete
from ludus.trajectory import Run, replay

ME = Principal("orchestrator", "me")


class Vault(Env):
    """A stranger's environment with a secret, and an attribute of the recorder's own name."""

    observation_space, action_space = Discrete(100), Discrete(5)
    state_private = ("combination",)
    path = "the vault's own path"

    def __init__(self, fail_at: int = 99) -> None:
        self.combination, self.count, self.fail_at = 424242, 0, fail_at

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return 0, {}

    def step(self, action):
        self.count += 1
        if self.count == self.fail_at:
            raise RuntimeError("the vault is stuck")
        return Step(self.count, float(action), self.count == 4, False, {})


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ludus"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "records"


def test_every_session_of_a_server_leaves_a_file_that_replays(folder):
    with serve("CartPole-v1", port=0, block=False, config=ServerConfig(record=str(folder))) as running:
        with ludus.connect(running.url) as env:
            env.reset(seed=3)
            for action in (0, 1, 1):
                env.step(action)
        with ludus.connect(running.url, 3) as envs:
            envs.reset(seed=4)
            for _ in range(40):
                envs.step(np.array([0, 1, 0]))
    runs = sorted((Run.open(path) for path in files(folder)), key=lambda run: run.header.lanes)
    assert [run.header.lanes for run in runs] == [1, 3]
    assert runs[0][0].actions.tolist() == [0, 1, 1]
    assert [run.missing for run in runs] == ["", ""]
    assert all(replay(run) for run in runs)
    assert runs[0].header.metadata["served"] == "CartPole-v1"
    assert folder.stat().st_mode & 0o077 == 0


def test_nothing_is_recorded_unless_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serve("GridWorld-v0", port=0, block=False) as running, ludus.connect(running.url) as env:
        env.reset(seed=0)
    assert list(tmp_path.rglob("*.ludus")) == []


def why(told):
    return next(fields["why"] for name, fields in told if name == "unrecorded")


def in_session(target, config, work, **wish):
    async def run():
        sessions = Sessions([ServedEnv(target, config=config)], config)
        told = []
        sessions.listeners.append(lambda name, fields: told.append((name, fields)))
        session = await sessions.open("", ME, **wish)
        try:
            found = await session.call(work)
            await asyncio.sleep(0)
            return found, told
        finally:
            await sessions.stop()

    return asyncio.run(run())


def test_whoever_uses_a_session_does_not_see_the_recorder_nor_private_state_in_the_file(folder):
    config = ServerConfig(record=str(folder), record_level="full")

    def use(hosted):
        assert isinstance(hosted.env, SessionRecorder)
        hosted.reset(seed=0)
        hosted.step(3)
        for name in ("add_blob", "record", "flush", "level", "_writer"):
            assert not hosted.env.has_wrapper_attr(name)
            with pytest.raises(AttributeError):
                hosted.env.get_wrapper_attr(name)
        return hosted.env.get_wrapper_attr("path")

    assert in_session(Vault, config, use)[0] == "the vault's own path"
    (path,) = files(folder)
    with Run.open(path) as run:
        assert run[0].observations.tolist() == [0, 1]
        archive = run._archive
        assert not any(b"424242" in archive.read(name) for name in archive.names())


def test_a_recording_stops_at_its_bytes_and_the_session_goes_on(folder):
    config = ServerConfig(record=str(folder), record_bytes=1000)

    def use(hosted):
        hosted.reset(seed=0)
        for _ in range(3):
            hosted.step(1)
            hosted.env._writer.flush() if hosted.env._recording else None
        return hosted.step(2).observation, hosted.env._recording

    (seen, recording), told = in_session(Vault, config, use)
    assert (seen, recording) == (4, False)
    assert why(told).startswith("expected at most 1000 bytes")
    (path,) = files(folder)
    run = Run.open(path)
    assert run.missing == ""
    assert [event.kind for event in run.events()] == ["limit"]
    assert run[0].outcome is Outcome.ABORTED


def test_a_disk_that_fails_ends_the_recording_and_no_step_is_lost(folder):
    def use(hosted):
        hosted.reset(seed=0)
        hosted.env._writer._archive._file.close()
        with pytest.raises(LudusError):
            hosted.env._writer.flush()
        return [hosted.step(1).observation, hosted.step(1).observation], hosted.reset(seed=1).observation

    found, told = in_session(Vault, ServerConfig(record=str(folder)), use)
    assert found == ([1, 2], 0)
    assert "recording stopped" in why(told)


def test_an_environment_that_fails_is_an_outcome_of_its_own_in_the_file(folder):
    def use(hosted):
        hosted.reset(seed=0)
        hosted.step(1)
        with pytest.raises(RuntimeError, match="stuck"):
            hosted.step(1)

    in_session(lambda: Vault(fail_at=2), ServerConfig(record=str(folder)), use)
    (path,) = files(folder)
    assert [episode.outcome for episode in Run.open(path)] == [Outcome.ENVIRONMENT_FAILED]


def test_snapshots_and_forks_work_as_without_and_the_file_says_that_a_state_came_from_elsewhere(folder):
    async def run():
        config = ServerConfig(record=str(folder))
        sessions = Sessions([ServedEnv("CartPole-v1", config=config)], config)
        session = await sessions.open("", ME, lanes=2)
        await session.call(lambda hosted: hosted.reset(seed=1))
        number = await session.call(lambda hosted: hosted.keep())
        await session.call(lambda hosted: hosted.step(np.array([0, 1])))
        twins = [await sessions.fork(session, number, ME), await sessions.fork(session, 0, ME, lanes=[1, 1, 0])]
        seen = [
            await twin.call(lambda hosted: hosted.step(hosted.action_space.batch(hosted.env.num_envs).sample()))
            for twin in twins
        ]
        await sessions.stop()
        return [len(one.observation) for one in seen]

    assert asyncio.run(run()) == [2, 3]
    assert len(files(folder)) == 3
    assert all(Run.open(path).missing == "" for path in files(folder))


def test_the_seeds_that_a_clients_plan_gives_are_in_the_file(folder):
    config = ServerConfig(record=str(folder))
    with serve("CartPole-v1", port=0, block=False, config=config) as running:
        plan = lambda lane, number: Episode(seed=100 * lane + number)  # noqa: E731
        with ludus.connect(running.url, 2, episodes=plan) as envs:
            envs.reset(seed=1)
            for _ in range(60):
                envs.step(np.array([0, 1]))
    (path,) = files(folder)
    run = Run.open(path)
    assert len({episode.seed for episode in run}) > 3
    assert {episode.seed // 100 for episode in run if episode.seed >= 100} == {1}
    assert replay(run)


def test_names_never_lead_out_of_the_folder_and_the_number_of_files_has_an_end(tmp_path):
    for name in ("../../etc/passwd", "a/b", "..", "", "\0", "ö" * 300, "open/Echo-v0"):
        path = new_file(tmp_path, name, 10)
        assert path.parent == tmp_path
        assert len(path.name) < 120
        assert path.name.isascii()
    for place in range(3):
        (tmp_path / f"{place}.ludus").touch()
    with pytest.raises(ServerBusy, match="expected fewer than 3 recordings"):
        new_file(tmp_path, "x", 3)


def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_served(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidArgument, match="record: expected a folder"):
        serve("GridWorld-v0", port=0, block=False, config=ServerConfig(record=str(tmp_path / "file")))
    with pytest.raises(InvalidArgument, match="record_level: expected one of"):
        ServerConfig(record_level="everything")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_is_ended_leaves_a_file_that_opens(folder, number):
    command = [sys.executable, "-c", "from ludus.cli.main import app; app()", "serve", "GridWorld-v0", "--port", "0"]
    with subprocess.Popen([*command, "--record", folder], stdout=subprocess.PIPE, text=True) as child:
        url = child.stdout.readline().split()[0]
        env = ludus.connect(url)
        env.reset(seed=0)
        env.step(1)
        (path,) = files(folder)
        while Run.open(path).chunks.rows < 2:  # written within half a second
            pass
        child.send_signal(number)
        child.wait(60)
    run = Run.open(path)
    assert run[0].actions.tolist() == [1]
    assert bool(run.missing) is (number == signal.SIGKILL)
