"""Errors: the tree drawn in the docstring is the tree there is, and texts are cut to a readable length."""

import inspect
import re

import pytest

from ludus import errors

CLASSES = {name: one for name, one in vars(errors).items() if inspect.isclass(one) and issubclass(one, Exception)}
DRAWN = re.findall(r"^([│├└─ ]*)(\w+)(.*)$", errors.__doc__.split("```")[1], flags=re.MULTILINE)


def drawn_parents():
    """Name → name of the parent, by the depth of the drawing."""
    line, parents = [], {}
    for indent, name, _ in DRAWN:
        depth = len(indent) // 4
        line = [*line[:depth], name]
        parents[name] = line[depth - 1] if depth else None
    return parents


def test_every_error_is_drawn_in_the_tree_and_listed():
    assert set(drawn_parents()) == set(CLASSES)
    assert set(errors.__all__) == {*CLASSES, "closest", "did_you_mean", "listing", "shorten"}


@pytest.mark.parametrize(("name", "parent"), drawn_parents().items())
def test_the_tree_is_as_drawn(name, parent):
    if parent is None:
        assert CLASSES[name] is errors.LudusError
    else:
        assert CLASSES[parent] in CLASSES[name].__bases__


@pytest.mark.parametrize(("name", "rest"), [(name, rest) for _, name, rest in DRAWN if rest.rstrip().endswith(")")])
def test_the_builtin_in_brackets_is_a_base_too(name, rest):
    builtin = re.search(r"\((\w+)\)\s*$", rest)[1]
    assert builtin in {base.__name__ for base in CLASSES[name].__mro__}


def test_every_error_says_when_it_is_raised():
    assert [name for name, one in CLASSES.items() if not one.__doc__] == []


def test_a_long_value_is_cut_to_its_first_characters_on_one_line():
    assert errors.shorten("abc") == "'abc'"
    assert errors.shorten([1, 2]) == "[1, 2]"
    assert errors.shorten("x" * 200) == "'" + "x" * 78 + "…"
    assert errors.shorten(range(10), limit=5) == "rang…"
    assert "\n" not in errors.shorten(__import__("numpy").zeros((3, 3)))


def test_a_long_list_of_names_is_cut_and_counted():
    assert errors.listing(["a", 1]) == "a, 1"
    assert errors.listing(range(22)) == ", ".join(map(str, range(20))) + " and 2 more"
    assert errors.listing("abc", limit=2) == "a, b and 1 more"
    assert errors.listing([]) == ""
