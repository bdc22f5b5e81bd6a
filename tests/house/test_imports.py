"""Imports, however they are spelt: at the top, inside a function, or as text. No module is in a cycle of them."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.house.offenders import none_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ludus/tasks/library",)
"""Programs that tasks bring, which run by themselves and import `ludus` as any user does."""
DATA = {
    "ludus.composition": "entry points of environments that rooms above make, registered from above",
    "ludus.evaluate.file_agent": "the entry point of an environment",
    "ludus.interop.as_gymnasium.names": "Gymnasium's names, and the modules of ours that a finder gives for them",
    "ludus.interop.openenv.folder": "the name that a folder's code imports, for the module of ours it gets",
    "ludus.registry.assembly": "entry points of wrappers, for a spec",
    "ludus.registry.plugins": "the group of entry points that packages announce environments in",
    "ludus.packaging.openenv_yaml": "the application that a written file names",
    "ludus.tasks.folder": "the group of entry points that packages announce tasks in",
    "ludus.tasks.registration": "the entry point of an environment",
    "ludus.testing.env_rules.leaks": "whose attributes are no leak of an environment",
    "ludus.testing.service.static_rules": "the group of entry points that packages announce environments in",
}
"""Modules that may name others as text, since the text is data; why."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of a statement that hold others."""

pytestmark = pytest.mark.xdist_group("files of the package")


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(ROOT.joinpath("ludus").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(FOLDERS):
            found[name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = path
    return found


def imported(node: ast.AST, known: frozenset[str]) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & known
    if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
        return set()
    return {full if (full := f"{node.module}.{one.name}") in known else node.module for one in node.names} & known


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(tree: ast.AST, known: frozenset[str]) -> set[str]:
    """What a module imports, at the top or inside a function; what only types need is left out."""
    found, left = set(), [tree]
    while left:
        node = left.pop()
        found |= imported(node, known)
        inner = [one for name in BLOCKS for one in getattr(node, name, ())]  # an import is a statement
        left += [one for one in inner if not is_for_types(one)]
    return found


def texts(tree: ast.AST, known: frozenset[str]) -> set[str]:
    """Modules of ours that texts name, with `:name` or without; docstrings are none."""
    nodes = list(ast.walk(tree))
    loose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    written = (
        re.fullmatch(r"(ludus(?:\.\w+)+)(?::[\w.]+)?", node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in loose
    )
    return {match[1] for match in written if match} & known


@cache
def graph() -> dict[str, tuple[set[str], set[str]]]:
    known = frozenset(modules())
    found = {}
    for name, path in modules().items():
        source = path.read_text(encoding="utf8")
        tree = ast.parse(source)
        quoted = re.search(r"[\"']ludus\.", source)  # most files have no such text to look for
        found[name] = (imports(tree, known) - {name}, texts(tree, known) - {name} if quoted else set())
    return found


def cycle(edges: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other_however_it_is_spelt():
    found = cycle({name: by_statement | by_text for name, (by_statement, by_text) in graph().items()})
    assert found == [], f"a cycle: {' -> '.join(found)}"


def test_text_names_a_module_of_ours_only_where_it_is_data():
    found = (
        f"{name} names {', '.join(sorted(by_text))}: import it, inside a function if it has to be later"
        for name, (_, by_text) in graph().items()
        if by_text and name not in DATA
    )
    none_of(found, "an import is written as an import")


def test_what_is_listed_as_data_is_there():
    assert [name for name in DATA if not graph().get(name, ((), ()))[1]] == []


@pytest.mark.parametrize(
    "text",
    [
        "from ludus.core import Env",
        "def f():\n    from ludus.core import Env",
        "def f():\n    import ludus.core",
        "NAME = 'ludus.core:Env'",
        "load('ludus.core')",
    ],
)
def test_an_import_is_found_in_every_spelling_and_a_cycle_of_them_too(text):
    known, tree = frozenset({"ludus.core", "ludus.core.env"}), ast.parse(text)
    found = imports(tree, known) | texts(tree, known)
    assert found == {"ludus.core"}
    assert cycle({"ludus.core": {"ludus.spaces"}, "ludus.spaces": found}) != []


@pytest.mark.parametrize(
    "text", ['"ludus.core"', "if TYPE_CHECKING:\n    import ludus.core", "NAME = 'see ludus.core'"]
)
def test_prose_and_types_are_no_imports(text):
    known, tree = frozenset({"ludus.core"}), ast.parse(text)
    assert imports(tree, known) | texts(tree, known) == set()
