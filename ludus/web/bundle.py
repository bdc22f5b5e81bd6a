"""Pages of one script, as that of recorded runs: their modules put together, for a server or a document alone.

A browser loads no modules from `file://`, so they are put together here: each becomes a function that gives what it
exports. Only the forms of `import` and `export` that our own files use are known; any other is an error of ours.
"""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ludus.errors import LudusError
from ludus.web.pages import FOLDER

__all__ = ["POLICY", "Bundle", "bundle", "document"]

ENTRY = "view.js"
STYLES = {ENTRY: ("base.css", "play.css", "view.css"), "task.js": ("base.css", "play.css", "task.css")}
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const|let)\b\*? *(\w+))", re.MULTILINE)
ODD = re.compile(r"^(import|export)\b.*$", re.MULTILINE)
POLICY = "default-src 'none'; img-src blob: data:; base-uri 'none'; form-action 'none'"
"""What a page that stands alone may do, beside its own script and style: show pictures that are in it."""

SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
{head}
<title>Ludus</title>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header class="bar">
<a class="brand" href="#/"><span class="mark-of-ludus" aria-hidden="true"></span><span>Ludus</span></a>
<nav aria-label="Runs" id="runs"></nav>
<span class="grow"></span>
<span class="chip" id="live-chip" hidden>being recorded</span>
<button type="button" class="quiet square" id="reload" aria-label="Read the files again" hidden>↻</button>
<button type="button" class="quiet square" id="theme" aria-label="Dark or light"></button>
</header>
<main id="main" tabindex="-1"><p class="waiting">Loading…</p></main>
<div id="live" class="unseen" aria-live="polite"></div>
<noscript><p class="notice">This page needs JavaScript; all of it is here.</p></noscript>
{tail}
</body>
</html>
"""


class Bundle(NamedTuple):
    """A script that runs before anything is shown, the script, and the style."""

    early: str
    script: str
    style: str


@lru_cache(maxsize=4)
def bundle(entry: str = ENTRY) -> Bundle:
    """The files of the page that begins with `entry`, put together once."""
    order: list[str] = []
    _gather(entry, order, ())
    script = "\n".join(map(_as_function, order))
    style = "\n".join((FOLDER / name).read_text(encoding="utf8") for name in STYLES[entry])
    return Bundle((FOLDER / "theme.js").read_text(encoding="utf8"), f'"use strict";\n{script}\n', style)


def _gather(name: str, order: list[str], above: tuple[str, ...]) -> None:
    """A module after those it imports."""
    if name in order:
        return
    if name in above:
        raise LudusError(f"{name}: expected modules without a cycle, got {' → '.join((*above, name))}")
    for _, other in IMPORT.findall((FOLDER / name).read_text(encoding="utf8")):
        _gather(other, order, (*above, name))
    order.append(name)


def _as_function(name: str) -> str:
    text = (FOLDER / name).read_text(encoding="utf8")
    exported = [found[1] for found in EXPORT.findall(text)]
    text = IMPORT.sub(lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = {_variable(found[2])};\n", text)
    text = EXPORT.sub(r"\1", text)
    odd = ODD.search(text)
    if odd is not None:
        raise LudusError(f'{name}: expected `import {{…}} from "./file.js"` or `export function …`, got {odd[0]!r}')
    return f"const {_variable(name)} = (() => {{\n{text}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _variable(name: str) -> str:
    return f"module_{name.removesuffix('.js')}"


def document(*, head: str, tail: str) -> str:
    """The page around these."""
    return SHELL.replace("{head}", head).replace("{tail}", tail)


def hashed(text: str) -> str:
    """A script or style as a Content-Security-Policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
