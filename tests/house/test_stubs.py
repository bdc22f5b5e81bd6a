"""What `typings` says of libraries is true of those installed: a stub that lies is worse than none."""

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from tests.house.offenders import none_of

TYPINGS = Path(__file__).resolve().parents[2] / "typings"
STUBS = sorted(TYPINGS.rglob("*.pyi"))
ONLY_TYPES = {"Protocol", "Generic", "NamedTuple", "TypeVar", "ParamSpec", "TypeAlias"}
"""What stands for nothing that a library has when it runs."""


def module_of(stub: Path) -> str:
    parts = stub.relative_to(TYPINGS).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def words(node: ast.AST | None) -> set[str]:
    return set() if node is None else {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def is_of_types_alone(node: ast.stmt) -> bool:
    """Whether a name is the stub's own: a protocol, a type variable, an alias."""
    if isinstance(node, ast.ClassDef):
        return any("Protocol" in words(base) for base in node.bases)
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Call) and bool(words(node.value.func) & ONLY_TYPES)
    return isinstance(node, ast.AnnAssign) and "TypeAlias" in words(node.annotation)


def told(node: ast.stmt) -> list[str]:
    """The names that a statement of a stub tells of."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.ImportFrom):  # `from … import X as X`: the stub's module has it as well
        return [one.name for one in node.names if one.name == one.asname]
    return []


def family(kind: type) -> list[type]:
    """A class, those it is made of, and those that are made of it: a stub may say of all what each has."""
    found, waiting = list(kind.__mro__[:-1]), list(type.__subclasses__(kind))
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.append(one)
            waiting += type.__subclasses__(one)
    return found


def has(kind: type, name: str) -> bool:
    """Whether objects of a class have an attribute, which may be given to each by its constructor."""
    if any(hasattr(one, name) or name in vars(one) for one in family(kind)):
        return True
    pattern = re.compile(rf"\b{name}\s*=[^=]")
    sources = list(map(source_of, family(kind)))
    if "__setattr__" in vars(kind):  # its objects take whatever others give them
        sources.append(source_of(inspect.getmodule(kind)))
    return any(map(pattern.search, sources))


@cache
def source_of(kind: object) -> str:
    try:
        return inspect.getsource(kind)  # type: ignore[arg-type]
    except (OSError, TypeError):  # made in C
        return ""


def unknown_parameters(stub: ast.FunctionDef, real: object) -> list[str]:
    """The parameters that a stub names and the function does not have, unless it takes any."""
    try:
        known = inspect.signature(real).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values()):
        return []
    named = [one.arg for one in (*stub.args.args, *stub.args.kwonlyargs)]
    return [one for one in named if one not in known and one not in ("self", "cls")]


def wrong_members(where: str, stub: ast.ClassDef, kind: type, module: ModuleType) -> Iterator[str]:
    for base in stub.bases:
        real = getattr(module, base.id, None) if isinstance(base, ast.Name) else None
        if isinstance(real, type) and not issubclass(kind, real) and not words(base) & ONLY_TYPES:
            yield f"{where} is no {base.id}"
    for node in stub.body:
        for name in told(node):
            if not has(kind, name):
                yield f"{where} has no {name}"
            elif isinstance(node, ast.FunctionDef):
                missing = unknown_parameters(node, getattr(kind, name, None))
                yield from (f"{where}.{name} takes no {one}" for one in missing)


def wrong_value(where: str, stub: ast.AnnAssign, value: object, module: ModuleType) -> Iterator[str]:
    """A value that is not of the class it is said to be of."""
    names = {**vars(builtins), **vars(module)}
    kind = names.get(stub.annotation.id) if isinstance(stub.annotation, ast.Name) else None
    if isinstance(kind, type) and not isinstance(value, kind):
        yield f"{where} is no {kind.__name__}, but {value!r}"


def wrong(stub: Path) -> Iterator[str]:
    module = importlib.import_module(module_of(stub))
    for node in ast.parse(stub.read_text(encoding="utf8")).body:
        for name in [] if is_of_types_alone(node) else told(node):
            where, real = f"{module.__name__}.{name}", getattr(module, name, None)
            if not hasattr(module, name):
                yield f"{where} does not exist"
            elif isinstance(node, ast.ClassDef):
                yield from (
                    wrong_members(where, node, real, module) if inspect.isclass(real) else [f"{where} is no class"]
                )
            elif isinstance(node, ast.FunctionDef):
                yield from (f"{where} takes no {one}" for one in unknown_parameters(node, real))
            elif isinstance(node, ast.AnnAssign):
                yield from wrong_value(where, node, real, module)


def test_whatever_the_stubs_say_of_a_library_the_library_has() -> None:
    assert len(STUBS) > 20
    none_of([one for stub in STUBS for one in wrong(stub)], "names and parameters of stubs exist in the library")


def test_a_stub_that_lies_is_found(tmp_path: Path, monkeypatch) -> None:
    lies = tmp_path / "numba/core/types.pyi"
    lies.parent.mkdir(parents=True)
    lies.write_text(
        "class Nothing: ...\n"
        "class Integer(Type):\n    bitwidth: int\n    colour: str\n"
        "class Float(Integer): ...\n"
        "class Any: ...\n"
        "int64: Float\n"
        "def unliteral(kind: Type) -> Type: ...\n"
    )
    monkeypatch.setitem(globals(), "TYPINGS", tmp_path)
    assert list(wrong(lies)) == [
        "numba.core.types.Nothing does not exist",
        "numba.core.types.Integer has no colour",
        "numba.core.types.Float is no Integer",
        "numba.core.types.Any is no class",
        "numba.core.types.int64 is no Float, but int64",
        "numba.core.types.unliteral takes no kind",
    ]
