"""`tool`: a method that an agent may call; its signature and docstring say how."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar, get_type_hints, overload

import ludus.spaces.record  # noqa: F401  # pyright: ignore[reportUnusedImport]  (for parameters that are models)
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, InvalidValue, listing, shorten
from ludus.spaces.annotations import field_type
from ludus.spaces.field_types import FieldType, SpaceField
from ludus.spaces.json import Json
from ludus.spaces.kinds import is_dict
from ludus.spaces.space import Violation

__all__ = ["Parameter", "Tool", "tool", "tools_of"]

F = TypeVar("F", bound=Callable[..., object])
MARK = "__ludus_tool__"
UNBOUND: tuple[type, ...] = (staticmethod, classmethod)
SECONDS = "__ludus_seconds__"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
SECTION = re.compile(r"^(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?):[ ]*$", re.MULTILINE)
"""What begins a part of a docstring."""
RESERVED = ("reset", "step", "state", "close", "render")
"""Names of the environment's own verbs: an agent that calls them means something else."""


class Parameter(NamedTuple):
    """One argument of a tool."""

    type: FieldType
    required: bool
    default: object
    description: str


class Tool:
    """What an agent has to know to call a method, and what checks the call.

    >>> def add(a: int, b: int = 1) -> int:
    ...     '''Add two numbers.
    ...
    ...     Args:
    ...         a: The first.
    ...         b: The second.
    ...     '''
    >>> add = Tool("add", add)
    >>> add.description, add.input_schema()["required"]
    ('Add two numbers.', ['a'])
    >>> add.arguments({"a": 2})
    {'a': 2, 'b': 1}
    """

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        if not NAME.fullmatch(name) or name in RESERVED:
            raise InvalidArgument(f"tool: expected a name of letters, digits and _, none of {RESERVED}, got {name!r}")
        self.name, self.function = name, function
        self.is_async = inspect.iscoroutinefunction(function)
        self.seconds: float | None = getattr(function, SECONDS, None)
        """How long it may take; for async ones, which can be stopped."""
        self.description, described = _docs(function)
        hints = _hints(name, function)
        self.parameters = _parameters(name, function, hints, described)
        self.returns = _returns(name, hints)
        """How its result is written; None where the annotation does not say."""

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ").capitalize()

    def input_schema(self) -> dict[str, object]:
        """The JSON schema of the arguments."""
        properties: dict[str, object] = {}
        for name, one in self.parameters.items():
            schema = {**one.type.json_schema(), **({"description": one.description} if one.description else {})}
            if not one.required:
                schema["default"] = one.type.encode(one.default, binary=False)
            properties[name] = schema
        return {
            "type": "object",
            "properties": properties,
            "required": [name for name, one in self.parameters.items() if one.required],
            "additionalProperties": False,
        }

    def output_schema(self) -> Mapping[str, object] | None:
        """The JSON schema of the result, where the annotation says what it is, and it is not text."""
        schema = None if self.returns is None else self.returns.json_schema()
        return None if schema is None or schema.get("type") in ("string", "null") else schema

    def arguments(self, given: object, error: type[InvalidValue] = InvalidValue) -> dict[str, object]:
        """The arguments of a call, checked, with defaults where none were given."""
        if not is_dict(given):
            raise error(f"{self.name}: expected arguments by name, got {shorten(given)}")
        problems = self.violations(given, self.name)
        if problems:
            raise error("; ".join(str(one) for one in problems))
        return {name: given.get(name, one.default) for name, one in self.parameters.items()}

    def violations(self, given: Mapping[str, object], path: str) -> list[Violation]:
        """Everything that is wrong with the arguments of a call."""
        checked = ((name, one) for name, one in self.parameters.items() if name in given)
        return self._misnamed(given, path) or [
            found for name, one in checked for found in one.type.validate(given[name], f"{path}.{name}")
        ]

    def coerce(self, given: Mapping[str, object], path: str, problems: list[Violation]) -> dict[str, object]:
        """The arguments that these stand for, none filled in; what is wrong with them is added to `problems`."""
        wrong = self._misnamed(given, path)
        problems += wrong
        checked = () if wrong else ((name, one) for name, one in self.parameters.items() if name in given)
        return {name: one.type.coerce(given[name], f"{path}.{name}", problems) for name, one in checked}

    def _misnamed(self, given: Mapping[str, object], path: str) -> list[Violation]:
        unknown = [name for name in given if name not in self.parameters]
        missing = [name for name, one in self.parameters.items() if one.required and name not in given]
        if not unknown and not missing:
            return []
        strange, lacking = listing(map(repr, unknown)), f"no {listing(missing)}" if missing else ""
        wrong = " and ".join(filter(None, (strange, lacking)))
        return [Violation(path, f"the arguments {listing(self.parameters) or 'of nothing'}", wrong)]


@overload
def tool(function: F) -> F: ...
@overload
def tool(function: None = None, *, name: str | None = None, seconds: float | None = None) -> Callable[[F], F]: ...
def tool(function: object = None, *, name: str | None = None, seconds: float | None = None) -> object:
    """Mark a method as one that agents may call, by its own name or another.

    An async method may be given `seconds`, after which it is stopped and the agent is told. Other code cannot be
    stopped by itself: `make(…, isolation=Sandbox(deadlines=…))` ends the process it runs in.

    >>> class Shop:
    ...     @tool
    ...     def buy(self, item: str, count: int = 1) -> str:
    ...         '''Buy something.'''
    ...         return f"{count} × {item}"
    >>> list(tools_of(Shop))
    ['buy']
    """

    def mark(one: object) -> object:
        given = one
        if not callable(one) or isinstance(one, staticmethod | classmethod | type):
            raise InvalidType(f"tool: expected a method of an environment, got {shorten(given)}")
        if seconds is not None and (not inspect.iscoroutinefunction(one) or not seconds > 0):
            raise InvalidArgument(
                f"tool {one.__name__}: expected seconds above 0 for an async method, got {shorten(seconds)}; other "
                "code is stopped by a deadline of its process alone"
            )
        setattr(one, MARK, name or one.__name__)
        setattr(one, SECONDS, seconds)
        return one

    return mark if function is None else mark(function)


def tools_of(owner: type) -> dict[str, Tool]:
    """The tools of a class, by name, in the order they were written; its bases' first.

    A method that overrides a tool is one too, by the same name; an attribute that is None in its place removes it.
    """
    names: dict[str, str] = {}
    for kind in reversed(owner.__mro__):
        held: Mapping[str, object] = vars(kind)
        for attribute, value in held.items():
            if isinstance(value, UNBOUND) and hasattr(getattr(value, "__func__", None), MARK):
                raise InvalidType(f"{owner.__name__}.{attribute}: expected a method as a tool, got {shorten(value)}")
            name = getattr(value, MARK, names.get(attribute))
            if name is not None:
                names[attribute] = name
    found: dict[str, Tool] = {}
    for attribute, name in names.items():
        if name in found:
            raise InvalidArgument(f"{owner.__name__}: expected tools of different names, got {name!r} twice")
        if getattr(owner, attribute) is not None:
            found[name] = Tool(name, getattr(owner, attribute))
    return found


def _hints(name: str, function: Callable[..., object]) -> dict[str, object]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise InvalidSpace(f"{name}: expected annotations that resolve, got {error}") from error


def _parameters(
    name: str, function: Callable[..., object], hints: dict[str, object], described: dict[str, str]
) -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for one in list(inspect.signature(function).parameters.values()):
        if one.name == "self" and not found:
            continue
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise InvalidSpace(f"{name}: expected arguments that can be given by name, got {one}")
        if one.name not in hints:
            raise InvalidSpace(f"{name}.{one.name}: expected an annotation, got none; a schema is made of it")
        kind = field_type(hints[one.name], (), f"{name}.{one.name}")
        required = one.default is one.empty
        _check_default(kind, one, name)
        found[one.name] = Parameter(kind, required, None if required else one.default, described.get(one.name, ""))
    return found


def _check_default(kind: FieldType, one: inspect.Parameter, name: str) -> None:
    problems = [] if one.default is one.empty else kind.validate(one.default, f"default of {name}.{one.name}")
    if problems:
        raise InvalidSpace("; ".join(map(str, problems)))


def _returns(name: str, hints: dict[str, object]) -> FieldType | None:
    """How the result is seen; None where its type says nothing that a schema could."""
    try:
        found = field_type(hints["return"], (), f"result of {name}")
    except (KeyError, InvalidSpace, InvalidType):
        return None
    return None if isinstance(found, SpaceField) and isinstance(found.space, Json) else found


def _docs(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """The description, and what the docstring says under `Args:` of each argument."""
    parts = SECTION.split(inspect.getdoc(function) or "")
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    described: dict[str, str] = {}
    last = ""
    for line in (sections.get("Args") or sections.get("Arguments") or "").splitlines():
        match = re.match(r"\s{1,4}(\w+)(?: *\([^)]*\))?:(?: (.*))?$", line)
        if match:
            last, described[match[1]] = match[1], (match[2] or "").strip()
        elif last and line.strip():
            described[last] = f"{described[last]} {line.strip()}".strip()
    return " ".join(parts[0].split()), described
