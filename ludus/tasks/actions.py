"""Plain text to calls: what a model writes in words, code blocks or JSON, as the tool call that is meant."""

import re
import shlex

import msgspec

from ludus.errors import LudusError, listing, shorten
from ludus.spaces.kinds import is_mapping
from ludus.tools import Call, Calls, Tool, ToolError

__all__ = ["call_in"]

# Nothing is given back once it is taken (`*+`): else a line of blanks takes quadratic time.
BLOCK = re.compile(r"```[ \t]*+(?P<kind>\w*+)[ \t]*+\r?\n(?P<body>.*?)(?:\r?\n)?```", re.DOTALL)
JSON_KINDS, SHELL_KINDS = ("json", "tool", "tool_call"), ("", "bash", "sh", "shell", "console")
WORDS = re.compile(r"(?P<tool>[a-z_]+)(?:[ \t]+(?P<rest>.*))?", re.DOTALL)


def call_in(text: str, space: Calls) -> Call:
    r"""The one call that a text means; ToolError says how to write one where it means none, or several.

    JSON with `tool` and `arguments`, alone or in a code block; one block of shell, which is run; or a tool's name and
    its arguments as words.

    >>> from ludus.tools import tool, tools_of
    >>> class Tools:
    ...     @tool
    ...     def shell(self, command: str) -> str:
    ...         '''Run a command.'''
    >>> call_in("I look around.\n```bash\nls -l\n```", Calls(tools_of(Tools)))
    Call(tool='shell', arguments={'command': 'ls -l'})
    """
    blocks = [(match["kind"].lower(), match["body"]) for match in BLOCK.finditer(text)]
    if len(blocks) > 1:
        raise ToolError(f"expected one code block, got {len(blocks)}; do one thing at a time")
    kind, body = blocks[0] if blocks else ("", text.strip())
    if not body.strip():
        raise ToolError(f"expected a call, got nothing; {_help(space)}")
    if kind in JSON_KINDS or body.lstrip().startswith("{"):
        return _from_json(body, space)
    call = _from_words(body, space)
    if call is not None:
        return call
    if blocks and kind in SHELL_KINDS and "shell" in space.tools:
        return Call("shell", {"command": body})
    raise ToolError(f"expected a call, got {shorten(text)}; {_help(space)}")


def _help(space: Calls) -> str:
    return (
        'write one code block with a shell command, or {"tool": …, "arguments": {…}} with one of the tools '
        f"{listing(space.tools)}"
    )


def _from_json(body: str, space: Calls) -> Call:
    try:
        data: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ToolError(f"expected JSON, got {error}; {_help(space)}") from None
    if is_mapping(data) and isinstance(data.get("name"), str):  # as other protocols spell it
        data = {"tool": data["name"], "arguments": data.get("arguments", data.get("parameters", {}))}
    try:
        return space.coerce(data, "call")
    except LudusError as error:
        raise ToolError(str(error)) from None


def _from_words(body: str, space: Calls) -> Call | None:
    """`read train.py`, `submit`: the name of a tool and its arguments in order; the last one takes the rest."""
    match = WORDS.fullmatch(body.strip())
    if match is None or match["tool"] not in space.tools:
        return None
    tool, rest = space.tools[match["tool"]], match["rest"] or ""
    names = list(tool.parameters)
    if not names:
        return Call(tool.name) if not rest.strip() else None
    if len([name for name in names if tool.parameters[name].required]) <= 1 and _takes_text(tool, names[0]):
        return Call(tool.name, {names[0]: rest}) if rest else None
    try:
        words = shlex.split(rest)
    except ValueError:
        return None
    words_by_name = dict(zip(names, words, strict=False))
    given = {name: _converted(tool, name, value) for name, value in words_by_name.items()}
    call = Call(tool.name, given)
    return call if len(words) <= len(names) and call in space else None


def _takes_text(tool: Tool, name: str) -> bool:
    return tool.parameters[name].required and tool.parameters[name].type.json_schema().get("type") == "string"


def _converted(tool: Tool, name: str, value: str) -> str | int | float:
    kind = tool.parameters[name].type.json_schema().get("type")
    if kind in ("integer", "number"):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return value
    return value
