"""The action language: BrowserGym's calls (`click('12')`) and plain forms (`click [id=12]`). Nothing is executed."""

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

from ludus.envs.open.browsergym.tab import PageError
from ludus.errors import did_you_mean, shorten
from ludus.spaces.kinds import is_list

__all__ = ["CALLS", "ActionCall", "ActionParameter", "parse"]

MAX_CALLS = 20
NUMBER = (int, float)
MISSING: object = object()


class ActionParameter(NamedTuple):
    """A parameter of a call."""

    name: str
    kinds: tuple[type, ...]
    default: object = MISSING


class ActionCall(NamedTuple):
    """A call with all its arguments. `how` is by what an element is found: `plain` is its bid, else its id or name."""

    name: str
    arguments: dict[str, object]
    how: str = "plain"


def _bid(name: str = "bid") -> ActionParameter:
    return ActionParameter(name, (str, int))


TEXT = (str,)
BUTTON = ActionParameter("button", TEXT, "left")
POINT = (ActionParameter("x", NUMBER), ActionParameter("y", NUMBER))
CLICK = (_bid(), BUTTON, ActionParameter("modifiers", (list,), ()))

CALLS: dict[str, tuple[ActionParameter, ...]] = {
    "noop": (ActionParameter("wait_ms", NUMBER, 1000),),
    "click": CLICK,
    "dblclick": CLICK,
    "hover": (_bid(),),
    "fill": (_bid(), ActionParameter("value", TEXT), ActionParameter("enable_autocomplete_menu", (bool,), False)),
    "clear": (_bid(),),
    "focus": (_bid(),),
    "press": (_bid(), ActionParameter("key_comb", TEXT)),
    "check": (_bid(),),
    "uncheck": (_bid(),),
    "select_option": (_bid(), ActionParameter("options", (str, list))),
    "drag_and_drop": (_bid("from_bid"), _bid("to_bid")),
    "scroll": (ActionParameter("delta_x", NUMBER), ActionParameter("delta_y", NUMBER)),
    "send_keys": (ActionParameter("text", TEXT),),
    "keyboard_press": (ActionParameter("key", TEXT),),
    "keyboard_type": (ActionParameter("text", TEXT),),
    "keyboard_insert_text": (ActionParameter("text", TEXT),),
    "keyboard_down": (ActionParameter("key", TEXT),),
    "keyboard_up": (ActionParameter("key", TEXT),),
    "mouse_move": POINT,
    "mouse_down": (*POINT, BUTTON),
    "mouse_up": (*POINT, BUTTON),
    "mouse_click": (*POINT, BUTTON),
    "mouse_dblclick": (*POINT, BUTTON),
    "mouse_drag_and_drop": tuple(ActionParameter(name, NUMBER) for name in ("from_x", "from_y", "to_x", "to_y")),
    "goto": (ActionParameter("url", TEXT),),
    "go_back": (),
    "go_forward": (),
    "new_tab": (),
    "tab_close": (),
    "tab_focus": (ActionParameter("index", (int,)),),
    "upload_file": (_bid(), ActionParameter("file", (str, list))),
    "mouse_upload_file": (*POINT, ActionParameter("file", (str, list))),
    "send_msg_to_user": (ActionParameter("text", TEXT),),
    "report_infeasible": (ActionParameter("reason", TEXT),),
}
"""Every call, with its parameters."""

# Nothing is given back once it is taken (`*+`): an action of two thousand blanks took most of a minute without.
ELEMENT = (
    r"(?:\[\s*+css\s*+=\s*+(?P<css>(?:[^\[\]]++|\[[^\]]*+\])++)\]|"
    r"\[\s*+(?:(?P<how>[a-zA-Z_-]++)\s*+=\s*+)?+['\"]?(?P<bid>[^\]'\"]++)['\"]?\s*+\]|(?P<bare>\d+))"
)
PLAIN = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), name)
    for pattern, name in (
        (rf"click\s+{ELEMENT}", "click"),
        (rf"(?:dblclick|double[ -]click)\s+{ELEMENT}", "dblclick"),
        (rf"hover\s+{ELEMENT}", "hover"),
        (rf"(?:fill|type)\s+{ELEMENT}\s?(?P<value>.*)", "fill"),
        (rf"clear\s+{ELEMENT}", "clear"),
        (rf"focus\s+{ELEMENT}", "focus"),
        (rf"(?:check)\s+{ELEMENT}", "check"),
        (rf"(?:uncheck)\s+{ELEMENT}", "uncheck"),
        (rf"select(?:_option)?\s+{ELEMENT}\s+(?P<options>.+)", "select_option"),
        (rf"press\s+{ELEMENT}\s+(?P<key_comb>\S+)", "press"),
        (r"press\s+(?P<key>\S+)", "keyboard_press"),
        (r"scroll\s+(?P<direction>up|down|left|right)", "scroll"),
        (r"(?:navigate(?:\s+to)?|goto|go\s+to|open)\s+(?P<url>\S+)", "goto"),
        (r"(?:go[ _])?back", "go_back"),
        (r"(?:go[ _])?forward", "go_forward"),
        (r"(?:noop|wait)", "noop"),
        (r"send_keys\s+(?P<text>.+)", "send_keys"),
        (r"(?:say|answer|send_msg_to_user)\s+(?P<text>.+)", "send_msg_to_user"),
    )
)
SCROLLED = {"up": (0, -300), "down": (0, 300), "left": (-300, 0), "right": (300, 0)}
FOUND_BY = ("id", "bid", "name", "css", "aria-label", "placeholder", "href", "value", "type", "class")
FENCE = re.compile(r"```(?:\w*\n)?(.*?)```", re.DOTALL)


def parse(text: str) -> list[ActionCall]:
    """The calls of an action; PageError says what is wrong with it.

    >>> parse("click('12')")
    [ActionCall(name='click', arguments={'bid': '12', 'button': 'left', 'modifiers': ()}, how='plain')]
    >>> parse("fill [name=search] two words")[0].arguments["value"]
    'two words'
    """
    fenced = FENCE.findall(text)
    source = (fenced[-1] if fenced else text).strip()
    if not source:
        raise PageError("the action is empty; expected a call as click('12'), or noop()")
    plain = _plain(source)
    if plain is not None:
        return [plain]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise PageError(f"expected calls as click('12') or forms as click [id=12], got {shorten(text, 100)}") from None
    if len(tree.body) > MAX_CALLS:
        raise PageError(f"expected at most {MAX_CALLS} calls in an action, got {len(tree.body)}")
    return [_call(one) for one in tree.body]


def _plain(source: str) -> ActionCall | None:
    for pattern, name in PLAIN:
        found = pattern.fullmatch(source)
        if found is None:
            continue
        given = {key: value for key, value in found.groupdict().items() if value is not None}
        if "css" in given:
            given |= {"how": "css", "bid": given.pop("css")}
        how = given.pop("how", "plain").lower()
        if how not in (*FOUND_BY, "plain"):
            raise PageError(f"expected an element by one of {', '.join(FOUND_BY)}, got {how!r}")
        if "bare" in given:
            given["bid"] = given.pop("bare")
        if "direction" in given:
            x, y = SCROLLED[given.pop("direction").lower()]
            return _checked("scroll", [], {"delta_x": x, "delta_y": y}, how)
        if name == "goto" and "://" not in given["url"] and not given["url"].startswith(("about:", "/")):
            given["url"] = f"http://{given['url']}"
        return _checked(name, [], given, how)
    return None


def _call(statement: ast.stmt) -> ActionCall:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise PageError(f"expected calls as click('12'), got {shorten(ast.unparse(statement), 100)}")
    try:
        positional = [ast.literal_eval(one) for one in call.args]
        named = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise PageError(f"{call.func.id}: expected plain values as arguments, got an expression") from None
    return _checked(call.func.id, positional, named)


def _checked(name: str, positional: list[object], named: Mapping[str, object], how: str = "plain") -> ActionCall:
    if name not in CALLS:
        raise PageError(f"there is no action {name!r}{did_you_mean(name, list(CALLS))}")
    parameters = CALLS[name]
    if len(positional) > len(parameters):
        raise PageError(f"{name}: expected at most {len(parameters)} arguments, got {len(positional)}")
    given = {parameter.name: value for parameter, value in zip(parameters, positional, strict=False)}
    for key, value in named.items():
        if key in given or key not in {one.name for one in parameters}:
            raise PageError(f"{name}: expected the parameters {', '.join(one.name for one in parameters)}, got {key!r}")
        given[key] = value
    found = {one.name: _value(name, one, given.get(one.name, one.default)) for one in parameters}
    return ActionCall(name, found, how)


def _value(name: str, parameter: ActionParameter, value: object) -> object:
    if value is MISSING:
        raise PageError(f"{name}: expected an argument {parameter.name!r}, got none")
    if value is parameter.default:
        return value
    if not isinstance(value, parameter.kinds) or (isinstance(value, bool) and bool not in parameter.kinds):
        kinds = " or ".join(kind.__name__ for kind in parameter.kinds)
        raise PageError(f"{name}: expected {parameter.name} as {kinds}, got {shorten(value, 60)}")
    if is_list(value):
        if not all(isinstance(one, str) for one in value):
            raise PageError(f"{name}: expected {parameter.name} as a list of text, got {shorten(value, 60)}")
        return [str(one) for one in value]
    if isinstance(value, float) and not abs(value) < 1e9:
        raise PageError(f"{name}: expected {parameter.name} as a number of a sensible size, got {value}")
    return str(value) if str in parameter.kinds else value
