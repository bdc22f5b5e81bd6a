"""Many sessions while connections are cut in mid-frame, clients vanish and a server process is killed.

Sixty of them in each run, two hundred in `make test-full`. Whoever is not hit by the death of a process loses
nothing: every history is compared with that of an environment here. In the end no session, process, descriptor or
segment of shared memory is left.
"""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

import ludus
from ludus.client import aconnect
from ludus.errors import LudusError, SessionLost
from ludus.server import ServerConfig
from tests.client.proxies import CuttingProxy, budgets
from tests.patience import PATIENCE_S as PATIENCE
from tests.patience import until

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("soak")]

FEW, MANY = 32, 200
STEPS = 120
VANISHING = 10
"""Of a hundred sessions those whose client leaves without a word, half-way."""
SPARE = 16
"""Descriptors that a process may have more than before: connections to its neighbours, which are kept for a while."""


def children(pid):
    """The processes that a process started, by id."""
    with suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def innermost(pid):
    """The process that runs the environment, under those that keep it."""
    below = children(pid)
    return innermost(below[-1]) if below else pid


def supervisor_of(before):
    """The process of ours that was not there before and has children: the one that keeps the workers."""
    for pid in set(children(os.getpid())) - before:
        for one in (pid, *children(pid)):
            if len(children(one)) >= 3:
                return one
    raise AssertionError("no supervisor was found")


def shared():
    """Segments of shared memory, but for those of browsers in other tests."""
    return {name for name in os.listdir("/dev/shm") if "chromium" not in name}


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def expected(seed):
    """The history of an environment in this process."""
    env = ludus.make("CartPole-v1")
    history = [env.reset(seed=seed)[0].tobytes()]
    for number in range(STEPS):
        observation, reward, terminated, truncated, _ = env.step(number * 7 % 11 & 1)
        history.append((observation.tobytes(), reward, terminated, truncated))
        if terminated or truncated:
            history.append(env.reset()[0].tobytes())
    return history


async def live(url, seed, gate, halfway):
    """What one client sees: its session's number, its history, and how often its connection was lost."""
    async with gate:
        env = await aconnect(url, timeout=PATIENCE)
    worker, history = env.session.partition(".")[0], []
    try:
        history.append((await env.reset(seed=seed))[0].tobytes())
        for number in range(STEPS):
            if number == STEPS // 2:
                halfway.append(worker)
                if seed % 100 < VANISHING:
                    env._line._stream._transport.abort()
                    return worker, "vanished", env.resumed
            observation, reward, terminated, truncated, _ = await env.step(number * 7 % 11 & 1)
            history.append((observation.tobytes(), reward, terminated, truncated))
            if terminated or truncated:
                observation, info = await env.reset()
                if "session_reopened" in info:
                    raise SessionLost(info["session_reopened"])
                history.append(observation.tobytes())
            await asyncio.sleep(0.02)
    except LudusError as error:
        history = error
    with suppress(LudusError):
        await env.close()
    return worker, history, env.resumed


async def storm(url, victim, sessions):
    """All clients at once; a server process is killed when half of them are half-way."""
    gate, halfway = asyncio.Semaphore(32), []
    tasks = [asyncio.create_task(live(url, seed, gate, halfway)) for seed in range(sessions)]
    while len(halfway) < sessions // 2 and not all(task.done() for task in tasks):
        await asyncio.sleep(0.05)
    os.kill(victim, signal.SIGKILL)
    return await asyncio.gather(*tasks)


@pytest.mark.parametrize("sessions", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
def test_the_sessions_of_living_workers_lose_nothing_and_nothing_leaks(sessions):
    before, segments = set(children(os.getpid())), shared()
    config = ServerConfig(workers=3, idle_seconds=60.0, resume_seconds=20.0, max_sessions=sessions)
    with ludus.serve("CartPole-v1", port=0, block=False, config=config) as running:
        supervisor = supervisor_of(before)
        workers = children(supervisor)
        victim, spared = workers[1], [workers[0], workers[2]]
        httpx.get(f"{running.url}/health").raise_for_status()
        baseline = {pid: descriptors(pid) for pid in spared}
        with CuttingProxy(int(running.url.rpartition(":")[2]), budgets(7, 2_500, 6_000)) as proxy:
            seen = asyncio.run(storm(proxy.url, victim, sessions))
        lost = [(worker, what) for worker, what, _ in seen if isinstance(what, LudusError)]
        assert all(isinstance(what, SessionLost) for _, what in lost), lost[:3]
        assert len({worker for worker, _ in lost}) == 1, "only the sessions of the process that was killed"
        whole = [(seed, what) for seed, (_, what, _) in enumerate(seen) if isinstance(what, list)]
        assert len(whole) + len(lost) + sum(what == "vanished" for _, what, _ in seen) == sessions
        assert len(whole) > sessions // 3
        for seed, history in whole:
            assert history == expected(seed), f"session with seed {seed}"
        assert proxy.cuts > sessions // 2
        assert sum(resumed for _, _, resumed in seen) > sessions // 2, "connections were cut, and went on"
        until(lambda: httpx.get(f"{running.url}/v1/sessions").json()["sessions"] == [], "sessions that nobody wants go")
        assert set(spared) < set(children(supervisor)), "what lives goes on, and what died was started again"
        assert len(children(supervisor)) == len(workers)
        until(lambda: all(descriptors(pid) <= baseline[pid] + SPARE for pid in spared), "descriptors go")
    until(lambda: not (set(children(os.getpid())) - before), "processes end with their server")
    until(lambda: shared() <= segments, "segments of shared memory go with their processes")


def test_an_environment_whose_process_is_killed_is_cut_and_the_others_go_on():
    config = ServerConfig(isolation="process", idle_seconds=120.0)
    with ludus.serve("GridWorld-v0", port=0, block=False, config=config) as running:
        envs = [ludus.connect(running.url) for _ in range(4)]
        hosted = [one.hosted.env for one in running.server.sessions._sessions.values()]
        started = [one._link.env_process.process.pid for one in hosted]
        for seed, env in enumerate(envs):
            env.reset(seed=seed)
        os.kill(innermost(started[0]), signal.SIGKILL)
        steps = [env.step(1) for env in envs]
        cut = [place for place, step in enumerate(steps) if step.truncated]
        assert len(cut) == 1
        assert "sandbox" in steps[cut[0]].info
        assert [step.observation.tolist() for place, step in enumerate(steps) if place not in cut] == [[1, 0]] * 3
        envs[cut[0]].reset(seed=cut[0])
        assert envs[cut[0]].step(1).observation.tolist() == [1, 0]
        for env in envs:
            env.close()
        until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in started), "processes end with their sessions")
