"""Docs: show the doctests of a docstring as code.

Our docstrings write `>>>` straight after the prose; Markdown would read that as a quotation. This griffe extension puts
each such block into a fence before the docstring is parsed.
"""

import re
from typing import Any

import griffe

BLOCK = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", flags=re.MULTILINE)


class FenceDoctests(griffe.Extension):
    """Fence every unindented doctest block: it starts at `>>>` and ends at the next blank line."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of each object as it is loaded."""
        if obj.docstring:
            obj.docstring.value = BLOCK.sub(r"\n```pycon\n\g<0>\n```", obj.docstring.value)
