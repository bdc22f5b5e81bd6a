"""Records beside msgspec's own `convert`: checking and reading typed values, in one run.

    python benchmarks/records.py [--quick] [--json FILE]

Each row is a model and a piece of work; the ratio is Ludus over msgspec, which does less: it knows nothing of ints of
64 bits, and nothing of Pydantic's models, beside which is Pydantic's own time. The bar is a ratio of at most 3.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from functools import partial
from pathlib import Path
from timeit import Timer
from typing import Any

import msgspec
from pydantic import BaseModel, create_model

from ludus.spaces import Record

BAR = 3.0
KINDS: list[tuple[type, Any]] = [(int, 3), (str, "hello"), (float, 0.5), (bool, True)]
NUMBERS = 100_800
ROUNDS, QUICK_ROUNDS = 60, 10
ROUND_SECONDS = 0.002


def columns(count: int) -> list[tuple[str, type, Any]]:
    """Fields of several kinds, and a value of each."""
    return [(f"field_{place}", *KINDS[place % len(KINDS)]) for place in range(count)]


@dataclass
class Inner:
    """A model inside another."""

    x: int
    name: str


@dataclass
class Outer:
    """A model with another inside."""

    inner: Inner
    count: int


class Numbers(msgspec.Struct):
    """A long list."""

    values: list[int]


def seconds(rounds: int, *works: Callable[[], Any]) -> list[float]:
    """The least time of one call of each, in turns, so that what else the machine does falls on all alike."""
    number = max(1, int(ROUND_SECONDS / Timer(works[0]).timeit(1)))
    timers = [Timer(work) for work in works]
    times = [[timer.timeit(number) / number for timer in timers] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def models(count: int) -> dict[str, Any]:
    """One model of each library with so many fields."""
    fields = columns(count)
    pydantic: Any = {name: (kind, ...) for name, kind, _ in fields}
    return {
        f"dataclass, {count} fields": make_dataclass("Data", [(name, kind) for name, kind, _ in fields]),
        f"Struct, {count} fields": msgspec.defstruct("Form", [(name, kind) for name, kind, _ in fields]),
        f"Pydantic, {count} fields": create_model("Model", **pydantic),
    }


def cases() -> dict[str, tuple[Any, dict[str, Any]]]:
    """The models, and data of each."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for count in (2, 20):
        data = {name: value for name, _, value in columns(count)}
        found |= {name: (model, data) for name, model in models(count).items()}
    found["nested"] = Outer, {"inner": {"x": 1, "name": "a"}, "count": 2}
    found[f"list of {NUMBERS:,} numbers"] = Numbers, {"values": list(range(NUMBERS))}
    return found


@dataclass
class Row:
    """A model and a piece of work: microseconds by each library, Pydantic's where the model is its own."""

    model: str
    work: str
    msgspec: float
    ludus: float
    pydantic: float | None = None

    @property
    def ratio(self) -> float:
        """How many times msgspec's own time."""
        return self.ludus / self.msgspec

    def to_json(self) -> dict[str, Any]:
        """As plain data; models that Pydantic makes have no bar for being made."""
        return {**vars(self), "ratio": self.ratio, "bar": None if self.pydantic else BAR}


def measure(rounds: int) -> list[Row]:
    """All models and works."""
    found: list[Row] = []
    for name, (model, data) in cases().items():
        space, like = Record(model), _like(model)
        value = space.read(data)
        works = {
            "read": (partial(msgspec.convert, data, like if _is_pydantic(model) else model), partial(space.read, data)),
            "contains": (partial(msgspec.convert, value, like, from_attributes=True), partial(space.contains, value)),
        }
        for work, pair in works.items():
            own = (partial(model.model_validate, data),) if _is_pydantic(model) and work == "read" else ()
            found.append(Row(name, work, *(one * 1e6 for one in seconds(rounds, *pair, *own))))
    return found


def main() -> int:
    """Print the table; 1 where a ratio is over the bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    given = parser.parse_args()
    rows = measure(QUICK_ROUNDS if given.quick else ROUNDS)
    print(f"{'model':<26}{'work':<10}{'msgspec':>11}{'ludus':>11}{'ratio':>7}{'pydantic':>11}")
    for row in rows:
        pydantic = f"{row.pydantic:>9.2f}µs" if row.pydantic else ""
        print(f"{row.model:<26}{row.work:<10}{row.msgspec:>9.2f}µs{row.ludus:>9.2f}µs{row.ratio:>7.2f}{pydantic}")
    worst = max(row.ratio for row in rows if not row.pydantic)
    print(f"worst ratio {worst:.2f}, bar {BAR}; Pydantic's models are made by Pydantic, whose own time is beside ours")
    if given.json:
        given.json.write_text(json.dumps([row.to_json() for row in rows], indent=1))
    return int(worst > BAR)


def _like(model: Any) -> Any:
    """What msgspec converts to: a Struct of the same fields, so that instances are looked at and not passed through."""
    if model is Outer:
        inner = msgspec.defstruct("Inner", [("x", int), ("name", str)])
        return msgspec.defstruct("Outer", [("inner", inner), ("count", int)])
    hints = {name: one.annotation for name, one in model.model_fields.items()} if _is_pydantic(model) else None
    return msgspec.defstruct("Like", list((hints or model.__annotations__).items()))


def _is_pydantic(model: Any) -> bool:
    return isinstance(model, type) and issubclass(model, BaseModel)


if __name__ == "__main__":
    sys.exit(main())
