"""Nothing is left behind, however a batch or its program ends: no process, no memory, no file, no thread."""

import gc
import os
import select
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ludus.envs.teaching import GridWorld
from ludus.errors import ClosedEnvironment, WorkerFailure
from ludus.vector import ProcessVectorEnv, ThreadVectorEnv
from tests.vector.lanes import Troubled, unbuildable

ROOT = Path(__file__).parents[2]
CONTEXTS = pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
pytestmark = pytest.mark.no_cover


class Program:
    """A program of `tests.vector.programs`, in a group of its own, and the workers that it names."""

    def __init__(self, name, context="fork", **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.vector.programs", name, context],
            cwd=ROOT,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.workers = []

    def wait_for(self, *words):
        """Read lines until all of these have come."""
        missing = set(words)
        while missing:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            if line.startswith("workers"):
                self.workers += [os.pidfd_open(int(one)) for one in line.split()[1:]]
            missing.discard(line.strip())

    def end(self):
        """See the program and then all its workers end; gives the exit code and the rest of what was said."""
        out, err = self.process.communicate(timeout=60)
        for worker in self.workers:
            poll = select.poll()
            poll.register(worker, select.POLLIN)
            assert poll.poll(60_000), "a worker is still there"
            os.close(worker)
        return self.process.returncode, out, err


@pytest.fixture
def shm():
    before = set(os.listdir("/dev/shm"))
    yield
    assert {one for one in os.listdir("/dev/shm") if one.startswith(("sem.", "psm", "pym", "ludus"))} <= before


@pytest.fixture
def gate(tmp_path):
    os.mkfifo(tmp_path / "gate")
    return str(tmp_path / "gate")


@pytest.mark.in_turns("context")
@CONTEXTS
@pytest.mark.parametrize("name", ["idle", "busy"])
def test_workers_end_when_their_program_is_killed(name, context, shm):
    program = Program(name, context)
    program.wait_for("ready")
    program.process.kill()
    assert program.end()[0] == -signal.SIGKILL


def test_workers_that_take_no_hint_end_as_well():
    program = Program("stubborn")
    program.wait_for("ready", "at work 0", "at work 1")
    program.process.kill()
    assert program.end()[0] == -signal.SIGKILL


@pytest.mark.in_turns("context")
@CONTEXTS
@pytest.mark.parametrize(("name", "code"), [("ends", 0), ("raises", 1)])
def test_workers_end_with_a_program_that_does_not_close(name, code, context, shm):
    program = Program(name, context)
    program.wait_for("ready")
    found, _, err = program.end()
    assert (found, "Traceback" in err) == (code, bool(code))
    assert "leaked" not in err


def test_workers_end_when_the_batch_is_collected():
    program = Program("collected")
    program.wait_for("ready")
    for worker in program.workers:
        poll = select.poll()
        poll.register(worker, select.POLLIN)
        assert poll.poll(0)
    assert program.end() == (0, "", "")


@pytest.mark.parametrize("name", ["interrupted", "interrupted_threads"])
def test_a_batch_interrupted_in_a_step_goes_on_after_a_reset(name, gate):
    program = Program(name, GATE=gate)
    program.wait_for("at the gate")
    os.killpg(program.process.pid, signal.SIGINT)
    program.wait_for("interrupted")
    with open(gate, "w"):
        pass
    code, out, err = program.end()
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "step: expected reset() first, got a call that was interrupted",
        "[[1, 0], [1, 0], [1, 0], [1, 0]]",
        "closed",
    ]


@CONTEXTS
def test_a_batch_interrupted_in_a_step_closes(context, gate, shm):
    program = Program("interrupted_at_the_end", context, GATE=gate)
    program.wait_for("at the gate")
    os.killpg(program.process.pid, signal.SIGINT)
    code, _, err = program.end()
    assert code == -signal.SIGINT
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert err.count("Traceback") == 1


def open_files():
    """What this process has open, without what one test shares with the next."""
    found = [f"/proc/self/fd/{one}" for one in os.listdir("/proc/self/fd")]
    return sorted(os.readlink(one) for one in found if os.path.exists(one) or os.path.islink(one))


def children():
    return (Path("/proc/self/task") / str(os.getpid()) / "children").read_text().split()


def batches_mapped():
    return Path("/proc/self/maps").read_text().count("ludus batch")


def held():
    """All that a batch could leave behind; what other tests have left may go meanwhile."""
    threads = [str(one.ident) for one in threading.enumerate()]
    return Counter([*open_files(), *children(), *threads, *["ludus batch"] * batches_mapped()])


def test_a_batch_that_is_closed_leaves_no_file_and_no_process():
    gc.collect()  # of what other tests have left
    before = held()
    for _ in range(2):
        with ProcessVectorEnv([Troubled] * 4, num_workers=2, on_failure="restart") as envs:
            envs.reset(seed=0)
            envs.step(np.array([0, 0, 1, 2]))
            envs.fork([1, 1]).close()
        with pytest.raises(WorkerFailure):
            ProcessVectorEnv([GridWorld, unbuildable], num_workers=2)
        with ThreadVectorEnv([GridWorld] * 2) as threads:
            threads.reset(seed=0)
    gc.collect()  # of what failed; the batches themselves are still there
    assert held() - before == Counter()
    assert envs.closed
    assert threads.closed


def test_a_batch_that_is_collected_leaves_no_thread():
    before = set(threading.enumerate())
    envs = ThreadVectorEnv([GridWorld] * 4, num_threads=2)
    envs.reset(seed=0)
    threads = envs._threads
    assert len(set(threading.enumerate()) - before) == 2
    del envs
    gc.collect()
    for thread in threads:
        thread.join(60)
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("kind", [ProcessVectorEnv, ThreadVectorEnv])
def test_a_fork_of_the_program_neither_uses_nor_ends_the_batch(kind):
    with kind([GridWorld] * 2) as envs:
        envs.reset(seed=0)
        child = os.fork()
        if not child:
            try:
                envs.step(np.zeros(2, np.int64))
            except ClosedEnvironment as error:
                code = 5 if "got a fork of it; make a new batch here" in str(error) else 6
            envs.close()
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
        envs.step(np.zeros(2, np.int64))


def test_closing_twice_and_using_after_is_told():
    envs = ProcessVectorEnv([GridWorld] * 2)
    envs.reset(seed=0)
    envs.close()
    envs.close()
    for name, arguments in {"step": ([0, 0],), "reset": (), "send": ([0, 0],), "recv": (), "call": ("x",)}.items():
        with pytest.raises(ClosedEnvironment, match=f"{name}: expected an open batch, got one that was closed"):
            getattr(envs, name)(*arguments)


def test_lanes_are_closed_in_their_workers(tmp_path):
    marks = tmp_path / "marks"
    envs = ProcessVectorEnv([lambda: Troubled(marks)] * 4, num_workers=2)
    envs.close()
    assert marks.read_text() == "closed\n" * 4
