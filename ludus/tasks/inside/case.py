"""`Case`: what a grader gets: the submitted files, the hidden data, and the submitted program behind a protocol.

A task's `grader.py` has one function, `grade(case)`, that returns the metric, or several by name. It raises `Rejected`
for a submission that is not as it was asked for; everything it reads of the submission is checked for that here.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from ludus.spaces.kinds import is_array, is_dict, is_list
from ludus.tasks.inside.frames import receive, send

__all__ = ["Case", "Instance", "Program", "Rejected"]


class Rejected(Exception):
    """The submission is not what was asked for; the agent is told why, and its score is a failure.

    >>> Rejected("expected 100 rows, got 3").args
    ('expected 100 rows, got 3',)
    """


class Program:
    """A file of the submission, running in a sandbox of its own; calls are the only way to it.

    >>> Program(number=0, path="strategy.py").path
    'strategy.py'
    """

    def __init__(self, number: int, path: str) -> None:
        self.number, self.path = number, path

    def call(self, name: str, *arguments: object) -> Any:
        """What a function of the program gives: plain values, as JSON has them. Rejected where it raises or is late."""
        return self.call_each(name, [arguments])[0]

    def call_each(self, name: str, each: Iterable[Sequence[object]], on: int | None = None) -> list[Any]:
        """What the function gives for each of the arguments, with one message there and one back."""
        return self._called(name, each, on)

    def call_on(self, instances: Iterable[Instance], name: str, each: Iterable[Sequence[object]]) -> list[Any]:
        """What the method of each instance gives for its arguments, with one message there and one back."""
        return self._called(name, each, [one.number for one in instances])

    def _called(self, name: str, each: Iterable[Sequence[object]], on: int | list[int] | None) -> list[object]:
        rows = [list(arguments) for arguments in each]
        values = self._answer_to({"do": "call", "name": name, "each": rows, "on": on})
        if not is_list(values) or len(values) != len(rows):
            raise Rejected(f"{self.path}: expected {len(rows)} results of {name}, got something else")
        return values

    def make(self, name: str, *arguments: object) -> Instance:
        """An instance of a class of the program, which keeps its state from call to call."""
        number = self._answer_to({"do": "make", "name": name, "arguments": list(arguments)})
        return Instance(self, number if isinstance(number, int) else -1)

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the program so far, its threads and children included, as the kernel counts it.

        What it does not count, sleep and a busy machine, does not change it; RuntimeError where a backend has no count.
        """
        send({"do": "used", "program": self.number})
        used = receive()["value"]
        if used is None:
            raise RuntimeError("expected a sandbox that counts processor time, got one that does not")
        return float(used)

    def _answer_to(self, body: dict[str, object]) -> object:
        send({"do": "ask", "program": self.number, "body": body})
        answer = receive()
        if "error" in answer:
            raise Rejected(f"{self.path}: {answer['error']}")
        return answer["value"]

    def close(self) -> None:
        """Kill it, with all that it started."""
        send({"do": "stop", "program": self.number})
        receive()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Instance:
    """An object inside a program.

    >>> Instance(Program(0, "strategy.py"), 3).number
    3
    """

    def __init__(self, program: Program, number: int) -> None:
        self.program, self.number = program, number

    def call(self, name: str, *arguments: object) -> Any:
        """What a method gives."""
        return self.program.call_each(name, [arguments], on=self.number)[0]


class Case:
    """One grading.

    >>> case = Case(Path("/submission"), Path("/hidden"), Path("/data"), split="test", seed=7)
    >>> case.split, int(case.rng.integers(100)) == int(case.rng.integers(100))
    ('test', True)
    """

    def __init__(self, submission: Path, hidden: Path, data: Path, *, split: str, seed: int) -> None:
        self.submission = submission
        """The folder of the files that were handed in."""
        self.hidden = hidden
        """What the generator wrote for the grader."""
        self.data = data
        """What the generator wrote for the agent."""
        self.split = split
        """Which split to score: the name of the public one, or of the hidden one."""
        self.seed = seed
        """Of the episode's data."""
        self._programs = 0

    @property
    def rng(self) -> np.random.Generator:
        """A generator that begins anew each time, the same for the same seed and split."""
        return np.random.default_rng([self.seed, *self.split.encode()])

    def program(self, path: str, seconds: float = 60.0) -> Program:
        """Start a file of the submission; `seconds` is for all of its calls together.

        They are seconds in which it could run: what it stood in line for a processor on a busy machine is not counted.
        """
        send({"do": "start", "path": path, "seconds": seconds})
        answer = receive()
        if "error" in answer:
            raise Rejected(f"{path}: {answer['error']}")
        return Program(int(answer["value"]), path)

    # --- the files of a submission ---

    def read_csv(self, path: str, columns: Sequence[str], rows: int) -> dict[str, list[str]]:
        """The columns of a CSV of the submission, which has to have these and so many rows."""
        reader = csv.reader(io.StringIO(self.read_text(path), newline=""))
        try:
            lines = [line for line in reader if line]
        except csv.Error as error:
            raise Rejected(f"{path}: expected CSV, got {error}") from None
        head = [name.strip() for name in lines[0]] if lines else []
        missing = [name for name in columns if name not in head]
        if missing:
            raise Rejected(f"{path}: expected the columns {', '.join(columns)}, got no {', '.join(missing)}")
        if len(lines) - 1 != rows:
            raise Rejected(f"{path}: expected {rows} rows below the head, got {len(lines) - 1}")
        if any(len(line) != len(head) for line in lines):
            raise Rejected(f"{path}: expected {len(head)} values in each row, got another number in one")
        return {name: [line[head.index(name)].strip() for line in lines[1:]] for name in columns}

    def predictions(self, path: str, ids: Sequence[str], column: str = "prediction") -> list[str]:
        """The predictions of a CSV with the columns `id` and `prediction`, in the order of `ids`, each there once."""
        table = self.read_csv(path, ["id", column], len(ids))
        found = dict(zip(table["id"], table[column], strict=True))
        if len(found) != len(ids) or set(found) != set(ids):
            raise Rejected(f"{path}: expected each id once, got ids that are missing, doubled or unknown")
        return [found[one] for one in ids]

    def numbers(self, path: str, ids: Sequence[str], column: str = "prediction") -> npt.NDArray[np.float64]:
        """As `predictions`, as finite numbers."""
        texts = self.predictions(path, ids, column)
        try:
            found = np.array([float(one) for one in texts], np.float64)
        except ValueError:
            raise Rejected(f"{path}: expected numbers in the column {column}, got something else") from None
        return finite(found, path)

    def read_json(self, path: str) -> Any:
        """A JSON file of the submission; NaN and infinities are none of JSON."""

        def refuse(constant: str) -> object:
            raise Rejected(f"{path}: expected finite numbers, got {constant}")

        try:
            return json.loads(self.read_text(path), parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            raise Rejected(f"{path}: expected JSON, got {str(error)[:200]}") from None

    def read_npy(self, path: str, shape: Sequence[int] | None = None) -> npt.NDArray[np.float64]:
        """An array of finite numbers in a `.npy` file of the submission, of this shape where one is given."""
        try:
            found: object = np.load(self._file(path), allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise Rejected(f"{path}: expected an array of numbers, got {str(error)[:200]}") from None
        if not is_array(found) or found.dtype.kind not in "fiub":
            raise Rejected(f"{path}: expected an array of numbers, got another kind")
        if shape is not None and found.shape != tuple(shape):
            raise Rejected(f"{path}: expected the shape {tuple(shape)}, got {found.shape}")
        return finite(found.astype(np.float64), path)

    def read_text(self, path: str) -> str:
        """A text file of the submission."""
        try:
            return self._file(path).read_text(encoding="utf8")
        except UnicodeDecodeError:
            raise Rejected(f"{path}: expected UTF-8 text, got other bytes") from None

    def _file(self, path: str) -> Path:
        file = self.submission / path
        if not file.is_file():
            raise Rejected(f"{path}: expected this file in the submission, got none")
        return file


def finite(values: npt.NDArray[np.float64], path: str) -> npt.NDArray[np.float64]:
    """The values; Rejected where one is no number or beyond all bounds."""
    if not np.isfinite(values).all() or (np.abs(values) > 1e100).any():
        raise Rejected(f"{path}: expected finite numbers, got NaN, an infinity or one beyond 1e100")
    return values


def plain_metrics(result: object, metric: str) -> dict[str, float]:
    """What `grade` returned, as metrics by name."""
    given: dict[object, object] = result if is_dict(result) else {metric: result}
    found: dict[str, float] = {}
    for name, value in given.items():
        if not isinstance(value, SupportsFloat):
            raise TypeError(f"grade: expected a number, or numbers by name, got {type(value).__name__} for {name}")
        found[str(name)] = float(value) if not math.isnan(float(value)) else math.nan
    return found
