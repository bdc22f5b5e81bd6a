"""The house rules that a machine can check, over every file of the package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(ROOT.joinpath("ludus").rglob("*.py"))

every_file = pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["ludus" if node.level else node.module or ""]
    return []


@every_file
def test_a_file_has_at_most_500_lines(path):
    assert len(path.read_text(encoding="utf8").splitlines()) <= 500


@every_file
def test_a_function_has_at_most_50_lines(path):
    long = {f.name: f.end_lineno - f.lineno + 1 for f in functions(path) if f.end_lineno - f.lineno + 1 > 50}
    assert long == {}


@every_file
def test_no_assert_guards_anything(path):
    tree = ast.parse(path.read_text(encoding="utf8"))
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)] == []


@every_file
def test_an_import_inside_a_function_says_why_it_is_there(path):
    lines = path.read_text(encoding="utf8").splitlines()
    unexplained = [
        f"{function.name}, line {node.lineno}: {name}"
        for function in functions(path)
        for node in ast.walk(function)
        for name in imported_names(node)
        if name.partition(".")[0] == "ludus" and "#" not in lines[node.lineno - 1] + lines[node.end_lineno - 1]
    ]
    assert unexplained == []


@every_file
def test_a_file_is_named_for_what_it_holds(path):
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}


@every_file
def test_a_door_only_imports_and_lists(path):
    if path.name != "__init__.py":
        return
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.If, ast.Expr)
    body = ast.parse(path.read_text(encoding="utf8")).body
    work = [node for node in body if not isinstance(node, allowed)]
    work += [node for node in body if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)]
    assert [f"line {node.lineno}" for node in work] == []
