"""`tool`: a method that an agent may call; its signature and docstring say how."""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, get_type_hints, overload

from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, InvalidValue, listing, shorten
from ludus.spaces.lens import Lens
from ludus.spaces.typed import lens_of

__all__ = ["Parameter", "Tool", "tool", "tools_of"]

F = TypeVar("F", bound=Callable[..., Any])
MARK = "__ludus_tool__"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
RESERVED = ("reset", "step", "state", "close", "render")
"""Names of the environment's own verbs: an agent that calls them means something else."""


class Parameter(NamedTuple):
    """One argument of a tool."""

    lens: Lens
    required: bool
    default: Any
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

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        if not NAME.fullmatch(name) or name in RESERVED:
            raise InvalidArgument(f"tool: expected a name of letters, digits and _, none of {RESERVED}, got {name!r}")
        self.name, self.function = name, function
        self.description, described = _docs(function)
        self.parameters = _parameters(name, function, described)

    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        properties: dict[str, Any] = {}
        for name, one in self.parameters.items():
            properties[name] = one.lens.json_schema() | ({"description": one.description} if one.description else {})
            if not one.required:
                properties[name]["default"] = one.lens.encode(one.default, binary=False)
        return {
            "type": "object",
            "properties": properties,
            "required": [name for name, one in self.parameters.items() if one.required],
            "additionalProperties": False,
        }

    def arguments(self, given: Any, error: type[InvalidValue] = InvalidValue) -> dict[str, Any]:
        """The arguments of a call, checked, with defaults where none were given."""
        if not isinstance(given, dict):
            raise error(f"{self.name}: expected arguments by name, got {shorten(given)}")
        problems = self.violations(given, self.name)
        if problems:
            raise error("; ".join(str(one) for one in problems))
        return {name: given.get(name, one.default) for name, one in self.parameters.items()}

    def violations(self, given: dict[str, Any], path: str) -> list[Any]:
        """Everything that is wrong with the arguments of a call."""
        unknown = [name for name in given if name not in self.parameters]
        missing = [name for name, one in self.parameters.items() if one.required and name not in given]
        if unknown or missing:
            wrong = f"no {listing(missing)}" if missing else listing(map(repr, unknown))
            return [f"{path}: expected the arguments {listing(self.parameters) or 'of nothing'}, got {wrong}"]
        checked = ((name, one) for name, one in self.parameters.items() if name in given)
        return [found for name, one in checked for found in one.lens.validate(given[name], f"{path}.{name}")]


@overload
def tool(function: F) -> F: ...
@overload
def tool(function: None = None, *, name: str | None = None) -> Callable[[F], F]: ...
def tool(function: Any = None, *, name: str | None = None) -> Any:
    """Mark a method as one that agents may call, by its own name or another.

    >>> class Shop:
    ...     @tool
    ...     def buy(self, item: str, count: int = 1) -> str:
    ...         '''Buy something.'''
    ...         return f"{count} × {item}"
    >>> list(tools_of(Shop))
    ['buy']
    """

    def mark(one: Any) -> Any:
        if not callable(one):
            raise InvalidType(f"tool: expected a method, got {shorten(one)}")
        setattr(one, MARK, name or one.__name__)
        return one

    return mark if function is None else mark(function)


def tools_of(owner: type) -> dict[str, Tool]:
    """The tools of a class, by name, in the order they were written; its bases' first."""
    found: dict[str, Tool] = {}
    for kind in reversed(owner.__mro__):
        for attribute, value in vars(kind).items():
            name = getattr(value, MARK, None)
            if name is None:
                continue
            if name in found and found[name].function.__name__ != attribute:
                raise InvalidArgument(f"{owner.__name__}: expected tools of different names, got {name!r} twice")
            found[name] = Tool(name, value)
    return found


def _parameters(name: str, function: Callable[..., Any], described: dict[str, str]) -> dict[str, Parameter]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise InvalidSpace(f"{name}: expected annotations that resolve, got {error}") from error
    found: dict[str, Parameter] = {}
    for one in list(inspect.signature(function).parameters.values()):
        if one.name == "self" and not found:
            continue
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise InvalidSpace(f"{name}: expected arguments that can be given by name, got {one}")
        if one.name not in hints:
            raise InvalidSpace(f"{name}.{one.name}: expected an annotation, got none; a schema is made of it")
        lens = lens_of(hints[one.name], (), f"{name}.{one.name}")
        required = one.default is one.empty
        found[one.name] = Parameter(lens, required, None if required else one.default, described.get(one.name, ""))
    return found


def _docs(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description, and what the docstring says under `Args:` of each argument."""
    text = inspect.getdoc(function) or ""
    head, _, rest = text.partition("\nArgs:\n")
    described: dict[str, str] = {}
    last = ""
    for line in rest.split("\n\n")[0].splitlines():
        match = re.match(r"\s{2,4}(\w+)(?: *\([^)]*\))?: (.*)", line)
        if match:
            last, described[match[1]] = match[1], match[2].strip()
        elif last and line.startswith(" "):
            described[last] += f" {line.strip()}"
    return " ".join(head.split()), described
