"""Typed actions as tools: what an agent that can only call functions calls, and the action that a call stands for."""

import re
from collections.abc import Callable, Mapping
from functools import partial

from ludus.errors import InvalidAction
from ludus.spaces import Record, Space
from ludus.spaces.kinds import is_dict, is_list_or_tuple
from ludus.spaces.scalar_fields import NAMED_FLOATS
from ludus.spaces.space import Violation
from ludus.tools.calls import Call, Calls
from ludus.tools.tool import NAME, RESERVED, Parameter, Tool

__all__ = ["action_of", "action_tools", "alternatives", "described"]

DECLARED = "__tools__"
"""Where a model names functions that make its instances: each is one tool."""
NAMED = "__tool__"
"""Where a model without such functions says what its one tool is called."""
UNNAMED = "act"
WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
ARTICLES = {"integer": "an integer", "number": "a number", "string": "text", "boolean": "true or false"}


def action_tools(space: Space[object]) -> dict[str, Tool]:
    """The tools whose calls are actions of a space; none where actions are neither calls nor typed.

    A `Calls` has its own. Of a `Record`, they are the functions that its model names as `__tools__`, each of which
    returns an action; without any, one tool takes the fields, and is called as `__tool__` of the model says, or as the
    model is, without `Action`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class PressAction:
    ...     '''Press a key.'''
    ...     key: str
    ...     times: int = 1
    >>> tools = action_tools(Record(PressAction))
    >>> tools["press"].description, tools["press"].input_schema()["required"]
    ('Press a key.', ['key'])
    """
    if isinstance(space, Calls):
        return space.tools
    if not isinstance(space, Record):
        return {}
    declared: tuple[Callable[..., object], ...] = getattr(space.model, DECLARED, ())
    found = [Tool(one.__name__, one) for one in declared] or [_whole(space)]
    for one in found:
        one.returns = None  # what agents see is the observation, not the action
    return {one.name: one for one in found}


def action_of(space: Space[object], tools: Mapping[str, Tool], call: Call) -> object:
    """The action that a call stands for; InvalidAction with every violation where it stands for none.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class PressAction:
    ...     key: str
    ...     times: int = 1
    >>> space = Record(PressAction)
    >>> action_of(space, action_tools(space), Call("press", {"key": "a"}))
    PressAction(key='a', times=1)
    """
    if call.tool not in tools:
        raise InvalidAction(f"tool: expected one of {list(tools)}, got {call.tool!r}")
    if isinstance(space, Calls):
        action = space.decode({"tool": call.tool, "arguments": call.arguments})
        space.check(action, call.tool, InvalidAction)
        return action
    problems: list[Violation] = []
    arguments = tools[call.tool].coerce(call.arguments, call.tool, problems)
    if problems:
        raise InvalidAction("; ".join(map(str, problems)))
    return space.coerce(tools[call.tool].function(**arguments), call.tool, InvalidAction)


def _whole(space: Record) -> Tool:
    """One tool of all fields."""
    one = Tool(getattr(space.model, NAMED, "") or _name(space.name), _nothing)
    one.function = partial(_fields, space)
    one.description = _first_paragraph(space.model) or f"Take a {space.name}."
    one.parameters = dict[str, Parameter]()
    for name, field in space.fields.items():
        default = space.defaults.get(name)
        maker = None if default is None else default.maker
        made = None if maker is None else maker()
        one.parameters[name] = Parameter(field, maker is None, made, described(field.json_schema()))
    return one


def _first_paragraph(model: type) -> str:
    """What an author says of a model; a dataclass without a word has its signature there, which says nothing."""
    summary = " ".join((model.__doc__ or "").split("\n\n")[0].split())
    return "" if summary.startswith(f"{model.__name__}(") else summary


def _fields(space: Record, **given: object) -> object:
    return space.coerce(given, "action", InvalidAction)


def _nothing() -> None:
    """What stands for a function until its space is known."""


def _name(model: str) -> str:
    """What a model is called as a tool.

    >>> _name("FinRLAction"), _name("StepAction"), _name("Connect4Action")
    ('fin_rl', 'act', 'connect4')
    """
    name = WORDS.sub("_", model.removesuffix("Action")).lower()
    return UNNAMED if name in RESERVED or not NAME.fullmatch(name) else name


def alternatives(schema: Mapping[str, object]) -> list[dict[str, object]]:
    """What a value may be, without the names by which JSON writes NaN and the infinities: no agent means those.

    >>> alternatives({"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]})
    [{'type': 'number'}]
    """
    several = schema["anyOf"]
    if not is_list_or_tuple(several):
        return []
    return [one for one in several if is_dict(one) and one.get("enum") != list(NAMED_FLOATS)]


def described(schema: Mapping[str, object]) -> str:
    """A JSON schema in words.

    >>> described({"type": "integer", "minimum": 0, "maximum": 6})
    'an integer from 0 to 6'
    >>> described({"type": "array", "items": {"type": "number"}, "minItems": 5, "maxItems": 5})
    'a list of 5, each a number'
    """
    if is_list_or_tuple(choices := schema.get("enum")):
        return f"one of {', '.join(map(repr, choices))}"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(described, alternatives(schema))))
    kind = schema.get("type")
    if kind == "array":
        least, most = schema.get("minItems"), schema.get("maxItems")
        count = f" of {least}" if least is not None and least == most else ""
        items = schema.get("items")
        return f"a list{count}" + (f", each {described(items)}" if is_dict(items) and items else "")
    low, high = schema.get("minimum"), schema.get("maximum")
    text = ARTICLES.get(str(kind), "nothing" if kind == "null" else "an object")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or max(abs(low), abs(high)) >= 1 << 53:
        return text
    return f"{text} from {low} to {high}"
