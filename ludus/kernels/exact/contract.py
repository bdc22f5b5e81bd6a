"""The contract of rules, tried once: what a first reset and step give is what a compiled loop can hold."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from traceback import extract_tb
from types import CodeType
from typing import NamedTuple

import numpy as np

from ludus.errors import KernelError, shorten
from ludus.kernels.exact.place import place_of
from ludus.kernels.rules import Rules
from ludus.seeding import np_random
from ludus.spaces.kinds import is_array, is_dict, is_tuple

__all__ = ["Sample", "sample_of"]


class Sample(NamedTuple):
    """One reset and one step, as the single environment would take them: what rules give is known by example."""

    state: NamedTuple
    given: tuple[object, ...]
    """What `step` gave."""
    options: "NamedTuple | None"


def sample_of(rules: Rules, params: object, action: object) -> Sample:
    """Try rules once; raises KernelError, with the rule's line, where they give what no column can hold."""
    try:
        return _tried(rules, params, action)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        frame = extract_tb(error.__traceback__)[-1]
        where = place_of(frame.filename, frame.lineno or 0)
        raise KernelError(
            f"{where}: expected what can be compiled, got a write into an array that was given; copy it first"
        ) from error


def _tried(rules: Rules, params: object, action: object) -> Sample:
    rng = np_random(0)[0]
    options = None if rules.options is None else rules.options()
    state = rules.reset(rng, params) if options is None else rules.reset(rng, params, options)
    _check_state(rules, rules.reset, state)
    state = rules.state._make(state)
    found = rules.step(deepcopy(state), action, rng, params)  # rules may change it in place
    if not is_tuple(found) or len(found) not in (3, 4, 5):
        raise KernelError(
            f"{_at(rules.step)}: expected (State, reward, terminated), and truncated and info after them if there are "
            f"any, got {shorten(found)}; return those"
        )
    _check_state(rules, rules.step, found[0])
    if rules.inform is not None:
        info: object = rules.inform(state, params)
        if is_dict(info):
            _check_fields(rules.inform, tuple(info.values()), tuple(info))
        elif is_tuple(info) and hasattr(info, "_fields"):
            _check_fields(rules.inform, info, getattr(info, "_fields", ()))
        else:
            raise KernelError(
                f"{_at(rules.inform)}: expected a NamedTuple or a dictionary from inform, got {shorten(info)}; "
                "define `class Info(NamedTuple)` and return Info(…)"
            )
    return Sample(state, found, options)


def _check_state(rules: Rules, rule: Callable[..., object], state: object) -> None:
    fields = rules.state._fields
    if not is_tuple(state) or len(state) != len(fields):
        expected = f"{rules.state.__name__}({', '.join(fields)})"
        raise KernelError(f"{_at(rule)}: expected {expected}, got {shorten(state)}; return all of its fields")
    _check_fields(rule, state, fields)


def _check_fields(rule: Callable[..., object], values: Iterable[object], fields: tuple[str, ...]) -> None:
    for name, value in zip(fields, values, strict=True):
        nested: tuple[str, ...] | None = getattr(value, "_fields", None)
        if is_tuple(value) and nested is not None:
            _check_fields(rule, value, nested)
        elif not is_tuple(value) and not _is_number(value):
            raise KernelError(
                f"{_at(rule)}: expected a number, a bool or an array of them for {name}, got {shorten(value)} "
                f"({type(value).__name__}); use numbers for names, and arrays of fixed shape for lists"
            )


def _is_number(value: object) -> bool:
    if isinstance(value, bool | int | float | np.bool_ | np.number):
        return True
    return is_array(value) and value.dtype.kind in "biuf"


def _at(rule: Callable[..., object]) -> str:
    code: CodeType | None = getattr(rule, "__code__", None)
    return getattr(rule, "__name__", "rule") if code is None else place_of(code.co_filename, code.co_firstlineno)
