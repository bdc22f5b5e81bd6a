"""Time that is counted where a machine is busy: what a process could not use is not its own."""

import json
import sys
import time

import pytest

from ludus.sandbox import Sandbox
from ludus.sandbox.backend import Usage
from ludus.sandbox.framed_process import FramedProcess, Late, python_command
from ludus.tasks import TaskEnv
from ludus.tasks.grading.stopwatch import MAX_TIMES, Stopwatch
from ludus.tools import Call
from tests.tasks.conftest import TASK, write_folder


class Counted:
    """A process that has used what it is told to have."""

    def __init__(self, **used):
        self.used = used

    def usage(self):
        return Usage(**self.used)


def watch_of(seconds, late, **used):
    """A stopwatch, and a `receive` that is late so many times, each by all of the time that it was given."""
    clock, left = [0.0], [late]

    def receive(deadline):
        clock[0] = deadline
        left[0] -= 1
        if left[0] >= 0:
            raise Late("time ran out")
        return "an answer"

    return Stopwatch(Counted(**used), seconds, now=lambda: clock[0], queue=lambda: 0.0), receive


def test_who_stands_in_line_for_a_processor_has_more_time_by_the_clock():
    watch, receive = watch_of(10.0, 3, cpu=4.0, waited=1000.0)
    assert watch.wait(receive) == "an answer"
    assert (watch.clock > 20.0, watch.spent, watch.left) == (True, 4.0, 6.0)


@pytest.mark.parametrize("used", [{"cpu": 0.0, "waited": 0.0}, {"cpu": 11.0, "waited": 1000.0}, {"cpu": None}])
def test_who_sleeps_and_who_has_used_the_processor_for_so_long_has_no_more(used):
    watch, receive = watch_of(10.0, 1, **used)
    with pytest.raises(Late):
        watch.wait(receive)
    assert watch.left == 0.0


def test_nobody_waits_for_good_on_a_machine_that_has_no_processor_for_him():
    watch, receive = watch_of(10.0, 1000, cpu=0.0, waited=1e9)
    with pytest.raises(Late):
        watch.wait(receive)
    assert MAX_TIMES * 10.0 < watch.clock < MAX_TIMES * 10.0 + 20.0


def test_the_time_of_those_it_waits_for_is_its_own():
    watch, _ = watch_of(10.0, 0, cpu=0.0)
    other, received = watch_of(100.0, 0, cpu=0.0)
    other.wait(received)
    watch.others.append(other)
    with pytest.raises(Late):
        watch.wait(watch_of(1.0, 1)[1])
    assert watch.clock >= 100.0


IN_PARTS = """
import os
answer = b"an answer"
os.write(3, len(answer).to_bytes(4, "big") + answer[:2])
os.read(3, 100)
os.write(3, answer[2:])
os.read(3, 100)
"""


def test_a_frame_that_was_late_is_received_when_it_comes():
    with FramedProcess(Sandbox(), python_command(IN_PARTS)) as talk:
        with pytest.raises(Late):
            talk.receive(time.monotonic() + 2.0)
        talk.send(b"go on", time.monotonic() + 60.0)
        assert talk.receive(time.monotonic() + 60.0) == b"an answer"


GIVEN_AWAY = """
import json

from ludus.tasks.inside.case import Rejected


def grade(case):
    with case.program("work.py", seconds=60) as program:
        told = []
        for name in ("nothing", "child", "threads"):
            before = program.cpu_seconds
            program.call(name)
            told.append(program.cpu_seconds - before)
    raise Rejected(json.dumps(told))
"""
WORK = """
import os, threading, time


def nothing():
    pass


def burn():
    begun = time.thread_time()
    while time.thread_time() < begun + 0.2:
        pass


def child():
    pid = os.fork()
    if not pid:
        burn()
        os._exit(0)
    os.waitpid(pid, 0)


def threads():
    both = [threading.Thread(target=burn) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
"""


def test_work_that_a_program_gives_to_children_and_threads_is_its_own_processor_time(tmp_path):
    text = TASK.replace("{path: answer.json, format: json, size: 1K}", "{path: work.py, format: python, size: 2K}")
    folder = write_folder(tmp_path / "given", task__yaml=text, grader__py=GIVEN_AWAY)
    with TaskEnv(folder) as env:
        env.reset(seed=0)
        env.step(Call("write", {"path": "work.py", "content": WORK}))
        nothing, child, threads = json.loads(env.step("submit").info["score"]["reason"])
    assert 0 <= nothing < 0.1 < 0.19 < child < threads
    assert sys.platform != "linux" or threads > 0.39
