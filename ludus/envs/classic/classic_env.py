"""`ClassicEnv`: rules over a few numbers, whose state is an array to who reads it; and bounds of its first state."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ludus.core import Info
from ludus.core.options import Options
from ludus.core.state import state_data
from ludus.errors import InvalidArgument, shorten
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.viewed_env import ViewedRuleEnv
from ludus.rendering import Drawn
from ludus.spaces.array_space import Array

__all__ = ["ClassicEnv", "reset_bounds"]


class ClassicEnv(Drawn, ViewedRuleEnv):
    """An environment whose `state` can be read, computed with and written into as an array.

    >>> from ludus.envs.classic import MountainCar
    >>> env = MountainCar()
    >>> _ = env.reset(seed=123)
    >>> env.state += 0.125
    >>> env.state.round(3)
    array([-0.339,  0.125])
    """

    steps_beyond_terminated: int | None = None
    """Kept for programs that bring a `step` of their own: here a step after the end is an error."""

    @property
    def state(self) -> Any:
        """The state as an array, None before the first reset; what is written into it counts in the next step."""
        return None if self._state is None else self._read()

    @state.setter
    def state(self, value: Any) -> None:
        if value is None:
            self._state, self._needs = None, "no reset yet"
        elif "step" in self.own_rules() and np.ndim(value) == 1 and len(value) != len(self.rules.state._fields):
            self._state, self._needs = tuple(np.asarray(value).tolist()), ""  # a step of one's own, over other numbers
        else:
            RuleEnv.state.__set__(self, value)

    def state_data(self, *, private: bool = False) -> Info:
        """The rules' state by the names of its fields, private as a whole."""
        return {} if self._state is None or not private else state_data(self._fields(), private=True)

    def _fields(self) -> Any:
        """The rules' own state, whose fields have names."""
        return self.rules.state._make(self._viewed_state())

    def reset_params(self, options: Options) -> object:
        """`low` and `high` set the range of the first state."""
        low, high = reset_bounds(options, self.params.start_low, self.params.start_high)
        return self.params._replace(start_low=low, start_high=high)

    def _view_of(self, state: Sequence[float]) -> Array:
        return np.array(state, self._state_dtype(state))

    def _state_of(self, view: Array) -> tuple[float, ...]:
        return tuple(view.tolist())

    def _state_dtype(self, state: Sequence[float]) -> type[np.floating]:
        """The precision that a state has for the programs that compute with it."""
        del state
        return np.float64


def reset_bounds(options: Options, low: float, high: float) -> tuple[float, float]:
    """`options["low"]` and `options["high"]` as floats, or the defaults; everything else is refused."""
    unknown = [name for name in options if name not in ("low", "high")]
    if unknown:
        raise InvalidArgument(f"options: expected 'low' and 'high' at most, got {shorten(unknown)}")
    ends = options.get("low", low), options.get("high", high)
    try:
        first, last = (float(end) for end in ends)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"options: expected numbers for low and high, got {shorten(ends)}") from error
    if not (isfinite(first) and isfinite(last) and first <= last):
        raise InvalidArgument(f"options: expected finite numbers with low <= high, got low={first}, high={last}")
    return first, last
