"""`TabularEnv`: an environment of numbered states whose rules can be listed as a table, `P`."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ludus.core import Info
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import RuleEnv
from ludus.rendering import Drawn
from ludus.seeding import Seed

__all__ = ["Outcome", "TabularEnv"]

Outcome = tuple[float, int, Any, bool]
"""Probability, next state, reward, and whether the episode ends there."""
Table = dict[int, dict[int, list[Outcome]]]


class TabularEnv(Drawn, RuleEnv):
    """Rules over one integer `s`, the first field of their state; a subclass lists the `outcomes` of each action.

    >>> from ludus.envs.toy_text.cliff_walking import CliffWalking
    >>> env = CliffWalking()
    >>> env.P[36][1]
    [(1.0, 36, -100, False)]
    """

    initial_state_distrib: NDArray[np.float64]
    """The probability of each state to be the first."""
    first_prob: ClassVar[float] = 1
    """The `prob` that comes with a first state: by custom an integer here, and a float in Taxi."""
    snapshot_shared: ClassVar[tuple[str, ...]] = (*Drawn.snapshot_shared, "_table", "initial_state_distrib")

    def __init__(self, *, render_mode: str | None = None, **params: Any) -> None:
        self._table: tuple[Any, Table] | None = None
        super().__init__(render_mode=render_mode, **params)

    def board(self) -> str:
        """The current state as text, for the render mode "ansi"."""
        raise NotImplementedError(f"{type(self).__name__} defines no board()")

    def render(self) -> Any:
        """The current picture; under "ansi" the text board that everybody knows."""
        return self.board() if self.render_mode == "ansi" and self._state is not None else super().render()

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """Everything that may follow an action."""
        raise NotImplementedError(f"{type(self).__name__} defines no outcomes(state, action)")

    @property
    def P(self) -> Table:  # noqa: N802  (its name everywhere)
        """State → action → what may follow. To plan with: the rules do not read it, so changing it changes nothing."""
        if self._table is None or self._table[0] is not self.params:
            states, actions = range(self._count), range(int(self.action_space.n))  # type: ignore[attr-defined]
            listed = {state: {action: self.outcomes(state, action) for action in actions} for state in states}
            self._table = self.params, listed
        return self._table[1]

    @property
    def _count(self) -> int:
        return int(self.observation_space.n)  # type: ignore[attr-defined]

    @property
    def s(self) -> int | None:
        """The state's number; None before the first reset. It may be set, also without a reset."""
        return None if self._state is None else self._state[0]

    @s.setter
    def s(self, value: int) -> None:
        if value not in self.observation_space:
            raise InvalidArgument(f"s: expected a state from 0 to {self._count - 1}, got {shorten(value)}")
        state = self.state
        self.state = self.rules.state(int(value)) if state is None else state._replace(s=int(value))

    @property
    def lastaction(self) -> int | None:
        """The last action; None after a reset."""
        return self.last_action

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Draw a first state; its `prob` is `first_prob`."""
        observation, info = super().reset(seed=seed, options=options)
        info["prob"] = self.first_prob
        return observation, info
