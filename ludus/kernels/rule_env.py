"""`RuleEnv`: one environment that runs its rules as they are written."""

from math import isfinite
from typing import Any, ClassVar

import numpy as np

from ludus.core import Env, Info, Step
from ludus.errors import InvalidArgument, InvalidType, ResetNeeded, listing, shorten
from ludus.kernels.action import finite_row, read_action
from ludus.kernels.parameters import fitted, fitted_all
from ludus.kernels.row import row_writer
from ludus.kernels.rules import Rules
from ludus.seeding import Seed
from ludus.spaces import Box

__all__ = ["RuleEnv"]

int64, ndarray = np.int64, np.ndarray  # a global is found faster than an attribute of NumPy's
new_tuple = tuple.__new__


class RuleEnv(Env[Any, Any]):
    """An environment made of `rules`; a subclass adds the spaces, and `draw` if it can be seen.

    Every parameter is an attribute, to read and to set. `step` before `reset`, or after the end, raises ResetNeeded.

    >>> from typing import NamedTuple
    >>> from ludus.spaces import Discrete
    >>> class State(NamedTuple):
    ...     place: int
    >>> class Params(NamedTuple):
    ...     goal: int = 3
    >>> def step(state, action, rng, params):
    ...     place = state.place + (1 if action == 1 else -1)
    ...     return State(place), 1.0 if place == params.goal else 0.0, place == params.goal
    >>> class Walk(RuleEnv):
    ...     rules = Rules(State, Params, lambda rng, params: State(0), step, lambda state, params: state.place)
    ...     observation_space, action_space = Discrete(11, start=-5), Discrete(2)
    >>> env = Walk(goal=1)
    >>> _ = env.reset(seed=0)
    >>> env.step(1)
    Step(observation=1, reward=1.0, terminated=True, truncated=False, info={})
    """

    rules: ClassVar[Rules]
    clips_actions: ClassVar[bool] = False
    """Whether the rules clip a Box's action themselves: then any finite numbers are an action."""
    _functions: tuple[Any, Any, Any]
    last_action: Any
    """What `step` was last called with, as the rules took it; None after a reset."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "rules" not in cls.__dict__:
            return
        cls._functions = cls.rules.step, cls.rules.observe, cls.rules.inform
        for name in cls.rules.params._fields:
            if not hasattr(cls, name):
                setattr(cls, name, _parameter(name))

    def __init__(self, *, render_mode: str | None = None, **params: Any) -> None:
        modes = self.metadata.get("render_modes") or []
        if render_mode is not None and render_mode not in modes:
            raise InvalidArgument(
                f"{type(self).__name__} render_mode: expected one of {list(modes)} or None, got {render_mode!r}"
            )
        self.render_mode = render_mode
        self._running = self._runnable()
        self.params: Any = fitted_all(type(self).__name__, self.rules.params, params)
        self.last_action: Any = None
        self._state: Any = None
        self._needs = "no reset yet"
        acts, seen = self.action_space, self.observation_space
        clipped = isinstance(acts, Box) and self.clips_actions
        self._row_dtype = acts.dtype if clipped else None
        self._row_shape = acts.shape if clipped and acts.shape and len(acts.shape) == 1 else None
        self._seen_dtype = seen.dtype if isinstance(seen, Box) else None
        self._write = row_writer(seen.shape[0] if isinstance(seen, Box) and len(seen.shape) == 1 else 0)

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Draw a first state."""
        params = self._params_under(options) if options else self.params
        super().reset(seed=seed)
        rules, rng = self._running, self.np_random
        if rules.renew is None or seed is not None or self._state is None:
            self._state = rules.reset(rng, params)
        else:
            self._state = rules.renew(self._state, rng, params)
        self._needs, self.last_action = "", None
        if self.render_mode == "human":
            self.render()
        seen = rules.observe(self._state, params)
        info: Info = {} if rules.inform is None else _told(rules.inform(self._state, params))
        return seen if self._seen_dtype is None else self._write(seen, self._seen_dtype), info

    def step(self, action: Any) -> Step[Any]:
        """Apply the rules once."""
        # One long function, and tuples made without their constructor: each call saved is a twentieth of a small step.
        if self._needs:
            raise ResetNeeded(f"step: expected reset() first, got {self._needs}")
        if self._row_dtype is not None:
            if (
                type(action) is not ndarray
                or action.dtype is not self._row_dtype
                or action.shape != self._row_shape
                or not isfinite(sum(action.tolist()))  # finds any NaN; NumPy's functions take five times as long here
            ):
                action = finite_row(self.action_space, action)  # pyright: ignore[reportArgumentType]
        elif type(action) is int64:
            number = int(action)
            action = number if self.action_space.contains(number) else read_action(self.action_space, action)
        elif type(action) is not int or not self.action_space.contains(action):
            action = read_action(self.action_space, action)
        (advance, observe, inform), params = self._functions, self.params
        state, reward, terminated = advance(self._state, action, self._np_random, params)
        self._state, self.last_action = state, action
        if terminated:
            self._needs = "an episode that has ended"
        if self.render_mode == "human":
            self.render()
        seen = observe(state, params)
        if self._seen_dtype is not None:
            seen = self._write(seen, self._seen_dtype)
        info: Info = {} if inform is None else _told(inform(state, params))
        return new_tuple(Step, (seen, reward, terminated, False, info))

    @property
    def compiled(self) -> bool:
        """Whether one environment runs its rules compiled, as `Rules(…, compiled=True)` asks for."""
        return self.rules.compiled

    def _runnable(self) -> Rules:
        """The rules as this environment calls them."""
        rules = self.rules
        if not rules.compiled:
            return rules
        from ludus.kernels.single import compiled_single  # the compiler, which takes half a second to load

        rules = compiled_single(rules)
        self._functions = rules.step, rules.observe, rules.inform
        return rules

    def _params_under(self, options: Any) -> Any:
        if not isinstance(options, dict):
            raise InvalidType(f"options: expected a dictionary or None, got {shorten(options)}")
        return self.reset_params(options)

    def reset_params(self, options: dict[str, Any]) -> Any:
        """The parameters of one reset under `options`; by default none are known."""
        raise InvalidArgument(
            f"options: expected none, since {type(self).__name__} has no reset options, got {shorten(options)}"
        )

    # --- the state as a value ---

    @property
    def state(self) -> Any:
        """The rules' state as a NamedTuple; None before the first reset. Any sequence of its fields sets it."""
        state = self._state
        return state if state is None or isinstance(state, self.rules.state) else self.rules.state._make(state)

    @state.setter
    def state(self, value: Any) -> None:
        fields = self.rules.state._fields
        if not isinstance(value, tuple | list | np.ndarray) or len(value) != len(fields):
            raise InvalidArgument(f"state: expected the fields {listing(fields)}, got {shorten(value)}")
        kind, owner = self.rules.state, type(self).__name__
        self._state = kind(*(fitted(owner, kind, name, one) for name, one in zip(fields, value, strict=True)))
        self._needs, self.last_action = "", None
        self.np_random  # noqa: B018  (rules read the generator directly: there has to be one)

    def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """The rules' state, which holds what an agent must not know (a dealer's cards): private as a whole."""
        return super().state_data(private=True) if private else {}


def _told(told: Any) -> Info:
    """What `inform` gave, as the caller's own: rules may tell of arrays that they keep."""
    return {name: one.copy() if type(one) is ndarray else one for name, one in zip(told._fields, told, strict=True)}


def _parameter(name: str) -> property:
    def get(self: RuleEnv) -> Any:
        return getattr(self.params, name)

    def put(self: RuleEnv, value: Any) -> None:
        value = fitted(type(self).__name__, self.rules.params, name, value)
        self.params = self.params._replace(**{name: value})

    return property(get, put, doc=f"The parameter `{name}` of the rules.")
