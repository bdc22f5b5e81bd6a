"""Every public class has an example that the doctests run, and every public name says what it is."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["ludus", *sorted(f"ludus.{door.parent.name}" for door in ROOT.glob("ludus/*/__init__.py"))]


def public(room: str) -> list[tuple[str, object]]:
    """The names a room offers in its `__all__`; a room without one offers none."""
    module = importlib.import_module(room)
    return [(f"{room}.{name}", getattr(module, name)) for name in getattr(module, "__all__", [])]


def described(name: str, thing: object) -> bool:
    return callable(thing) and not name.endswith("__") and getattr(thing, "__module__", "").startswith("ludus")


NAMES = {name: thing for room in ROOMS for name, thing in public(room) if described(name, thing)}
CLASSES = {name: thing for name, thing in NAMES.items() if inspect.isclass(thing)}
EXEMPLARY = [name for name, thing in CLASSES.items() if not issubclass(thing, BaseException)]


def test_every_room_lists_what_it_offers():
    assert [room for room in ROOMS if not hasattr(importlib.import_module(room), "__all__")] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_docstring(name):
    assert NAMES[name].__doc__


@pytest.mark.parametrize("name", EXEMPLARY)
def test_a_public_class_has_a_runnable_example(name):
    # Its own docstring: an example inherited from the base class shows the base class.
    docstring = vars(CLASSES[name]).get("__doc__") or ""
    assert doctest.DocTestParser().get_examples(docstring), f"{name} has no `>>>` example"


@pytest.mark.parametrize("name", CLASSES)
def test_a_public_method_has_a_docstring_of_its_own_or_of_its_base(name):
    own = [member for member in vars(CLASSES[name]).items() if not member[0].startswith("_")]
    methods = {label: getattr(CLASSES[name], label) for label, member in own if is_method(member)}
    assert [label for label, method in methods.items() if not inspect.getdoc(method)] == []


def is_method(member: object) -> bool:
    return inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod)
