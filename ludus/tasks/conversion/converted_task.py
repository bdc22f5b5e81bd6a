"""`Converted`: a task folder that is about to be written, and the checks that every source needs."""

import ast
import importlib.util
import shutil
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import msgspec

from ludus.core.foreign_file import read_foreign_file, read_foreign_yaml
from ludus.errors import InvalidArgument, listing, shorten
from ludus.spaces.kinds import is_dict, is_list
from ludus.tasks.spec import TaskSpec
from ludus.tasks.task_file import read_task_text, write_task

__all__ = [
    "ConversionError",
    "Converted",
    "below",
    "check_imports",
    "imported_names",
    "is_installed",
    "number_of",
    "read_text",
    "read_yaml",
    "table_of",
    "texts_of",
]

MAX_FILES = 10_000
MAX_BYTES = 4 << 30


class ConversionError(InvalidArgument):
    """A task of others that cannot be run here; the message says why, and what would help.

    >>> issubclass(ConversionError, ValueError)
    True
    """


class Converted(msgspec.Struct, kw_only=True):
    """A task folder, before it is written.

    >>> Converted(kind="harbor", fields={}).notes
    []
    """

    kind: str
    fields: dict[str, object]
    """Of the task file."""
    texts: dict[str, str] = {}
    """Files that are written."""
    copies: dict[str, Path] = {}
    """Files and folders that are copied, by where they go."""
    notes: list[str] = []
    """What a reader should know, or look at."""

    def spec(self) -> TaskSpec:
        """The task file, checked; TaskFileError names what is wrong in it."""
        return read_task_text(msgspec.yaml.encode(self.fields), f"{self.kind} import")

    def write(self, target: Path) -> TaskSpec:
        """Write the folder, whole or not at all."""
        spec = self.spec()
        if target.exists():
            raise ConversionError(f"import: expected a folder that is not there, got {target}")
        _check_sizes(self.copies.values())
        draft = target.with_name(f".{target.name}.importing")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            for name, source in self.copies.items():
                _copy(source, draft / name)
            for name, text in {"task.yaml": write_task(spec), **self.texts}.items():
                place = draft / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf8")
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return spec


def _check_sizes(sources: Iterable[Path]) -> None:
    files = [one for source in sources for one in ([source] if source.is_file() else source.rglob("*"))]
    linked = [one for one in files if one.is_symlink()]
    if linked:
        raise ConversionError(f"import: expected files and folders, got the link {linked[0]}; copy what it points at")
    size = sum(one.stat().st_size for one in files if one.is_file())
    if len(files) > MAX_FILES or size > MAX_BYTES:
        raise ConversionError(f"import: expected at most {MAX_FILES} files and 4 GB, got {len(files)} and {size} bytes")


def _copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    else:
        shutil.copyfile(source, place)


def below(root: Path, path: str, what: str) -> Path:
    """A path that another project's file names, inside of its folder."""
    found = (root / path).resolve()
    if not found.is_relative_to(root.resolve()):
        raise ConversionError(f"{what}: expected a path inside of {root}, got {shorten(path)}")
    if not found.exists():
        raise ConversionError(f"{what}: expected {found} to be there, got nothing")
    return found


def read_text(path: Path, *, errors: str = "strict") -> str:
    """A text that another project's folder has; ConversionError for what is none, such as a pipe."""
    try:
        return read_foreign_file(path).decode("utf8", errors)
    except (OSError, UnicodeDecodeError) as error:
        raise ConversionError(f"{path}: expected a text, got {shorten(str(error))}") from error


def read_yaml(path: Path) -> dict[str, object]:
    """A YAML file with keys; ConversionError for anything else."""
    try:
        return read_foreign_yaml(read_foreign_file(path), dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise ConversionError(f"{path}: expected YAML, got {shorten(str(error))}") from error


def table_of(table: Mapping[str, object], key: str, where: str) -> dict[str, object]:
    """A table inside of one, empty where there is none; ConversionError for anything else."""
    found: object = table.get(key) or {}
    if not is_dict(found):
        raise ConversionError(f"{where}, {key}: expected a table, got {shorten(found)}")
    return found


def number_of(table: Mapping[str, object], key: str, default: float, where: str) -> float:
    """A number of a table, which may be written as text; ConversionError for anything else.

    >>> number_of({"timeout": "60"}, "timeout", 30, "task.toml"), number_of({}, "timeout", 30, "task.toml")
    (60.0, 30.0)
    """
    value = table.get(key, default)
    try:
        return float(value) if isinstance(value, int | float | str) else float("")
    except ValueError:
        raise ConversionError(f"{where}, {key}: expected a number, got {shorten(value)}") from None


def texts_of(table: Mapping[str, object], key: str, where: str) -> list[str]:
    """The texts of a list in a table, none where it has no such key; ConversionError for what is no list.

    >>> texts_of({"tags": ["a", 1]}, "tags", "task.toml"), texts_of({}, "tags", "task.toml")
    (['a', '1'], [])
    """
    value: object = table.get(key) or []
    if not is_list(value):
        raise ConversionError(f"{where}, {key}: expected a list, got {shorten(value)}")
    return [str(one) for one in value]


def is_installed(name: str) -> bool:
    """Whether there is a distribution of that name here.

    >>> is_installed("numpy"), is_installed("no-such-distribution")
    (True, False)
    """
    try:
        distribution(name)
    except (PackageNotFoundError, ValueError):
        return False
    return True


def imported_names(code: str, where: Path) -> set[str]:
    """The outermost names that a Python file imports."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConversionError(f"{where}: expected Python, got {shorten(str(error))}") from error
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def check_imports(path: Path, *, known: Iterable[str] = ()) -> set[str]:
    """The names that a grader's file imports; refused where one of them is not installed here."""
    names = imported_names(read_text(path, errors="replace"), path)
    others = names - set(known) - set(sys.stdlib_module_names)
    missing = sorted(one for one in others if importlib.util.find_spec(one) is None)
    if missing:
        raise ConversionError(
            f"{path}: expected all that it imports to be installed, got no {listing(missing)}; pip install what has it"
        )
    return names
