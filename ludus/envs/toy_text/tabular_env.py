"""`TabularEnv`: an environment of numbered states whose rules are a table, `P`; and colours of its text."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from ludus.core import Info
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.envs.toy_text.categorical import which_of
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import RuleEnv
from ludus.kernels.overrides import hook
from ludus.rendering import Drawn
from ludus.seeding import Seed

__all__ = ["Outcome", "Table", "TabularEnv", "colored"]

Outcome = tuple[float, int, float, bool]
"""Probability, next state, reward, and whether the episode ends there."""
Table = dict[int, dict[int, list[Outcome]]]
Numbered = tuple[int, *tuple[object, ...]]
"""A state, whose first field is its number."""


class TabularEnv(Drawn, RuleEnv):
    """Rules over one integer `s`, the first field of their state; a subclass lists the `outcomes` of each action.

    `P` and `initial_state_distrib` are what the rules say until they are changed; then steps and resets follow them.

    >>> from ludus.envs.toy_text.cliff_walking import CliffWalking
    >>> env = CliffWalking()
    >>> env.P[36][1]
    [(1.0, 36, -100, False)]
    >>> env.P[36][1] = [(1.0, 47, 5.0, True)]
    >>> _ = env.reset(seed=0)
    >>> env.step(1)
    Step(observation=47, reward=5.0, terminated=True, truncated=False, info={'prob': 1.0})
    """

    first_prob: ClassVar[float] = 1
    """The `prob` that comes with a first state: by custom an integer here, and a float in Taxi."""
    snapshot_shared: ClassVar[tuple[str, ...]] = (*Drawn.snapshot_shared, "_listed", "_table")

    def __init__(self, *, render_mode: str | None = None, distribution: NDArray[np.float64], **params: object) -> None:
        self._table: Table | None = None
        self._listed: tuple[object, Table] | None = None
        self._distribution, self._distribution_given = distribution, False
        super().__init__(render_mode=render_mode, starts=np.cumsum(distribution), **params)

    # --- what may follow ---

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """Everything that may follow an action."""
        raise NotImplementedError(f"{type(self).__name__} defines no outcomes(state, action)")

    @property
    def P(self) -> Table:  # noqa: N802  (its name everywhere)
        """State → action → what may follow, by the rules; once it was read, steps follow what it says."""
        if self._table is None:
            self._table = self._listing()
            self._listed = self.params, _copied(self._table)
            self._follow_overrides()
        elif self._listed is not None and self._listed[0] is not self.params:
            self._follow_params(self._table, self._listed[1])
        return self._table

    @P.setter
    def P(self, value: Table) -> None:  # noqa: N802
        _ = self.P  # what the rules say, to compare with
        self._table = value
        self._follow_overrides()

    def _listing(self) -> Table:
        """The table by the rules."""
        actions = range(int(self.action_space.n))  # type: ignore[attr-defined]
        return {state: {action: self.outcomes(state, action) for action in actions} for state in range(self._count)}

    def _follow_params(self, table: Table, listed: Table) -> None:
        """List the outcomes anew, into the table that was given out; one that was changed is its owner's."""
        new = self._listing()
        stays = new == listed or table != listed
        self._listed = self.params, new
        if not stays:
            table.clear()
            table.update(_copied(new))

    def own_rules(self) -> list[str]:
        """Hooks that are overridden, and `P` if it is not what the rules say."""
        self._take_distribution()
        return super().own_rules() if self._changed_table() is None else [*super().own_rules(), "P"]

    def _changed_table(self) -> Table | None:
        """The table, if it is not what the rules say."""
        if self._table is None or (self._listed is not None and self._listed[1] == self.P):
            return None
        return self._table

    def _hooked_functions(self, changed: list[str]) -> tuple[object, object, object] | None:
        if self._table is None and set(changed) <= {"step", "reset"}:
            return None
        return self._by_table, self.rules.observe, self.rules.inform

    def _by_table(self, state: Any, action: int, rng: np.random.Generator, params: Any) -> tuple[object, float, bool]:
        """A step as the table says."""
        del params
        prob, place, reward, terminated = self._drawn(state, action, rng)
        return self.rules.state(int(place), prob), reward, terminated

    def _drawn(self, state: Numbered, action: int, rng: np.random.Generator) -> Outcome:
        outcomes = self.P[state[0]][action]
        return outcomes[which_of([one[0] for one in outcomes], rng.random())]

    # --- where episodes begin ---

    @property
    def initial_state_distrib(self) -> NDArray[np.float64]:
        """The probability of each state to be the first; what is written into it counts from the next reset on."""
        self._distribution_given = True
        return self._distribution

    @initial_state_distrib.setter
    def initial_state_distrib(self, value: npt.ArrayLike) -> None:
        chances = np.asarray(value, np.float64)
        if chances.shape != (self._count,):
            raise InvalidArgument(
                f"initial_state_distrib: expected {self._count} probabilities, one a state, got {shorten(value)}"
            )
        self._distribution = chances
        self._take_distribution()

    def _take_distribution(self) -> None:
        """What was given out may have been written into."""
        starts = np.cumsum(self._distribution)
        if not np.array_equal(starts, self.params.starts):
            self._set_params(starts=starts)

    @hook
    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[int, Info]:
        """Draw a first state; its `prob` is `first_prob`."""
        if self._distribution_given:
            self._take_distribution()
        observation, info = super().reset(seed=seed, options=options)
        info["prob"] = self.first_prob
        return observation, info

    # --- snapshots: a table counts only where it was changed, and stays the object that was given out ---

    def _capture(self, memo: Memo) -> object:
        changed = self._changed_table()
        return super()._capture(memo), None if changed is None else _copied(changed)

    def _reinstate(self, state: tuple[object, Table | None], memo: Memo) -> None:
        attributes, changed = state
        super()._reinstate(attributes, memo)
        if changed is not None or self._table is not None:
            table = self.P
            table.clear()
            table.update(_copied(changed or self._listing()))
        self._follow_overrides()

    # --- the state ---

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

    @lastaction.setter
    def lastaction(self, value: int | None) -> None:
        self.last_action = value

    def board(self) -> str:
        """The current state as text, for the render mode "ansi"."""
        raise NotImplementedError(f"{type(self).__name__} defines no board()")

    def render(self) -> Any:
        """The current picture; under "ansi" the text board that everybody knows."""
        return self.board() if self.render_mode == "ansi" and self._state is not None else super().render()


def _copied(table: Table) -> Table:
    return {state: {action: list(outcomes) for action, outcomes in row.items()} for state, row in table.items()}


COLORS = {"red": 1, "green": 2, "yellow": 3, "blue": 4, "magenta": 5}


def colored(text: str, color: str, *, highlight: bool = False, bold: bool = False) -> str:
    r"""`text` in a colour, or on it when `highlight`.

    >>> colored("S", "red", highlight=True)
    '\x1b[41mS\x1b[0m'
    """
    code = f"{4 if highlight else 3}{COLORS[color]}{';1' if bold else ''}"
    return f"\x1b[{code}m{text}\x1b[0m"
