"""Environments for the tests of the pages: one of every shape of action, a shop of tools, and a hostile one."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from ludus.core import Env, Step
from ludus.spaces import Box, Discrete, Record, Text
from ludus.tools import ToolEnv, ToolOutcome, tool

BAIT = "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
HOSTILE = f"hostile {BAIT}"
Line = Annotated[str, Text(400, min_length=0, charset=None)]


@dataclass
class Place:
    """Inside another one."""

    x: Annotated[float, Box(-1.0, 1.0, ())]
    level: int | None = None


@dataclass
class Order:
    """Every shape of field."""

    kind: Literal["tea", "coffee"]
    count: Annotated[int, Discrete(100)]
    place: Place
    hot: bool
    notes: list[str]
    prices: dict[str, int]
    message: Line = "please"
    iced: bool | None = None
    sugar: bool = True
    milk: bool | None = True


@dataclass
class Seen:
    """What came in, as text."""

    order: Line = ""


class Forms(Env[Seen, Order]):
    """Says what it was told."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.action_space, self.observation_space = Record(Order), Record(Seen)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        return Seen(str(options or "")), {}

    def step(self, action: Order) -> Step[Seen]:
        return Step(Seen(repr(action)), 1.0, action.kind == "coffee", False, {})


class Shop(ToolEnv):
    """Buy tea, then leave."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[ToolOutcome, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.bought = 0
        return ToolOutcome(result="a shop"), {}

    @tool
    def buy(self, item: str, count: int = 1) -> str:
        """Buy something.

        Args:
            item: What to buy.
            count: How many.
        """
        self.bought += count
        return f"{count} x {item}"

    @tool
    def leave(self) -> str:
        """Leave the shop."""
        return "bye"

    def judge(self, call: Any, result: Any) -> tuple[float, bool]:
        return float(self.bought), call.tool == "leave"


class Maze(Env[Any, Any]):
    """Draws by text alone, in colours of a terminal, and goes on as long as somebody plays."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["ansi"],
        "action_names": ["north", "east", "south", "west", "up", "down"],
    }

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.action_space, self.observation_space = Discrete(6), Discrete(6)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: Any) -> Step[int]:
        return Step(int(action), 0.0, False, False, {})

    def render(self) -> str:
        return f"\x1b[41mS\x1b[0mF\x1b[2J\x1b[1;32mG\x1b[39m! {BAIT}"


class Hostile(Env[Any, Any]):
    """A docstring with markup: <img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>.

    >>> "<script>document.title='pwned'</script>"
    "<script>document.title='pwned'</script>"
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["svg"],
        "render_fps": 5,
        "action_names": [f"stay {BAIT}", f"go {BAIT}"],
        "note": BAIT,
    }

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.action_space, self.observation_space = Discrete(2), Text(400, min_length=0, charset=None)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return BAIT, {BAIT: BAIT, "half": "\ud800", "object": object(), "nan": float("nan"), "big": 1 << 80}

    def step(self, action: Any) -> Step[str]:
        if int(action) == 1:
            raise ValueError(BAIT)
        return Step(BAIT, 1.0, False, False, {BAIT: [BAIT, b"<b>", np.zeros(2)]})

    def render(self) -> str:
        script = "<script>document.title='pwned';parent.document.title='pwned';alert(1)</script>"
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="alert(1)">'
            f"{script}<rect width='60' height='40' fill='teal' onclick='alert(1)'/>"
            "<foreignObject width='60' height='40'><body xmlns='http://www.w3.org/1999/xhtml'>"
            "<img src='x' onerror='alert(1)'/></body></foreignObject></svg>"
        )
