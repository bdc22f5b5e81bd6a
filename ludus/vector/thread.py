"""The thread executor: lanes split over threads of this process, for engines that release the interpreter's lock."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

from ludus.core import AutoresetMode, EpisodePlan, Info
from ludus.core.env import ActT, ObsT_co
from ludus.core.options import Options
from ludus.errors import ClosedEnvironment, InvalidArgument, shorten
from ludus.vector.lane import Lane, LaneStep, Maker
from ludus.vector.serial import SerialVectorEnv
from ludus.vector.split import available_cores, spans

__all__ = ["ThreadVectorEnv"]

Task = tuple[Callable[..., object], Sequence[Lane], Sequence[tuple[object, ...]]]
"""What to call with each lane, the lanes, and the arguments of each."""
Result = tuple[object, BaseException | None]
Jobs = SimpleQueue[tuple[int, Task] | None]
Done = SimpleQueue[tuple[int, int, list[Result]]]
"""The stamp of the call, the number of the thread, and what each lane gave."""


class ThreadVectorEnv(SerialVectorEnv[ObsT_co, ActT]):
    """A batch whose lanes are split over `num_threads` threads; a lane is always stepped by the same one.

    Histories are those of the serial executor. Where a lane raises, the others still make their step, and then the
    error is raised with a note of the lane.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> with ThreadVectorEnv([GridWorld] * 4, num_threads=2) as envs:
    ...     observations, infos = envs.reset(seed=0)
    ...     envs.step([1, 3, 0, 1]).observation.tolist()
    [[1, 0], [0, 1], [0, 0], [1, 0]]
    """

    executor = "thread"

    def __init__(
        self,
        env_fns: Sequence[Maker],
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int | None = None,
        copy: bool = True,
        episodes: EpisodePlan | None = None,
    ) -> None:
        count = available_cores() if num_threads is None else num_threads
        if not isinstance(count, int) or count < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgument(f"num_threads: expected a positive integer, got {shorten(num_threads)}")
        super().__init__(env_fns, autoreset_mode=autoreset_mode, copy=copy, episodes=episodes)
        self._home = os.getpid()
        self._spans = spans(self.num_envs, count)
        self.num_threads, self._stamp, self._undrained = len(self._spans), 0, False
        self._done: Done = SimpleQueue()
        self._jobs: list[Jobs] = [SimpleQueue() for _ in self._spans]
        self._threads = [
            threading.Thread(target=_work, args=(number, jobs, self._done), daemon=True, name=f"lanes {span}")
            for number, (jobs, span) in enumerate(zip(self._jobs, self._spans, strict=True))
        ]
        self._release = weakref.finalize(self, _stop, self._jobs)
        for thread in self._threads:
            thread.start()

    # --- the episode ---

    def _resetting(
        self, places: list[int], seeds: list[int | None], options: Options | None
    ) -> Iterator[tuple[int, tuple[object, Info]]]:
        return self._in_threads(Lane.reset, {place: (seeds[place], options) for place in places})

    def _stepping(self, actions: dict[int, object]) -> Iterator[tuple[int, LaneStep]]:
        return self._in_threads(Lane.step, {place: (action,) for place, action in actions.items()})

    def _beginning(self, places: list[int]) -> Iterator[tuple[int, tuple[object, Info]]]:
        return self._in_threads(Lane.begin, dict.fromkeys(places, ()))

    def _in_threads(self, function: Callable[..., object], arguments: dict[int, tuple[object, ...]]) -> Iterator[Any]:
        """Call the function with each lane in its own thread, and give the results in order; then raise."""
        shares = [[place for place in range(start, stop) if place in arguments] for start, stop in self._spans]
        results = self._gathered(
            [
                (function, [self._lanes[place] for place in share], [arguments[place] for place in share])
                for share in shares
            ]
        )
        failures: list[tuple[int, BaseException]] = []
        for share, found in zip(shares, results, strict=True):
            for place, (value, error) in zip(share, found, strict=True):
                if error is None:
                    yield place, value
                else:
                    failures.append((place, error))
        if failures:
            raise _noted(failures)

    def _gathered(self, tasks: list[Task]) -> list[list[Result]]:
        """The results of one task for each thread."""
        self._stamp += 1
        self._undrained = True
        for jobs, task in zip(self._jobs, tasks, strict=True):
            jobs.put((self._stamp, task))
        results: dict[int, list[Result]] = {}
        while len(results) < len(tasks):
            stamp, number, found = self._done.get()
            if stamp == self._stamp:  # others are of a call that was interrupted
                results[number] = found
        self._undrained = False
        return [results[number] for number in range(len(tasks))]

    def _drain(self) -> None:
        """Wait for what an interrupted call left under way; what came of it is not known to the caller."""
        if self._undrained:
            self._begun[:], self._interrupted = False, True
            self._gathered([(Lane.step, (), ())] * self.num_threads)

    def _check_open(self, call: str) -> None:
        super()._check_open(call)
        if self._home != os.getpid():
            raise ClosedEnvironment(
                f"{call}: expected the process that made the batch, since its threads are there, got a fork of it; "
                "make a new batch here"
            )
        self._drain()

    def close_extras(self, **kwargs: object) -> None:
        """Stop the threads, when the lanes under way have made their step, and close every lane."""
        if self._home == os.getpid():
            self._release()
            for thread in self._threads:
                thread.join()
        super().close_extras(**kwargs)

    def _alike(self, makers: list[Maker]) -> "ThreadVectorEnv[ObsT_co, ActT]":
        return ThreadVectorEnv(
            makers,
            autoreset_mode=self._mode,
            num_threads=self.num_threads,
            copy=self.copy,
            episodes=self.episodes,
        )


def _work(number: int, jobs: Jobs, done: Done) -> None:
    """One thread: a job at a time, until there is None."""
    while True:
        job = jobs.get()
        if job is None:
            return
        stamp, (function, lanes, arguments) = job
        done.put((stamp, number, [_tried(function, lane, one) for lane, one in zip(lanes, arguments, strict=True)]))
        del job, lanes, arguments  # a thread that waits holds nothing of the batch


def _tried(function: Callable[..., object], lane: Lane, arguments: tuple[object, ...]) -> Result:
    try:
        return function(lane, *arguments), None
    except BaseException as error:  # whatever it is belongs to the caller, not to this thread
        return None, error


def _stop(jobs: list[Jobs]) -> None:
    for one in jobs:
        one.put(None)


def _noted(failures: list[tuple[int, BaseException]]) -> BaseException:
    """The first lane's error, with a note of every lane that failed."""
    first = failures[0][1]
    for place, error in failures:
        first.add_note(f"lane {place}" if error is first else f"lane {place} too: {type(error).__name__}: {error}")
    return first
