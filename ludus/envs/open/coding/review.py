"""Review of code by reading it: what is unsafe, and how it is written.

It reads tokens and never parses: a parser of this process would meet whatever an agent writes.
"""

import io
import re
import tokenize
from contextlib import suppress

__all__ = ["style_score", "unsafe_words"]

UNSAFE_MODULES = frozenset({"os", "subprocess", "socket", "shutil", "ctypes", "multiprocessing", "signal", "pty"})
UNSAFE_CALLS = frozenset({"eval", "exec", "compile", "open", "__import__"})
LONGEST_LINE = 120
AFTER_COLON = re.compile(r":(\s++)[rR]?[\"']")
DEFINES = re.compile(r"def\s")
CAMEL = re.compile(r"\bdef\s+\w*[A-Z]")


def unsafe_words(code: str) -> list[str]:
    r"""Modules that are imported and functions that are called, though code of a task needs neither.

    >>> unsafe_words("import os, math\nprint(eval('1'))  # exec()")
    ['os', 'eval']
    """
    found: list[str] = []
    importing, before = False, ""
    for kind, text in _tokens(code):
        if kind == tokenize.NAME:
            fresh = text in ("import", "from") and before in ("", "\n", ";", ":")
            importing = fresh or (importing and text != "as")
            if importing and text in UNSAFE_MODULES and before in ("import", "from", ","):
                found.append(text)
        elif text == "(" and before in UNSAFE_CALLS:
            found.append(before)
        if kind in (tokenize.NEWLINE, tokenize.NL) or text == ";":
            importing = False
        before = "\n" if kind in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT) else text
    return found


def style_score(code: str) -> float:
    r"""From 0 to 1: short lines, a docstring, names as everybody writes them, no bare except.

    >>> style_score('def double(x):\n    "Twice x."\n    return 2 * x\n')
    1.0
    """
    lines = code.splitlines()
    checks = (
        all(len(line) <= LONGEST_LINE for line in lines),
        _has_docstring(code),
        CAMEL.search(code) is None,
        re.search(r"except\s*:", code) is None,
    )
    return sum(checks) / len(checks)


def _has_docstring(code: str) -> bool:
    """Whether a text follows the line of some `def`; in linear time, whatever the code is."""
    return any(
        "\n" in found[1][:-1] and DEFINES.search(code, code.rfind("\n", 0, found.start()) + 1, found.start())
        for found in AFTER_COLON.finditer(code)
    )


def _tokens(code: str) -> list[tuple[int, str]]:
    """As many as can be read."""
    found: list[tuple[int, str]] = []
    with suppress(tokenize.TokenError, SyntaxError, ValueError):  # what follows cannot be run either
        found.extend((one.type, one.string) for one in tokenize.generate_tokens(io.StringIO(code).readline))
    return [one for one in found if one[0] not in (tokenize.COMMENT, tokenize.STRING)]
