"""Steps that are split over threads: who takes which lanes, when it is done, and that nobody is busy for nothing."""

import ctypes
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
from ludus.kernels.call import FAULT, KernelCall, Team, can_split
from ludus.kernels.split import MAX_PIECE_LANES, MAX_PIECES, MIN_LANES_PER_THREAD, PIECE_LANES, ThreadSplit, piece_size
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.skipif(not can_split(), reason="steps are split on Linux only")
NOTHING = (np.zeros(1),) * 4
LOOP = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
)


class Loop:
    """A loop in Python, called by machine code as a compiled one is: `count(first, stop)` for a piece of the lanes."""

    def __init__(self, lanes, count, fails_at=None):
        self.count, self.asked, self.fails_at = count, 0, fails_at
        self.held = LOOP(self.run)
        self.call = KernelCall(ctypes.cast(self.held, ctypes.c_void_p).value, lanes, [0] * 7)

    def run(self, found, error, first, stop, words):
        if stop == 0:  # whether actions are well: asked once, before lanes are stepped
            self.asked += 1
            found[0] = 0
            return 0
        found[0] = self.count(first, stop)
        failed = self.fails_at is not None and stop > self.fails_at
        error[0] = max(first, self.fails_at) if failed else -1
        return int(failed)


def until(holds):
    end = perf_counter() + PATIENCE_S
    while not holds():
        assert perf_counter() < end, "it never came to be"
        os.sched_yield()


def test_a_thousand_lanes_may_be_split_and_fewer_are_not():
    assert ThreadSplit.for_lanes(1024, 2) is not None
    assert ThreadSplit.for_lanes(2 * MIN_LANES_PER_THREAD - 1, 2) is None
    assert ThreadSplit.for_lanes(1 << 20, 1) is None


@pytest.mark.parametrize("threads", [2, 3, 5, 16])
def test_pieces_hold_every_lane_once(threads):
    stepped = []
    for lanes in (
        threads * MIN_LANES_PER_THREAD,
        threads * MIN_LANES_PER_THREAD + 1,
        4096 * threads - 1,
        threads * MAX_PIECE_LANES + 17,
        100_003,
    ):
        stepped.clear()
        loop, split = (
            Loop(lanes, lambda first, stop: stepped.append((first, stop)) or stop - first),
            ThreadSplit(lanes, threads),
        )
        split._way = lambda: 1
        assert split.run(loop.call, NOTHING) == lanes
        assert loop.asked == 1
        stepped.sort()
        assert (stepped[0][0], stepped[-1][1]) == (0, lanes)
        assert all(one[1] == other[0] for one, other in pairwise(stepped))
        assert len(stepped) >= 2


def test_pieces_are_whole_cache_lines_of_flags_and_not_too_many():
    for lanes in (1024, 4096, 65_536, 1 << 20, 1 << 26):
        size = piece_size(lanes, 2)
        assert size % PIECE_LANES == 0
        assert -(-lanes // size) <= MAX_PIECES


def test_a_thread_sleeps_when_there_is_nothing_to_do_and_works_when_there_is():
    envs = KernelVectorEnv(CartPole, 2048, threads=2)
    envs._split._way = lambda: 1
    envs.reset(seed=0)
    action = np.zeros(2048, np.int64)
    for _ in range(5):
        envs.step(action)
    threads = splitting._teams[os.getpid()]
    until(lambda: threads.team.asleep == threads.size)
    assert threads.team.idle
    envs.step(action)
    envs.close()
    until(lambda: threads.team.asleep == threads.size)


def test_a_thread_that_never_comes_holds_nothing_up():
    loop = Loop(4 * MIN_LANES_PER_THREAD, lambda first, stop: stop - first)
    loop.call.join(Team(1e-6), 4, MIN_LANES_PER_THREAD, 1.0)  # nobody serves it
    assert loop.call.together(*NOTHING) == 4 * MIN_LANES_PER_THREAD


def test_who_is_slow_is_waited_for():
    begun, go_on = threading.Event(), threading.Event()

    def count(first, stop):
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(60)
        elif not begun.is_set():
            begun.set()
            threading.Timer(0.05, go_on.set).start()  # long after anybody would still be looking
            assert go_on.wait(60)
        return stop - first

    loop, split = Loop(4 * MIN_LANES_PER_THREAD, count), ThreadSplit(4 * MIN_LANES_PER_THREAD, 2)
    split._way = lambda: 1
    assert split.run(loop.call, NOTHING) == 4 * MIN_LANES_PER_THREAD
    assert go_on.is_set()


def test_the_caller_comes_from_the_front_and_the_others_from_behind():
    both, taken = threading.Barrier(2, timeout=60), {}

    def count(first, stop):
        taken.setdefault(threading.current_thread() is threading.main_thread(), []).append(first)
        if len(taken[threading.current_thread() is threading.main_thread()]) == 1:
            both.wait()
        return stop - first

    loop, team = Loop(4 * MIN_LANES_PER_THREAD, count), Team(1e-6)
    threading.Thread(target=team.serve, daemon=True).start()  # one, whatever other tests have started
    loop.call.join(team, 32, MIN_LANES_PER_THREAD // 8, 1.0)
    loop.call.together(*NOTHING)
    assert taken[True] == sorted(taken[True])
    assert taken[False] == sorted(taken[False], reverse=True)
    assert taken[True][0] == 0
    assert max(taken[True]) < min(taken[False])


def test_of_several_errors_the_first_lanes_is_told():
    loop, split = (
        Loop(4 * MIN_LANES_PER_THREAD, lambda *_: 5, fails_at=2 * MIN_LANES_PER_THREAD),
        ThreadSplit(4 * MIN_LANES_PER_THREAD, 2),
    )
    split._way = lambda: 1
    for _ in range(20):
        assert split.run(loop.call, NOTHING) == FAULT
        assert loop.call.error == 2 * MIN_LANES_PER_THREAD


def test_callers_on_several_threads_get_their_own_results():
    split = [ThreadSplit(4 * MIN_LANES_PER_THREAD, 2) for _ in range(4)]
    found = {}

    def caller(number):
        split[number]._way = lambda: 1
        loop = Loop(4 * MIN_LANES_PER_THREAD, lambda first, stop: (stop - first) * number)
        total = 0
        for _ in range(200):
            total += split[number].run(loop.call, NOTHING)
        found[number] = total

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {number: 200 * 4 * MIN_LANES_PER_THREAD * number for number in range(4)}


def played(split, seconds):
    """The ways that are taken where steps take so long, by their number and their way."""
    taken = []
    for number in range(6000):
        way = split._way()
        split._took(seconds(number, way))
        taken.append(way)
    return taken


def test_what_is_quicker_is_taken_from_the_start():
    assert np.mean(played(ThreadSplit(4096, 2), lambda _, way: (110e-6, 65e-6)[way])[8:]) > 0.95
    assert np.mean(played(ThreadSplit(4096, 2), lambda _, way: (110e-6, 105e-6)[way])[8:]) < 0.1


def test_a_split_that_lasts_is_put_to_the_test_ever_more_rarely():
    taken = played(ThreadSplit(4096, 2), lambda _, way: (110e-6, 65e-6)[way])
    assert np.mean(taken[2000:]) > 0.98


def test_shares_begin_long_and_end_short():
    taken = []
    loop = Loop(64 * PIECE_LANES, lambda first, stop: taken.append(stop - first) or stop - first)
    loop.call.join(Team(1e-6), 64, PIECE_LANES, 1.0)  # nobody serves it: the caller takes all of them
    assert loop.call.together(*NOTHING) == 64 * PIECE_LANES
    assert taken[0] == 16 * PIECE_LANES
    assert taken == sorted(taken, reverse=True)
    assert taken[-1] == PIECE_LANES


def test_an_interruption_does_not_end_a_split():
    rng = np.random.default_rng(1)
    interrupted = lambda _, way: (125e-6, 70e-6)[way] + 3e-3 * (rng.random() < 0.004)  # noqa: E731
    assert np.mean(played(ThreadSplit(4096, 2), interrupted)) > 0.9


def test_a_core_that_becomes_busy_is_left_alone_and_one_that_becomes_free_is_used():
    def seconds(number, way):
        return (125e-6, 400e-6 if 2000 <= number < 4000 else 70e-6)[way]

    taken = played(ThreadSplit(4096, 2), seconds)
    assert np.mean(taken[:2000]) > 0.9
    assert np.mean(taken[2200:4000]) < 0.2
    assert np.mean(taken[5500:]) > 0.9


def test_a_thread_that_is_asleep_when_it_is_tried_gets_another_chance():
    def seconds(number, way):
        woken = way and number - seconds.before > 1
        seconds.before = number if way else seconds.before
        return (110e-6, 180e-6 if woken else 65e-6)[way]

    seconds.before = -9
    assert np.mean(played(ThreadSplit(4096, 2), seconds)[8:]) > 0.95


def test_on_a_busy_machine_hardly_any_step_is_split():
    rng = np.random.default_rng(0)

    def seconds(_, way):
        # Whoever is interrupted loses four milliseconds: one thread at times, two threads twice as often and both wait.
        stall = rng.random() < (0.01, 0.05)[way]
        return (110e-6, 100e-6)[way] + 4e-3 * stall

    taken = played(ThreadSplit(4096, 2), seconds)
    alone = [seconds(0, 0) for _ in taken]
    together = [seconds(0, way) for way in taken]
    assert np.mean(taken) < 0.1
    assert np.mean(alone) / np.mean(together) > 0.9


def test_every_step_steps_every_lane_whichever_way_is_tried():
    split, stepped = ThreadSplit(4 * MIN_LANES_PER_THREAD, 2), []
    loop = Loop(4 * MIN_LANES_PER_THREAD, lambda first, stop: stepped.append((first, stop)) or stop - first)
    for _ in range(300):
        assert split.run(loop.call, NOTHING) == 4 * MIN_LANES_PER_THREAD
    assert sum(stop - first for first, stop in stepped) == 300 * 4 * MIN_LANES_PER_THREAD


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


def test_whoever_sleeps_is_waked_by_the_next_step():
    taken = set()
    everybody = threading.Barrier(4, timeout=60)

    def count(first, stop):
        if threading.get_ident() not in taken:
            taken.add(threading.get_ident())
            everybody.wait()  # nobody takes a second piece before all have one
        return stop - first

    loop, team = Loop(4 * MIN_LANES_PER_THREAD, count), Team(1e-6)
    for _ in range(3):
        threading.Thread(target=team.serve, daemon=True).start()
    until(lambda: team.asleep == 3)
    loop.call.join(team, 32, MIN_LANES_PER_THREAD // 8, 1.0)
    assert loop.call.together(*NOTHING) == 4 * MIN_LANES_PER_THREAD
    assert len(taken) == 4
    until(lambda: team.asleep == 3)
