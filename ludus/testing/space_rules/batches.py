"""Rules about forms: batches, flat rows and shared memory hold values without loss."""

import numpy as np

from ludus.errors import shorten
from ludus.spaces import Space
from ludus.testing.equality import difference
from ludus.testing.report import error
from ludus.testing.rule import Found
from ludus.testing.space_subject import SpaceSubject

__all__ = ["batches_give_values_back", "flattening_gives_values_back", "shared_memory_gives_values_back"]

LANES = 3


def batches_give_values_back(subject: SpaceSubject) -> Found:
    """Values joined by `concatenate` are in `batch(n)`, whose `iterate` gives them back."""
    space = subject.fresh()
    for n in (1, LANES):
        values, batch = subject.samples[:n], space.batch(n)
        joined = space.concatenate(values, space.empty(n))
        if not batch.contains(joined):
            reasons = "; ".join(map(str, batch.validate(joined, "batch"))) or shorten(joined)
            yield error(
                f"concatenate of {n}: expected a value of batch({n}), got {reasons}",
                "let batch, empty and concatenate fit together",
            )
            return
        wrong = _lanes_differ(batch, joined, values)
        if wrong:
            yield error(
                f"batch({n}).iterate: expected the {n} values back, got {wrong}", "let iterate undo concatenate"
            )
            return
        if not batch.contains(batch.sample()):
            yield error(
                f"batch({n}).sample(): expected a value of {batch!r}, got one it refuses",
                "let batch be a space of its own",
            )
            return


def _lanes_differ(batch: Space[object], joined: object, values: list[object]) -> str:
    lanes = list(batch.iterate(joined))
    if len(lanes) != len(values):
        return f"{len(lanes)}"
    found = difference(values, lanes, "lane ")
    return "" if found is None else str(found)


def flattening_gives_values_back(subject: SpaceSubject) -> Found:
    """`flatten` gives values of `flat_space`, a row of `flatdim` where it can, and `unflatten` undoes it."""
    space = subject.fresh()
    flat_space = space.flat_space()
    for value in subject.samples:
        flat = space.flatten(value)
        if space.is_np_flattenable and (shape := np.asarray(flat).shape) != (space.flatdim,):
            message = f"flatten({shorten(value)}): expected a row of flatdim = {space.flatdim}, got shape {shape}"
            yield error(message, "let flatten give one row, or is_np_flattenable be False")
            return
        if not flat_space.contains(flat):
            reasons = "; ".join(map(str, flat_space.validate(flat, "flat"))) or shorten(flat)
            yield error(
                f"flatten({shorten(value)}): expected a value of {flat_space!r}, got {reasons}",
                "let flat_space admit what flatten gives",
            )
            return
        found = difference(value, space.unflatten(flat))
        if found:
            yield error(
                f"unflatten(flatten({shorten(value)})): expected it back, got {found}", "let unflatten undo flatten"
            )
            return


def shared_memory_gives_values_back(subject: SpaceSubject) -> Found:
    """Values written into the lanes of shared memory, in any order and twice, are read back."""
    space = subject.fresh()
    memory = space.create_shared(LANES, bytearray)
    for values in (subject.samples[:LANES], subject.samples[LANES : 2 * LANES]):
        for lane in reversed(range(LANES)):
            space.write_shared(memory, lane, values[lane])
        wrong = _lanes_differ(space.batch(LANES), space.read_shared(memory, LANES), values)
        if wrong:
            message = f"shared memory of {LANES} lanes: expected the values written, got {wrong}"
            yield error(message, "let create_shared, write_shared and read_shared fit together")
            return
