"""The parameters of a batch, as its loop takes them: a row of numbers, and what is no number by itself."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ludus.errors import InvalidArgument, shorten
from ludus.kernels.loose_parameters import form_of, words_of
from ludus.kernels.source import ParameterField
from ludus.kernels.state_arrays import read_only
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import class_of

__all__ = ["ParameterTable"]

KINDS: dict[type[object], str] = {float: "float", int: "int", bool: "bool"}


class ParameterTable:
    """One `Params` for all lanes, or one for each.

    >>> from ludus.envs.classic import CartPole
    >>> moon = CartPole().params._replace(gravity=1.6)
    >>> table = ParameterTable([CartPole().params, moon], 2)
    >>> table.of_each("gravity"), [one.name for one in table.fields if one.varies]
    ((9.8, 1.6), ['gravity'])
    """

    def __init__(self, params: Sequence[Any], lanes: int) -> None:
        self.rows, self.lanes = list(params), lanes
        if len(self.rows) not in (1, lanes):
            raise InvalidArgument(f"params: expected one for each of {lanes} lanes, or one for all, got {len(params)}")
        self.fields = tuple(map(self._field, self.params._fields))
        self._values = self._numbers()
        self._loose = [self._handed_over(one) for one in self.fields if one.kind == "loose"]
        self.fields = tuple(self._with_form(one) for one in self.fields)

    @property
    def params(self) -> Any:
        """The parameters of lane 0."""
        return self.rows[0]

    def of_each(self, name: str) -> tuple[object, ...]:
        """A parameter of every lane."""
        found = tuple(getattr(row, name) for row in self.rows)
        return found if len(found) == self.lanes else found * self.lanes

    def changed(self, name: str, values: Sequence[object]) -> "ParameterTable":
        """The table with other values of a parameter, one for all lanes or one for each."""
        rows = self.rows if len(values) == 1 else [self.rows[lane % len(self.rows)] for lane in range(self.lanes)]
        if len(values) not in (1, self.lanes):
            raise InvalidArgument(f"{name}: expected one value, or {self.lanes}, one for each lane, got {len(values)}")
        each = values if len(values) == len(rows) else list(values) * len(rows)
        return ParameterTable([row._replace(**{name: one}) for row, one in zip(rows, each, strict=True)], self.lanes)

    def replaced(self, before: NamedTuple, after: object) -> "ParameterTable":
        """The table with the fields that differ between two `Params` as they are in the second."""
        return self.replaced_each(before, [after])

    def replaced_each(self, before: NamedTuple, after: Sequence[object]) -> "ParameterTable":
        """The same for each lane, or for all: `after` has as many."""
        table = self
        for name, old in zip(before._fields, before, strict=True):
            values = [getattr(one, name) for one in after]
            stays = [one is old or np.array_equal(one, old) for one in values]
            if not all(stays):
                own = self.of_each(name)
                table = table.changed(name, [own[lane] if stays[lane] else one for lane, one in enumerate(values)])
        return table

    def forked(self, lanes: Array) -> "ParameterTable":
        """The table of these lanes."""
        if len(self.rows) == 1:
            return self if len(lanes) == self.lanes else ParameterTable(self.rows, len(lanes))
        return ParameterTable([self.rows[lane] for lane in lanes.tolist()], len(lanes))

    def _field(self, name: str) -> ParameterField:
        values = [getattr(row, name) for row in self.rows]
        others = [one for one in values if one is not values[0]]
        varies = bool(others) and any(not np.array_equal(one, values[0]) for one in others)
        kinds = {KINDS.get(class_of(one), "loose") for one in values}
        if kinds == {"int", "float"}:
            return ParameterField(name, "float", varies)
        return ParameterField(name, kinds.pop() if len(kinds) == 1 else "loose", varies)

    @property
    def words(self) -> list[int]:
        """What a loop reads: where the numbers are and how many bytes of them, then the words of what is loose.

        They hold as long as this table.
        """
        forms = [one.form for one in self.fields if one.form is not None]
        found = [self._values.ctypes.data, self._values.nbytes]
        return found + [word for form, value in zip(forms, self._loose, strict=True) for word in words_of(form, value)]

    def _with_form(self, field: ParameterField) -> ParameterField:
        if field.kind != "loose":
            return field
        loose = [one.name for one in self.fields if one.kind == "loose"]
        return field._replace(form=form_of(field.name, self._loose[loose.index(field.name)]))

    def _numbers(self) -> Array:
        numbers = [one for one in self.fields if one.kind != "loose"]
        varied = any(one.varies for one in self.fields)
        rows = self.rows if varied and len(self.rows) == self.lanes else self.rows[:1]
        values = np.zeros((len(rows), max(1, len(numbers))), dtype=np.int64)
        for slot, one in enumerate(numbers):
            column: Array = values.view(np.float64) if one.kind == "float" else values
            column[:, slot] = [getattr(row, one.name) for row in rows]
        return values.reshape(-1)

    def _handed_over(self, field: ParameterField) -> object:
        values = [getattr(row, field.name) for row in self.rows]
        if not field.varies:
            return read_only(values[0])
        arrays = [np.frombuffer(one, np.uint8) if isinstance(one, bytes) else np.asarray(one) for one in values]
        shapes = {(one.shape, one.dtype.kind) for one in arrays}
        if len(shapes) > 1 or arrays[0].dtype.kind not in "biuf":
            raise InvalidArgument(
                f"{field.name}: expected numbers of one shape in every lane of a compiled batch, "
                f"got {shorten(values)}; use executor='serial'"
            )
        return read_only(np.stack(arrays))
