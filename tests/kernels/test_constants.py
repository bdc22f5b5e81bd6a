"""Constants from other files are part of what compiled code depends on: where one changes, nothing old is used."""

from enum import IntEnum
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

from ludus.kernels.exact.reach import constants_of, reached


def colours(red):
    return IntEnum("Colour", {"RED": red, "BLUE": 9})


def places(row):
    class Place(NamedTuple):
        row: int
        column: int = 0

    Place.__new__.__defaults__ = (row, 0)
    Place._field_defaults = {"row": row, "column": 0}
    return Place


def module(name, **held):
    found = ModuleType(name)
    vars(found).update(held)
    return found


def in_module(value):
    """A constant two modules away: `settings.physics.constant`."""
    return module("settings", physics=module("physics", constant=value))


PAIRS = {
    "an enumeration": (colours(1), colours(2)),
    "the default of a NamedTuple": (places(1), places(2)),
    "a number of NumPy's": (np.float32(0.5), np.float32(0.25)),
    "a flag of NumPy's": (np.bool_(True), np.bool_(False)),
    "an array in a tuple": ((np.zeros(2000),), (np.eye(1, 2000, 1000)[0],)),
    "a number of another dtype in a tuple": ((np.float32(1.0), 2), (np.float64(1.0), 2)),
    "a number of a module in a module": (in_module(1.5), in_module(2.5)),
    "an enumeration of a module in a module": (in_module(colours(1)), in_module(colours(2))),
}


def using(value):
    """A rule that takes the value from outside."""

    def rule(state):
        return settings.physics.constant, settings, state  # noqa: F821  (put there below)

    return type(rule)(rule.__code__, {"settings": value}, "rule")


@pytest.mark.parametrize("what", PAIRS)
def test_another_constant_is_another_program(what):
    first, second = (constants_of(using(one)) for one in PAIRS[what])
    assert first != second
    assert first == constants_of(using(PAIRS[what][0]))


@pytest.mark.parametrize("what", [one for one in PAIRS if "module" not in one])
def test_another_default_of_a_function_is_another_program(what):
    def rule(state, given=None):
        return state, given

    found = []
    for one in PAIRS[what]:
        rule.__defaults__ = (one,)
        found.append(constants_of(rule))
    assert found[0] != found[1]


def test_a_function_of_a_module_in_a_module_is_reached():
    def helper(state):
        return state

    rule = using(in_module(helper))
    assert reached([rule]) == [rule, helper]


def test_modules_that_hold_each_other_are_looked_at_once():
    settings = in_module(1.5)
    settings.physics.settings = settings
    assert "settings.physics.constant=1.5" in constants_of(using(settings))
