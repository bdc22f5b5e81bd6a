"""Metrics: counters and times, as Prometheus reads them."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from threading import Lock
from typing import Final

__all__ = ["Metrics", "StepMeter", "summed"]

BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MAX_ROWS: Final = 1000
"""Rows of one metric: what labels say is bounded by what a server offers, and this by any accident."""
MAXIMUM_OVER_WORKERS: Final = ("ludus_uptime_seconds",)
"""Of what is not the sum over all workers, but the largest."""


class StepMeter:
    """The steps of one session, and how long they took; one thread writes it at a time, so that it needs no lock."""

    __slots__ = ("count", "env", "seconds", "slots")

    def __init__(self, env: str) -> None:
        self.env, self.count, self.seconds = env, 0, 0.0
        self.slots = [0] * (len(BUCKETS) + 1)

    def add(self, count: int, seconds: float) -> None:
        """Enter a request that made so many steps."""
        self.count += count
        self.seconds += seconds
        self.slots[bisect_left(BUCKETS, seconds)] += 1


class Metrics:
    """What a server counted since it started. Any thread may count; a session has a meter of its own for its steps.

    >>> metrics = Metrics()
    >>> metrics.count("steps", env="CartPole-v1")
    >>> print(metrics.text())
    # TYPE ludus_steps_total counter
    ludus_steps_total{env="CartPole-v1"} 1
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, dict[tuple[tuple[str, str], ...], float]] = defaultdict(lambda: defaultdict(float))
        self._gauges: dict[str, float] = {}
        self._meters: set[StepMeter] = set()
        self._ended = StepMeter("")
        """The times of sessions that are over, and of steps without a meter; they are counted like all else."""

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter. Labels are what the server knows; beyond a number of them they are counted as one."""
        with self._lock:
            rows, key = self._counts[name], tuple(sorted(labels.items()))
            if key not in rows and len(rows) >= MAX_ROWS:
                key = tuple((label, "other") for label, _ in key)
            rows[key] += amount

    def step(self, env: str, seconds: float) -> None:
        """Enter a step that came through the event loop."""
        self.count("steps", env=env)
        self._ended.add(0, seconds)

    def gauge(self, name: str, value: float) -> None:
        """Set what is the case now."""
        self._gauges[name] = value

    def meter(self, env: str) -> StepMeter:
        """A meter for the steps of a session."""
        meter = StepMeter(env)
        self._meters.add(meter)
        return meter

    def end(self, meter: StepMeter) -> None:
        """A session is over: what it counted stays; harmless twice."""
        if meter in self._meters:
            self._meters.discard(meter)
            if meter.count:
                self.count("steps", meter.count, env=meter.env)
            _add(self._ended, meter)

    def text(self) -> str:
        """All of it in Prometheus's text format."""
        lines: list[str] = []
        with self._lock:
            counts = {name: dict(rows) for name, rows in self._counts.items()}
        times = StepMeter("")
        for meter in (self._ended, *self._meters):
            _add(times, meter)
            if meter.count:
                rows, key = counts.setdefault("steps", {}), (("env", meter.env),)
                rows[key] = rows.get(key, 0) + meter.count
        for name, rows in sorted(counts.items()):
            lines.append(f"# TYPE ludus_{name}_total counter")
            lines += [f"ludus_{name}_total{_labels(labels)} {_number(value)}" for labels, value in sorted(rows.items())]
        for name, value in sorted(self._gauges.items()):
            lines += [f"# TYPE ludus_{name} gauge", f"ludus_{name} {_number(value)}"]
        if any(times.slots):
            lines += ["# TYPE ludus_step_seconds histogram", *_histogram("step", times)]
        return "".join(f"{line}\n" for line in lines)


def _add(total: StepMeter, meter: StepMeter) -> None:
    """Add times; steps are counted by environment."""
    total.seconds += meter.seconds
    total.slots = [one + other for one, other in zip(total.slots, meter.slots, strict=True)]


def _histogram(name: str, meter: StepMeter) -> list[str]:
    lines: list[str] = []
    total = 0
    for most, count in zip((*BUCKETS, "+Inf"), meter.slots, strict=True):
        total += count
        lines.append(f'ludus_{name}_seconds_bucket{{le="{most}"}} {total}')
    return [*lines, f"ludus_{name}_seconds_sum {meter.seconds}", f"ludus_{name}_seconds_count {total}"]


def summed(texts: Iterable[str]) -> str:
    r"""The metrics of several workers as those of one server.

    >>> print(summed(["# TYPE ludus_steps_total counter\nludus_steps_total 1\n"] * 2), end="")
    # TYPE ludus_steps_total counter
    ludus_steps_total 2
    """
    rows: dict[str, float | None] = {}
    for line in (line for text in texts for line in text.split("\n") if line):
        key, _, value = line.rpartition(" ")
        if line.startswith("#"):
            rows[line] = None
        elif key.startswith(MAXIMUM_OVER_WORKERS):
            rows[key] = max(rows.get(key) or 0.0, float(value))
        else:
            rows[key] = (rows.get(key) or 0.0) + float(value)
    blocks: dict[str, list[str]] = {}
    for key, value in rows.items():
        family = key.split()[2] if value is None else _family(key, blocks)
        blocks.setdefault(family, []).append(key if value is None else f"{key} {_number(value)}")
    return "".join(f"{line}\n" for block in blocks.values() for line in block)


def _family(key: str, known: Iterable[str]) -> str:
    """The metric that a row belongs to: rows of one stay together, whichever worker named them first."""
    name = key.partition("{")[0]
    return next((one for one in (name, name.rpartition("_")[0]) if one in known), name)


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    inner = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inner}}}" if inner else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
