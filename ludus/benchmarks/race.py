"""Races: contestants take turns, round after round, so that a busy moment of the machine is everybody's."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import msgspec

from ludus.benchmarks.contestant import Contestant
from ludus.benchmarks.process import ContestantFailed, ContestantProcess
from ludus.benchmarks.report import Figure, SkippedContestant

__all__ = ["Arena", "RacePace"]

Outcome = Figure | SkippedContestant
Say = Callable[[str], None]


class PrepareAnswer(msgspec.Struct):
    """What a contestant's process says when its batch is made."""

    about: dict[str, str] = {}


class RoundAnswer(msgspec.Struct):
    """What it says after a round."""

    steps: float
    seconds: float
    median: float
    p99: float


class MemoryAnswer(msgspec.Struct):
    """What each lane takes, where the system tells."""

    bytes_per_lane: float | None


def silent(text: str) -> None:
    """Tell nobody."""
    del text


@dataclass(frozen=True)
class RacePace:
    """How long everybody runs, and how often.

    >>> RacePace().rounds
    5
    """

    seconds: float = 0.3
    rounds: int = 5
    warm: float = 0.2


class Arena:
    """Keeps the processes of contestants from race to race: most of them take seconds to start.

    >>> serial = Contestant("ludus serial", "executor.py", {"executor": "serial"})
    >>> with Arena(RacePace(0.001, rounds=2, warm=0.0)) as arena:
    ...     [figure] = arena.race([serial], 4, {"id": "GridWorld-v0"})
    >>> figure.contestant, figure.lanes, figure.rounds
    ('ludus serial', 4, 2)
    """

    def __init__(self, pace: RacePace, say: Say = silent) -> None:
        self.pace, self._say = pace, say
        self._stack, self._processes = ExitStack(), dict[str, ContestantProcess]()

    def race(self, contestants: Sequence[Contestant], lanes: int, work: Mapping[str, object]) -> list[Outcome]:
        """Everybody's figure at this batch size, or why there is none; `work` names the environment."""
        outcomes: dict[str, Outcome] = {}
        about: dict[str, dict[str, str]] = {}
        rounds: dict[str, list[RoundAnswer]] = {}
        for one in contestants:
            self._start(one, lanes, outcomes)
        for one in contestants:
            if one.name not in outcomes:
                self._say(f"{one.name}, {lanes:,} lanes: getting ready")
                options = {**work, **one.options, "lanes": lanes, "warm": self.pace.warm}
                answer = self._ask(one, lanes, outcomes, "prepare", options)
                about[one.name], rounds[one.name] = msgspec.convert(answer, PrepareAnswer).about, []
        for number in range(self.pace.rounds):
            for one in contestants:
                if one.name not in outcomes:
                    self._say(f"{one.name}, {lanes:,} lanes: round {number + 1} of {self.pace.rounds}")
                    answer = self._ask(one, lanes, outcomes, "run", self.pace.seconds)
                    if one.name not in outcomes:
                        rounds[one.name].append(msgspec.convert(answer, RoundAnswer))
        for one in contestants:
            if one.name not in outcomes:
                outcomes[one.name] = _figure(one, lanes, rounds[one.name], about[one.name])
                self._ask(one, lanes, {}, "release", True)
        return [outcomes[one.name] for one in contestants]

    def memory(self, contestant: Contestant, work: Mapping[str, object], times: int = 1) -> float | None:
        """Bytes for each lane, the least of so many readings, each in a new process; None if they cannot be had."""
        options = {**work, **contestant.options, **contestant.memory_options, "lanes": contestant.memory_lanes}
        found: list[float] = []
        for number in range(times):
            self._say(f"{contestant.name}: memory, {number + 1} of {times}")
            try:
                with ContestantProcess(contestant) as process:
                    reading = msgspec.convert(process.ask("memory", options), MemoryAnswer).bytes_per_lane
            except ContestantFailed:
                reading = None
            if reading is None:
                return None
            found.append(reading)
        return min(found, default=None)

    def _start(self, contestant: Contestant, lanes: int, outcomes: dict[str, Outcome]) -> None:
        """Start everybody before anybody is asked: what they load, they load side by side."""
        name, most = contestant.name, contestant.most_lanes
        if not contestant.fits(lanes):
            outcomes[name] = SkippedContestant(name, lanes, f"more than {most:,} lanes would take too long")
        elif name not in self._processes:
            try:
                self._processes[name] = self._stack.enter_context(ContestantProcess(contestant))
            except ContestantFailed as error:
                outcomes[name] = SkippedContestant(name, lanes, str(error))

    def _ask(
        self, contestant: Contestant, lanes: int, outcomes: dict[str, Outcome], verb: str, argument: object
    ) -> dict[str, object]:
        """The answer; without one the contestant is out of this race, and if it is gone, it starts anew in the next."""
        process = self._processes[contestant.name]
        try:
            return process.ask(verb, argument, seconds=self.pace.seconds)
        except ContestantFailed as error:
            outcomes[contestant.name] = SkippedContestant(contestant.name, lanes, str(error))
            if not process.alive:
                self._processes.pop(contestant.name).close()
            return {}

    def close(self) -> None:
        """End every process."""
        self._stack.close()
        self._processes.clear()

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _figure(contestant: Contestant, lanes: int, rounds: list[RoundAnswer], about: dict[str, str]) -> Figure:
    speeds = [one.steps / one.seconds for one in rounds]
    best = speeds.index(max(speeds))
    latency, p99 = rounds[best].median * 1e6, rounds[best].p99 * 1e6
    spread = min(speeds) / max(speeds)
    return Figure(contestant.name, lanes, max(speeds), latency, p99, len(rounds), spread, about=about)
