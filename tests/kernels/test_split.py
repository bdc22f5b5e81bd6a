"""Steps that are split over threads: who takes which lanes, when it is done, and that nobody is busy for nothing."""

import os
import subprocess
import sys
import threading
from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest

from ludus.envs.classic import CartPole
from ludus.kernels import split as splitting
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.signal import Signal, can_signal
from ludus.kernels.split import LARGEST, SMALLEST, STALLS, Split

pytestmark = pytest.mark.skipif(not can_signal(), reason="steps are split on Linux only")


def until(holds):
    end = perf_counter() + 20
    while not holds():
        assert perf_counter() < end, "it never came to be"
        os.sched_yield()


def test_a_thousand_lanes_may_be_split_and_fewer_are_not():
    assert Split.for_lanes(1024, 2) is not None
    assert Split.for_lanes(2 * SMALLEST - 1, 2) is None
    assert Split.for_lanes(1 << 20, 1) is None


@pytest.mark.parametrize("threads", [2, 3, 5, 16])
@pytest.mark.parametrize("seconds", [0.0, 1e-9, 3e-5, 1.0])
def test_pieces_hold_every_lane_once(threads, seconds):
    for lanes in (threads * SMALLEST, threads * SMALLEST + 1, 4096 * threads - 1, threads * LARGEST + 17, 100_003):
        split = Split(lanes, threads)
        split.times[0] = seconds
        pieces = split._cut()
        assert (pieces[0][0], pieces[-1][1]) == (0, lanes)
        assert all(one[1] == other[0] for one, other in pairwise(pieces))
        assert all(first < stop for first, stop in pieces)
        assert len(pieces) >= 2


def test_the_first_to_come_takes_the_larger_piece():
    split = Split(4096, 2)
    split.times[0] = 100e-6
    (_, first), (second, _) = split._cut()
    assert first == second > 2048


def test_a_thread_sleeps_when_there_is_nothing_to_do_and_works_when_there_is():
    envs = KernelVectorEnv(CartPole, 2048, threads=2)
    envs._split._way = lambda: 1
    envs.reset(seed=0)
    action = np.zeros(2048, np.int64)
    for _ in range(5):
        envs.step(action)
    team = splitting._teams[os.getpid()]
    until(lambda: team.signal.asleep == team.size)
    assert team.job is None  # which would hold the memory of the batch
    envs.step(action)
    envs.close()
    until(lambda: team.signal.asleep == team.size)


def test_a_thread_that_never_comes_holds_nothing_up():
    split = Split(4 * SMALLEST, 2)
    team = splitting._Team()  # nobody serves it
    job = splitting._Job(lambda first, stop: stop - first, (), split.pieces)
    assert team.run(job) == 4 * SMALLEST


def test_who_is_slow_is_waited_for():
    begun, go_on = threading.Event(), threading.Event()

    def loop(first, stop):
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(20)
        else:
            begun.set()
            threading.Timer(0.05, go_on.set).start()  # long after anybody would still be looking
            assert go_on.wait(20)
        return stop - first

    split = Split(4 * SMALLEST, 2)
    split._way = lambda: 1
    assert split.run(loop, ()) == 4 * SMALLEST
    assert go_on.is_set()


def test_callers_on_several_threads_get_their_own_results():
    split = [Split(4 * SMALLEST, 2) for _ in range(4)]
    found = {}

    def caller(number):
        split[number]._way = lambda: 1
        total = 0
        for _ in range(200):
            total += split[number].run(lambda first, stop: (stop - first) * number, ())
        found[number] = total

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {number: 200 * 4 * SMALLEST * number for number in range(4)}


def played(split, seconds):
    """The ways that are taken where steps take so long, by their number and their way."""
    taken = []
    for number in range(6000):
        way = split._way()
        split._took(way, seconds(number, way))
        taken.append(way)
    return taken


def test_what_is_quicker_is_taken_from_the_start():
    assert np.mean(played(Split(4096, 2), lambda _, way: (110e-6, 65e-6)[way])[8:]) > 0.95
    assert np.mean(played(Split(4096, 2), lambda _, way: (110e-6, 105e-6)[way])[8:]) < 0.1


def test_a_thread_that_is_asleep_when_it_is_tried_gets_another_chance():
    def seconds(number, way):
        woken = way and number - seconds.before > 1
        seconds.before = number if way else seconds.before
        return (110e-6, 180e-6 if woken else 65e-6)[way]

    seconds.before = -9
    assert np.mean(played(Split(4096, 2), seconds)[8:]) > 0.95


def test_on_a_busy_machine_hardly_any_step_is_split():
    rng = np.random.default_rng(0)

    def seconds(_, way):
        # Whoever is interrupted loses four milliseconds: one thread at times, two threads twice as often and both wait.
        stall = rng.random() < (0.01, 0.05)[way]
        return (110e-6, 100e-6)[way] + 4e-3 * stall

    taken = played(Split(4096, 2), seconds)
    alone = [seconds(0, 0) for _ in taken]
    together = [seconds(0, way) for way in taken]
    assert np.mean(taken) < 0.1
    assert np.mean(alone) / np.mean(together) > 0.9
    assert STALLS[0] < STALLS[1]


def test_every_step_counts_whether_its_time_is_taken_or_not():
    split, stepped = Split(4 * SMALLEST, 2), []
    for _ in range(300):
        assert split.run(lambda first, stop: stepped.append((first, stop)) or stop - first, ()) == 4 * SMALLEST
    assert split._calls == 300
    assert sum(stop - first for first, stop in stepped) == 300 * 4 * SMALLEST


SCRIPT = """
import os, sys
import numpy as np
from ludus.envs.classic import CartPole
from ludus.kernels.batch import KernelVectorEnv
envs = KernelVectorEnv(CartPole, 2048, threads=2)
envs._split._way = lambda: 1
envs.reset(seed=0)
action = np.zeros(2048, np.int64)
envs.step(action)
reader, writer = os.pipe()
child = os.fork()
sums = [float(envs.step(action).observation.sum()) for _ in range(20)]
if child == 0:
    os.write(writer, repr(sums).encode())
    os._exit(0)
os.close(writer)
told = os.read(reader, 1 << 16).decode()
assert os.waitpid(child, 0)[1] == 0
assert told == repr(sums), told
print("the same")
"""


def test_a_child_has_threads_of_its_own_and_a_process_ends_while_they_sleep():
    done = subprocess.run([sys.executable, "-c", SCRIPT], check=False, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


def test_a_signal_wakes_all_who_sleep():
    signal, found = Signal(), []
    threads = [threading.Thread(target=lambda: found.append(signal.await_ticket(0))) for _ in range(3)]
    for one in threads:
        one.start()
    until(lambda: signal.asleep == 3)
    signal.post(5)
    for one in threads:
        one.join()
    assert found == [5, 5, 5]
    assert not signal.await_done(5, 1e-6)
