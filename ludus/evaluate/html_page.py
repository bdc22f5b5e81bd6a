"""A page of tables and pictures: one file without scripts and outside addresses; whatever it is given is text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["html_page", "html_table"]

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1b2a49; --quiet: #5c667a; --line: #d9dee8; --ground: #fcfcfe; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e8ebf2; --quiet: #a3adc2; --line: #36405a; --ground: #141a2a; }}
  figure {{ background: #fcfcfe; }}
}}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .35rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }}
td.number, th.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
code, small {{ color: var(--quiet); }}
figure {{ margin: 1rem 0; border-radius: 8px; overflow-x: auto; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def html_page(title: str, body: str) -> str:
    """A page around what is HTML already.

    >>> "<h1>A &amp; B</h1>" in html_page("A & B", "")
    True
    """
    return PAGE.format(title=escape(title), body=body)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> str:
    """A table; the first `texts` columns are words, the others numbers.

    >>> html_table(["agent", "score"], [["<mine>", "0.5"]]).count("class=number")
    2
    """

    def row(cells: Sequence[str], tag: str) -> str:
        kinds = ["" if at < texts else " class=number" for at in range(len(cells))]
        content = "".join(f"<{tag}{kind}>{escape(one)}</{tag}>" for one, kind in zip(cells, kinds, strict=True))
        return f"<tr>{content}</tr>"

    lines = [row(heads, "th"), *(row(one, "td") for one in rows)]
    return '<div class="wide"><table>' + "\n".join(lines) + "</table></div>"
