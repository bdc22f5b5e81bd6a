"""The kinds of environments that places are tried with, and for each of them actions in every form, right and wrong."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ludus.tools import Call

FOLDER = str(Path(__file__).parent)
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)  # as a stranger's own folder is on theirs

import strangers as st  # noqa: E402  (found by the line above)

FORMS = ("the author's class", "another class", "a dictionary")


@dataclass
class Spot:
    """Somebody else's class with the fields of a `Buoy`."""

    x: int
    y: int = 0


@dataclass
class Instruction:
    """Somebody else's class with the fields of an `Order`; not all of them, since they have defaults."""

    speed: int
    wind: st.Wind = st.Wind.CALM
    note: str | None = None
    buoy: Spot = field(default_factory=lambda: Spot(1, 2))
    route: Sequence[Spot] = ()
    tag: int | str = 0


@dataclass
class Request:
    """Somebody else's class with the fields of a `Call`."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A stranger's environment, and actions for it: `forms[name][i]` is the same action in every form."""

    name: str
    env: type
    forms: dict[str, list[Any]]
    wrong: list[tuple[Any, str]]
    """Values that are no actions, each with where the error says that it is wrong."""
    typed: bool = True

    @property
    def target(self) -> str:
        """How it is named to `make` and `serve`."""
        return f"strangers:{self.env.__name__}"

    @property
    def actions(self) -> list[Any]:
        """Actions of the author's own classes."""
        return self.forms[FORMS[0]]

    def __repr__(self) -> str:
        return self.name


def typed(name: str, env: Any) -> Kind:
    """A kind with models: `order` is the author's action, `buoy` what is inside it."""
    order, buoy = env.order, env.buoy
    far = [{"x": 1, "y": 2}, {"x": 3}]
    return Kind(
        name,
        env,
        {
            FORMS[0]: [
                order(speed=3),
                order(
                    speed=9, wind=st.Wind.STORM, note="hé", buoy=buoy(x=5), route=[buoy(x=1, y=2), buoy(x=3)], tag="x"
                ),
                order(speed=0, note="", tag=7),
            ],
            FORMS[1]: [
                Instruction(3),
                Instruction(9, st.Wind.STORM, "hé", Spot(5), [Spot(1, 2), Spot(3)], "x"),
                Instruction(0, note="", tag=7),
            ],
            FORMS[2]: [
                {"speed": 3.0},
                {"speed": 9, "wind": "storm", "note": "hé", "buoy": {"x": 5}, "route": far, "tag": "x"},
                {"speed": 0, "note": "", "tag": 7},
            ],
        },
        [
            (Instruction(17), "action.speed"),
            ({"speed": 3.5}, "action.speed"),
            ({"speed": 3, "route": [{"x": 1}, {"x": "far"}]}, "action.route[1].x"),
            ({"speed": 3, "wind": "breeze"}, "action.wind"),
            ({"speed": 3, "helm": 1}, "helm"),
            ({"note": "hé"}, "action.speed"),
            ("full ahead", "action"),
            (None, "action"),
        ],
    )


def tools() -> Kind:
    """Calls of tools."""
    asked = {"question": "where", "buoy": {"x": 4}}
    given = [
        ("sail_on", {"speed": 3}),
        ("ask", asked),
        ("sail_on", {"speed": 9, "wind": "storm"}),
        ("ask", {"question": "no!"}),
    ]
    typed_arguments = [
        {"speed": 3},
        {"question": "where", "buoy": st.Point(4)},
        {"speed": 9, "wind": st.Wind.STORM},
        {"question": "no!"},
    ]
    return Kind(
        "tools",
        st.ToolSea,
        {
            FORMS[0]: [Call(tool, one) for (tool, _), one in zip(given, typed_arguments, strict=True)],
            FORMS[1]: [Request(tool, arguments) for tool, arguments in given],
            FORMS[2]: [{"tool": tool, "arguments": arguments} for tool, arguments in given],
        },
        [
            (Call("fly", {}), "action.tool"),
            (Call("sail_on", {"speed": 12}), "action.arguments.speed"),
            (Call("sail_on", {}), "action.arguments"),
            ({"tool": "ask", "arguments": {"question": 3}}, "action.arguments.question"),
            (7, "action"),
        ],
    )


KINDS = {
    one.name: one
    for one in (
        Kind(
            "arrays",
            st.ArraySea,
            {FORMS[0]: [3, 9, 0], FORMS[1]: [np.int64(3), np.array(9), np.int8(0)]},
            [(10, "action"), (-1, "action"), ("go", "action"), (2.5, "action"), (None, "action")],
            typed=False,
        ),
        typed("dataclass", st.DataclassSea),
        typed("struct", st.StructSea),
        typed("pydantic", st.PydanticSea),
        tools(),
        Kind(
            "text",
            st.TextSea,
            {FORMS[0]: ["go", "north by west", "9"]},
            [("", "action"), ("GO", "action"), ("x" * 21, "action"), (7, "action"), (None, "action")],
            typed=False,
        ),
    )
}

SCREENS = Kind("screens", st.Arcade, {FORMS[0]: [0, 1, 2]}, [], typed=False)
"""For wrappers of screens alone."""
