"""What a task file names in its folder: whether it is there, and has the functions that are called.

Looked at as text when the task is loaded: nothing of it is executed, so a task by anybody can be asked about. Whether
the grader can be imported is seen where the data are made, in the grader's own sandbox.
"""

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from ludus.core.foreign_file import read_foreign_file
from ludus.tasks.spec import TaskSpec
from ludus.tasks.task_file import TaskFileError

__all__ = ["check_named_files"]

DEFAULT_STARTER = "starter"
MAX_PROGRAM_BYTES = 8 << 20
CALLED = {
    "evaluation.grader": ("grade", "grade(case)"),
    "data.generator": ("generate", "generate(seed, public, hidden)"),
}
"""The function of each program, and how it is called."""


def check_named_files(spec: TaskSpec, folder: Path, *, grader: bool = True) -> None:
    """Raise TaskFileError for the first thing that is named and cannot be; without `grader`, that one is not needed."""
    for complaint in _complaints(spec, folder, grader=grader):
        raise TaskFileError(f"{folder}, {complaint}")


def _complaints(spec: TaskSpec, folder: Path, *, grader: bool) -> Iterator[str]:
    programs = {"data.generator": spec.data.generator, "evaluation.grader": spec.evaluation.grader if grader else None}
    for key, name in programs.items():
        if name is not None:
            yield from _wrong_program(folder, key, name)
    folders = {"data.public": spec.data.public, "data.hidden": spec.data.hidden}
    folders["starter"] = None if spec.starter == DEFAULT_STARTER else spec.starter
    folders |= {
        f"{which}.folder": one.folder
        for which, one in (("baseline", spec.baseline), ("reference", spec.reference))
        if one is not None
    }
    for key, name in folders.items():
        if name is not None and not (folder / name).is_dir():
            yield f"{key}: expected a folder {name!r} beside the task file, got none; make it, or take the key out"
    for name in spec.shared:
        if not (folder / name).is_file() or (folder / name).is_symlink():
            yield f"shared: expected files of the task's folder, got {name!r}; write it, or take it off the list"
    for name in spec.read_only:
        if not _is_in_workspace(spec, folder, name):
            given = f"of {spec.starter!r} or of `shared`"
            yield f"read_only: expected paths {given}, got {name!r}; put it there, or take it off the list"


def _is_in_workspace(spec: TaskSpec, folder: Path, name: str) -> bool:
    shared = any(Path(one).is_relative_to(name) for one in spec.shared)
    return shared or name == spec.data.folder or (spec.starter is not None and (folder / spec.starter / name).exists())


def _wrong_program(folder: Path, key: str, name: str) -> Iterator[str]:
    function, call = CALLED[key]
    file = folder / name
    if not file.is_file():
        yield (
            f"{key}: expected a file {name!r} with `{call}` beside the task file, got none; write it "
            f"(`ludus task new FOLDER` makes a task with one), or name another file in `{key}`"
        )
        return
    try:
        tree = ast.parse(read_foreign_file(file, MAX_PROGRAM_BYTES))
    except OSError as error:
        yield f"{key}: expected a Python file, got {name}: {error.strerror}; write another"
        return
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deep
        line = getattr(error, "lineno", None)
        where = f"{name}:{line}" if line else name
        message = getattr(error, "msg", str(error)) or type(error).__name__
        yield f"{key}: expected a Python file, got {where}: {message}; mend the file"
        return
    if not _defines(tree, function):
        yield f"{key}: expected `def {call}` in {name!r}, got no {function!r}; define it at the top level of the file"
    for module, line in _imported(tree):
        if not _is_found(module, file.parent):
            yield (
                f"{key}: expected imports that can be made here, got {module!r} in {name}:{line}; install it beside "
                "Ludus, or put the module into the task's folder"
            )


def _defines(tree: ast.Module, name: str) -> bool:
    """Whether a file may have a global of this name: by `def`, an assignment or an import, in a branch as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*"):
            return True
    return False


def _imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The outermost packages that a file always imports, with their lines: not those in `try` and in functions."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from ((one.name.partition(".")[0], node.lineno) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0], node.lineno


def _is_found(module: str, folder: Path) -> bool:
    if (folder / f"{module}.py").is_file() or (folder / module).is_dir():
        return True
    try:
        return find_spec(module) is not None  # of an outermost package, which is located and not executed
    except ValueError:  # it is loaded, and does not say from where
        return True
