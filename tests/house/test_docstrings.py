"""Every public class has an example that the doctests run, and every public name says what it is."""

import doctest
import importlib
import inspect
from pathlib import Path

from tests.house.offenders import none_of

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


def test_a_public_name_has_a_docstring():
    none_of((name for name, thing in NAMES.items() if not thing.__doc__), "a public name has a docstring")


def test_a_public_class_has_a_runnable_example():
    none_of((name for name in EXEMPLARY if not examples(CLASSES[name])), "a public class has a `>>>` example")


def test_a_public_method_has_a_docstring_of_its_own_or_of_its_base():
    found = (f"{name}.{label}" for name, thing in CLASSES.items() for label in undescribed_methods(thing))
    none_of(found, "a public method has a docstring of its own or of its base")


def examples(thing: type) -> list[doctest.Example]:
    # Its own docstring: an example inherited from the base class shows the base class.
    return doctest.DocTestParser().get_examples(vars(thing).get("__doc__") or "")


def undescribed_methods(thing: type) -> list[str]:
    own = [label for label, member in vars(thing).items() if not label.startswith("_") and is_method(member)]
    return [label for label in own if not inspect.getdoc(getattr(thing, label))]


def is_method(member: object) -> bool:
    return inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod)


class Described:
    """It has an example.

    >>> 1 + 1
    2
    """

    def method(self):
        """Do what its docstring says."""


class Undescribed(Described):
    def method(self): ...

    def another(self): ...

    @property
    def value(self): ...


def test_what_has_no_docstring_and_no_example_is_found():
    assert [bool(examples(Described)), bool(examples(Undescribed))] == [True, False]
    assert [undescribed_methods(Described), undescribed_methods(Undescribed)] == [[], ["another", "value"]]
