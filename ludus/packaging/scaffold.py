"""`scaffold`: a new environment in a folder of its own: one file of code, a test, and what packages it."""

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Literal

from ludus.errors import InvalidArgument, shorten
from ludus.packaging.manifest import MANIFEST

__all__ = ["Kind", "scaffold"]

Kind = Literal["typed", "tools", "array"]
TEMPLATES = Path(__file__).with_name("templates")
NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")
MAX_NAME_CHARS = 50
DESCRIPTIONS: dict[Kind, str] = {
    "typed": "Find a hidden number, by guesses that are answered.",
    "tools": "Find a hidden number, by calls of tools.",
    "array": "Walk along a line to a goal.",
}


def scaffold(name: str, parent: str | Path = ".", kind: Kind = "typed") -> list[Path]:
    """Write a new environment to `parent/name`, and return the files; nothing that is there is ever overwritten.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     [path.name for path in scaffold("my_maze", parent)]
    ['my_maze.py', 'test_my_maze.py', 'ludus.toml', 'pyproject.toml', 'README.md']
    """
    names = _words(name)
    folder = Path(parent).expanduser() / name
    files = _files(names, kind)
    _claim(folder)
    for file, text in files.items():
        with (folder / file).open("x", encoding="utf8") as opened:
            opened.write(text)
    return [folder / file for file in files]


def _words(name: str) -> dict[str, str]:
    """The name as module, class, distribution and id; raises InvalidArgument for one that cannot be all of them."""
    if not NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise InvalidArgument(
            f"name: expected lower-case words joined by '_' or '-', as in 'my_maze', "
            f"of at most {MAX_NAME_CHARS} letters, "
            f"got {shorten(name)}"
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or _is_taken(module):
        raise InvalidArgument(f"name: expected one that no module has yet, got {name!r}; try {f'{name}_env'!r}")
    class_name = "".join(word.capitalize() for word in module.split("_"))
    return {
        "name": name,
        "module": module,
        "class_name": class_name,
        "distribution": module.replace("_", "-"),
        "id": f"{module}/{class_name}-v0",
        "title": " ".join(word.capitalize() for word in module.split("_")),
    }


def _is_taken(module: str) -> bool:
    """Whether a module of that name is installed; one of the current folder is no hindrance."""
    found = find_spec(module)
    places = [found.origin or "", *(found.submodule_search_locations or ())] if found is not None else []
    own = (Path.cwd(), Path.cwd() / module)
    return module == "ludus" or any(place and not {Path(place), Path(place).parent} & {*own} for place in places)


def _files(names: dict[str, str], kind: Kind) -> dict[str, str]:
    module = names["module"]
    named = {
        f"{module}.py": kind,
        f"test_{module}.py": "test",
        MANIFEST: "manifest",
        "pyproject.toml": "pyproject",
        "README.md": "readme",
    }
    known = {**names, "description": DESCRIPTIONS[kind]}
    return {file: Template(_template(name)).substitute(known) for file, name in named.items()}


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.txt").read_text(encoding="utf8")


def _claim(folder: Path) -> None:
    """The folder, made here; one that is there and holds anything is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = next(folder.iterdir(), None)
    except OSError as error:
        raise InvalidArgument(f"{folder}: expected a folder that can be written, got {error}") from error
    if there is not None:
        raise InvalidArgument(f"{folder}: expected a new or empty folder, got one with {there.name!r} in it")
