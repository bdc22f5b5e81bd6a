"""The house rules that a machine can check, over every file of the package."""

import ast
import gc
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.offenders import none_of

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(ROOT.joinpath("ludus").rglob("*.py"))
MAX_LINES_OF_A_FILE = 500
pytestmark = pytest.mark.xdist_group("files of the package")  # one worker reads and parses them, once
MAX_LINES_OF_A_FUNCTION = 50
UNTYPED_ROOMS = ("wire", "interop")
"""Rooms between us and others, whose values have no types of ours."""
MAX_UNTYPED = {
    "spaces": 150, "kernels": 78, "wrappers": 74, "core": 62, "envs": 47, "client": 27, "vector": 21, "trajectory": 16,
    "evaluate": 8, "tasks": 8, "testing": 8, "remote": 7, "registry": 6, "cli": 5, "sandbox": 5, "rubrics": 3,
    "tools": 4, "benchmarks": 2, "server": 2, "rendering": 1,
}  # fmt: skip
"""How often another room says `Any`: of values whose types only a user's code knows, of annotations that are read at
run time, of libraries without types. These numbers only fall."""


@pytest.fixture(scope="module", autouse=True)
def parsed() -> Iterator[None]:
    """Millions of nodes, none of them garbage before the last test: until then nobody looks for it among them."""
    gc.disable()
    yield
    nodes.cache_clear()
    gc.enable()


@cache
def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf8").splitlines()


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse("\n".join(lines(path)))))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["ludus" if node.level else node.module or ""]
    return []


def at(path: Path, line: int, what: object = "") -> str:
    """An offender, as editors and terminals open it."""
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
    return f"{name}:{line} {what}".rstrip()


def long_files(path: Path) -> Iterator[str]:
    if len(lines(path)) > MAX_LINES_OF_A_FILE:
        yield at(path, 1, f"has {len(lines(path))} lines")


def long_functions(path: Path) -> Iterator[str]:
    for function in functions(path):
        if (length := function.end_lineno - function.lineno + 1) > MAX_LINES_OF_A_FUNCTION:
            yield at(path, function.lineno, f"{function.name} has {length} lines")


def asserts(path: Path) -> Iterator[str]:
    return (at(path, node.lineno) for node in nodes(path) if isinstance(node, ast.Assert))


def unexplained_imports(path: Path) -> Iterator[str]:
    for function in functions(path):
        for node in ast.walk(function):
            for name in imported_names(node):
                said = "#" in lines(path)[node.lineno - 1] + lines(path)[node.end_lineno - 1]
                if name.partition(".")[0] == "ludus" and not said:
                    yield at(path, node.lineno, f"{function.name} imports {name}")


def nameless_files(path: Path) -> Iterator[str]:
    if path.stem in {"utils", "util", "helpers", "common", "misc"}:
        yield at(path, 1)


def working_doors(path: Path) -> Iterator[str]:
    if path.name != "__init__.py":
        return
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.If, ast.Expr)
    for node in ast.parse("\n".join(lines(path))).body:
        text_only = not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant)
        if not (isinstance(node, allowed) and text_only):
            yield at(path, node.lineno)


def everywhere(check) -> Iterator[str]:
    return (offender for path in FILES for offender in check(path))


def test_a_file_has_at_most_500_lines():
    none_of(everywhere(long_files), "a file has at most 500 lines")


def test_a_function_has_at_most_50_lines():
    none_of(everywhere(long_functions), "a function has at most 50 lines")


def test_no_assert_guards_anything():
    none_of(everywhere(asserts), "an error is raised, not asserted: `python -O` leaves asserts out")


def test_an_import_inside_a_function_says_why_it_is_there():
    none_of(everywhere(unexplained_imports), "an import inside a function has a comment that says why")


def test_a_file_is_named_for_what_it_holds():
    none_of(everywhere(nameless_files), "a file is named for what it holds")


def test_an_init_only_imports_and_lists():
    none_of(everywhere(working_doors), "a package's __init__.py imports and lists, and does nothing")


@pytest.mark.parametrize(
    ("check", "name", "text"),
    [
        (long_files, "odd.py", "\n" * 501),
        (long_functions, "odd.py", "async def f():\n" + "    1\n" * 50),
        (asserts, "odd.py", "class A:\n    assert 1"),
        (unexplained_imports, "odd.py", "def f():\n    import ludus.core"),
        (unexplained_imports, "odd.py", "def f():\n    from . import core"),
        (nameless_files, "helpers.py", ""),
        (working_doors, "__init__.py", "print()"),
        (working_doors, "__init__.py", "class A: ..."),
    ],
)
def test_an_offender_is_found_and_others_are_not(check, name, text, tmp_path):
    odd, good = tmp_path / name, tmp_path / "good.py"
    odd.write_text(text)
    good.write_text('"""Good."""\n\n\ndef f():\n    from ludus import core  # only when it is needed\n')
    assert [len(list(check(path))) for path in (odd, good)] == [1, 0]


def test_offenders_are_listed_to_the_last():
    with pytest.raises(pytest.fail.Exception, match=r"none is odd; 40 of them do not:\n  odd0\n(.*\n)*  odd39$"):
        none_of((f"odd{number}" for number in range(40)), "none is odd")


def untyped(path: Path) -> int:
    """How often a file says `Any`, which no type checker looks behind."""
    return sum(
        (isinstance(node, ast.Name) and node.id == "Any") or (isinstance(node, ast.Attribute) and node.attr == "Any")
        for node in nodes(path)
    )


def test_any_is_at_the_wire_and_in_interop_and_nowhere_more_often_than_it_was() -> None:
    found = Counter[str]()
    for path in FILES:
        found[path.relative_to(ROOT / "ludus").parts[0]] += untyped(path)
    none_of(
        [
            f"{room} says it {count} times, {MAX_UNTYPED.get(room, 0)} at most"
            for room, count in found.items()
            if room not in UNTYPED_ROOMS and count > MAX_UNTYPED.get(room, 0)
        ],
        "a room says `Any` no more often than it did",
    )


def test_any_is_counted_however_it_is_spelt(tmp_path) -> None:
    odd = tmp_path / "odd.py"
    odd.write_text("import typing\nfrom typing import Any\nx: Any\ndef f(y: list[typing.Any]) -> dict[str, Any]: ...\n")
    assert untyped(odd) == 3


def test_no_rule_of_the_type_checker_is_off() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["tool"]["pyright"]
    assert rules["typeCheckingMode"] == "strict"
    none_of(
        [name for name in rules if name.startswith("report") or name == "executionEnvironments"],
        "every rule of pyright holds in every file",
    )
