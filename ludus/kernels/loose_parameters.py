"""Loose parameters: arrays, bytes and tuples of the parameters, as words that a loop reads them from."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ludus.errors import KernelError, shorten
from ludus.kernels.tree import NUMBERS, is_record
from ludus.spaces.kinds import class_of, is_array, is_tuple

__all__ = ["Form", "form_of", "loose_text", "records_in", "words_of"]

WORD = np.dtype(np.int64)


class Form(NamedTuple):
    """How a value is handed over, and of what type it is then."""

    kind: str
    """`array`, `bytes`, `number`, `tuple`, or `text` for what is written into the loop itself."""
    dtype: str = ""
    ndim: int = 0
    order: str = ""
    """How an array lies in memory: C, F, or A for any other way."""
    record: type[NamedTuple] | None = None
    """The class of a NamedTuple."""
    parts: "tuple[Form, ...]" = ()
    text: str = ""

    @property
    def size(self) -> int:
        """How many words it takes."""
        own = {"array": 1 + 2 * self.ndim, "bytes": 2, "number": 1}.get(self.kind, 0)
        return own + sum(part.size for part in self.parts)


def form_of(name: str, value: object) -> Form:
    """The form of a parameter; raises KernelError for what no loop can read.

    >>> form_of("map", (1, b"SFG")).size
    3
    """
    if is_array(value) and value.dtype.kind in "biuf" and value.dtype.isnative:
        order = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return Form("array", _named(value.dtype), value.ndim, order)
    if isinstance(value, bytes):
        return Form("bytes")
    if isinstance(value, str) or value is None:
        return Form("text", text=repr(value))
    if is_tuple(value):
        parts = tuple(form_of(name, one) for one in value)
        return Form("tuple", record=type(value) if is_record(value) else None, parts=parts)
    if isinstance(value, NUMBERS):
        scalar = np.asarray(value)
        if scalar.dtype.kind in "biuf" and scalar.dtype.itemsize <= WORD.itemsize:
            return Form("number", _named(scalar.dtype))
    raise KernelError(
        f"{name}: expected numbers, bools, bytes, arrays of them, or tuples of these in the parameters of a compiled "
        f"batch, got {shorten(value)} ({class_of(value).__name__})"
    )


def _named(dtype: np.dtype[np.generic]) -> str:
    return "bool_" if dtype == np.bool_ else dtype.name


def words_of(form: Form, value: object) -> Iterator[int]:
    """The words of a value, which has to stay where it is."""
    if is_array(value):
        yield from (value.ctypes.data, *value.shape, *value.strides)
    elif isinstance(value, bytes):
        held = np.frombuffer(value, np.uint8) if value else np.zeros(1, np.uint8)
        yield from (held.ctypes.data, len(value))
    elif form.kind == "number":
        bits = np.zeros(1, WORD)
        bits.view(np.dtype(form.dtype.rstrip("_")))[0] = value
        yield int(bits[0])
    elif is_tuple(value):
        for part, one in zip(form.parts, value, strict=True):
            yield from words_of(part, one)


def loose_text(form: Form, at: int, records: Mapping[type[NamedTuple], str]) -> str:
    """What the loop reads a value by, whose words begin `at` a place."""
    if form.kind == "array":
        return f"array_given(words, {at}, np.{form.dtype}, {form.ndim}, {form.order!r})"
    if form.kind == "bytes":
        return f"bytes_given(words, {at})"
    if form.kind == "number":
        return f"number_given(words, {at}, np.{form.dtype})"
    if form.kind == "text":
        return form.text
    written = ""
    for part in form.parts:
        written += f"{loose_text(part, at, records)}, "
        at += part.size
    return f"{'' if form.record is None else records[form.record]}({written})"


def records_in(form: Form) -> Iterator[type[NamedTuple]]:
    """The classes of NamedTuples in a form."""
    if form.record is not None:
        yield form.record
    for part in form.parts:
        yield from records_in(part)
