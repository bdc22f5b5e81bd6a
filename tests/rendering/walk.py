"""A tiny environment that draws itself: a walker on a line of nine places."""

from typing import Any

from ludus.core import Step
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Discrete


class Walk(Drawn):
    """Left and right from the middle; the right end pays 1, the left end nothing."""

    metadata = {"render_modes": ["human", "rgb_array", "ansi", "svg"], "render_fps": 4}

    def __init__(self, render_mode: str | None = None, size: int = 9) -> None:
        self.size, self.render_mode = size, render_mode
        self.observation_space, self.action_space = Discrete(size), Discrete(2)
        self.place = size // 2

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = self.size // 2
        return self.place, {}

    def step(self, action: int) -> Step[int]:
        self.place += 1 if action == 1 else -1
        if self.place in (0, self.size - 1):
            return Step.termination(self.place, float(self.place > 0))
        return Step.transition(self.place, 0.0)

    def draw(self) -> Canvas:
        canvas = Canvas(20 * self.size, 60, background="#f8f9fa")
        canvas.line(0, 40, canvas.width, 40, color="gray", width=2)
        canvas.text(20 * self.size - 10, 36, "$", size=16, color="green", anchor="bottom")
        canvas.circle(20 * self.place + 10, 32, 8, fill="blue")
        canvas.text(4, 4, f"place {self.place}", size=12)
        return canvas


class FastWalk(Walk):
    """The same by the clock."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 60}
