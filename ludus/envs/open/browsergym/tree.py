"""The accessibility tree as an agent reads it: a line for each element, with its number, role, name and states."""

import re
from typing import NamedTuple

__all__ = ["Element", "elements"]

LINE = re.compile(r"\t*\[(\d+)\] (\S+) '((?:[^'\\]|\\.)*)'(.*)")


class Element(NamedTuple):
    """A line of the tree."""

    bid: str
    role: str
    name: str
    states: str


def elements(tree: str) -> list[Element]:
    r"""The elements of the page, in order.

    >>> elements("\t[4] button 'OK', focused")
    [Element(bid='4', role='button', name='OK', states=', focused')]
    """
    found = (LINE.fullmatch(line) for line in tree.splitlines())
    unescape = re.compile(r"\\(.)")
    return [Element(one[1], one[2], unescape.sub(r"\1", one[3]), one[4]) for one in found if one]
