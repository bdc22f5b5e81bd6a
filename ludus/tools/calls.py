"""`Calls`: the space of calls of some tools; one action is one call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ludus.errors import CodecError, InvalidSpace, InvalidValue, listing, shorten
from ludus.spaces import Space
from ludus.spaces.field_description import field_from_arguments
from ludus.spaces.field_types import FieldType
from ludus.spaces.kinds import is_list_or_tuple, is_mapping
from ludus.spaces.models import fields_of
from ludus.spaces.space import Violation
from ludus.tools.tool import Parameter, Tool

__all__ = ["Call", "Calls"]

WORDS = "text"
"""The tool that takes plain text, as its argument `message`, where there is one: an action may then be words."""


@dataclass(frozen=True)
class Call:
    """A tool and the arguments it is called with.

    >>> Call("buy", {"item": "tea"}).tool
    'buy'
    """

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


Described = tuple[object, object, Iterable[tuple[str, object, object, object, str]], object]
"""A tool as data: its name, what it does, what it takes and what it gives, as far as somebody wrote it so."""


class Calls(Space[Call]):
    """The calls of `tools` with arguments that fit.

    >>> from ludus.tools import tool, tools_of
    >>> class Shop:
    ...     @tool
    ...     def buy(self, item: str, count: int = 1) -> str:
    ...         '''Buy something.'''
    >>> space = Calls(tools_of(Shop))
    >>> Call("buy", {"item": "tea"}) in space
    True
    >>> print(*space.validate(Call("buy", {"item": 3}), "action"))
    action.arguments.item: expected str, got 3
    """

    def __init__(self, tools: Mapping[str, Tool], seed: object = None) -> None:
        if not tools:
            raise InvalidSpace("Calls: expected at least one tool, got none")
        self.tools = {name: _own(one) for name, one in tools.items()}
        super().__init__(None, None, seed)

    # --- description ---

    def arguments(self) -> dict[str, object]:
        """Every tool as data: all that a stranger needs to call it, none of the code."""
        return {"tools": [[one.name, one.description, _described(one), _returned(one)] for one in self.tools.values()]}

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, object]) -> Calls:
        """The space again; its tools can be checked and described, and called only where they live."""
        found: dict[str, Tool] = {}
        tools = arguments["tools"]
        if not is_list_or_tuple(tools):
            raise CodecError(f"Calls: expected a list of tools, got {shorten(tools)}")
        for name, description, parameters, returns in cast(Iterable[Described], tools):
            if not isinstance(name, str) or not isinstance(description, str):
                raise CodecError(f"Calls: expected tools with a name and a description, got {shorten(arguments)}")
            one = Tool(name, _elsewhere)
            one.description = description
            one.returns = None if returns is None else field_from_arguments(returns)
            one.parameters = dict[str, Parameter]()
            for parameter, kind, required, default, text in parameters:
                read = field_from_arguments(kind)
                one.parameters[parameter] = Parameter(
                    read, bool(required), None if required else read.decode(default), text
                )
            found[name] = one
        return cls(found)

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The spaces of all arguments, tool by tool."""
        return tuple(one.type.space for tool in self.tools.values() for one in tool.parameters.values())

    def field_types(self) -> tuple[FieldType, ...]:
        """Those of all arguments, tool by tool."""
        return tuple(one.type for tool in self.tools.values() for one in tool.parameters.values())

    # --- sampling and membership ---

    def seed(self, seed: object = None) -> object:
        """Seed the choice of the tool, and from it every argument."""
        used = super().seed(seed)
        for space in self.subspaces:
            space.seed(None if seed is None else int(self.np_random.integers(np.iinfo(np.int32).max)))
        return used

    def sample(self, mask: Collection[str] | None = None, probability: object = None) -> Call:
        """A tool chosen uniformly, or out of those that a mask names, with arguments drawn at random."""
        if probability is not None:
            raise InvalidSpace(f"sample: expected no probability for {self!r}, got {shorten(probability)}")
        names = list(self.tools) if mask is None else [name for name in self.tools if name in mask]
        if not names:
            raise InvalidSpace(f"sample: expected a mask that names one of {listing(self.tools)}, got {shorten(mask)}")
        tool = self.tools[names[int(self.np_random.integers(len(names)))]]
        drawn = {name: one.type.build(one.type.space.sample()) for name, one in tool.parameters.items()}
        return Call(tool.name, drawn)

    def default(self) -> Call:
        """The first tool with the zero of each argument."""
        tool = next(iter(self.tools.values()))
        return Call(
            tool.name, {name: one.type.build(one.type.space.default()) for name, one in tool.parameters.items()}
        )

    def contains(self, x: object) -> bool:
        """Whether `x` is a call of one of the tools with arguments that fit."""
        return not self.validate(x)

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """What is wrong with the call."""
        if not isinstance(x, Call) or not isinstance(x.arguments, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
            return [self._violation(x, path, "a Call(tool, arguments)")]
        if not isinstance(x.tool, str) or x.tool not in self.tools:  # pyright: ignore[reportUnnecessaryIsInstance]
            return [self._violation(x.tool, f"{path}.tool", f"one of {listing(self.tools)}")]
        return self.tools[x.tool].violations(x.arguments, f"{path}.arguments")

    def check(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> None:
        """Raise `error` with every violation unless `x` is in the space."""
        problems = self.validate(x, name)
        if problems:
            raise error("; ".join(map(str, problems)))

    @property
    def typed(self) -> bool:
        """Always: an object of a tool and its arguments is made a call."""
        return True

    def coerce(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> Call:
        """`x` as a call: itself, or made of an object or a dictionary with a tool and its arguments."""
        problems: list[Violation] = []
        call = self._coerced(x, name, problems)
        if call is None or problems:
            raise error("; ".join(map(str, problems)))
        return call

    def _coerced(self, x: object, path: str, problems: list[Violation]) -> Call | None:
        """The call that `x` stands for, if any; with no path, arguments are told by the name of their tool."""
        given = (
            {"tool": WORDS, "arguments": {"message": x}} if isinstance(x, str) and WORDS in self.tools else fields_of(x)
        )
        if given is None or not {"tool"} <= given.keys() <= {"tool", "arguments"}:
            problems.append(self._violation(x, path or "call", "a Call(tool, arguments), or its fields"))
            return None
        tool, arguments = given["tool"], given.get("arguments", {})
        if not isinstance(tool, str) or tool not in self.tools:
            problems.append(self._violation(tool, f"{path or 'call'}.tool", f"one of {listing(self.tools)}"))
            return None
        if not is_mapping(arguments):
            problems.append(self._violation(arguments, f"{path or 'call'}.arguments", "arguments by name"))
            return None
        found = self.tools[tool].coerce(arguments, f"{path}.arguments" if path else tool, problems)
        unchanged = all(found[one] is arguments[one] for one in found)
        return x if type(x) is Call and unchanged else Call(tool, found)

    # --- the wire ---

    def encode(self, x: Call, *, binary: bool = False) -> dict[str, object]:
        """An object of the tool and its arguments."""
        parameters = self.tools[x.tool].parameters
        encoded = {name: parameters[name].type.encode(one, binary=binary) for name, one in x.arguments.items()}
        return {"tool": x.tool, "arguments": encoded}

    def decode(self, data: object) -> Call:
        """The call in an object of a tool and its arguments."""
        problems: list[Violation] = []
        call = self._coerced(data, "", problems)
        if call is None or problems:
            raise CodecError("; ".join(map(str, problems)))
        return call

    def read(self, data: object, name: str = "value") -> Call:
        """The call, held to the tools."""
        return self.coerce(data, name)

    def json_schema(self) -> dict[str, list[dict[str, object]]]:
        """One of the tools with its arguments."""
        shapes: list[dict[str, object]] = [
            {
                "title": one.name,
                "description": one.description,
                "type": "object",
                "properties": {"tool": {"const": one.name}, "arguments": one.input_schema()},
                "required": ["tool", *(["arguments"] if one.input_schema()["required"] else [])],
                "additionalProperties": False,
            }
            for one in self.tools.values()
        ]
        return {"oneOf": shapes}

    # --- identity ---

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calls) and self.arguments() == other.arguments()

    def __repr__(self) -> str:
        return f"Calls({listing(self.tools)})"


def _own(tool: Tool) -> Tool:
    """The tool with spaces of its own, whose generators nobody else draws from."""
    twin = copy(tool)
    twin.parameters = deepcopy(tool.parameters)
    return twin


def _described(tool: Tool) -> list[list[object]]:
    return [[name, *_parameter(one)] for name, one in tool.parameters.items()]


def _parameter(one: Parameter) -> list[object]:
    default = None if one.required else one.type.encode(one.default, binary=False)
    return [one.type.arguments(), one.required, default, one.description]


def _returned(tool: Tool) -> list[object] | None:
    return None if tool.returns is None else tool.returns.arguments()


def _elsewhere() -> None:
    """What stands for a tool whose code is somewhere else."""
