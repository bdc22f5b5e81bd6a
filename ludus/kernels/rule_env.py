"""`RuleEnv`: one environment that runs its rules as they are written."""

from enum import IntEnum
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from ludus.core import Info, Step
from ludus.core.env import AnyEnv
from ludus.core.options import Options
from ludus.core.outcome import OUTCOME, read_outcome
from ludus.errors import InvalidArgument, InvalidType, ResetNeeded, listing, shorten
from ludus.kernels.action import finite_row, read_action
from ludus.kernels.kinds import is_dict, new_step
from ludus.kernels.legal_actions import Choices, as_mask, check_legal, choices_of
from ludus.kernels.overrides import hook, overridden, take_class
from ludus.kernels.parameters import coerce_parameter, coerce_parameters
from ludus.kernels.players import Play, check_spaces, play_of
from ludus.kernels.row import observation_writer
from ludus.kernels.rules import Rule, Rules, check_rules
from ludus.kernels.start import options_of
from ludus.kernels.state_arrays import has_arrays, own_copy, own_state, read_only
from ludus.seeding import Seed
from ludus.spaces import Box
from ludus.spaces.kinds import is_array, is_list_or_tuple

__all__ = ["RuleEnv"]

int64, ndarray = np.int64, np.ndarray  # a global is found faster than an attribute of NumPy's
PLAIN = frozenset({int, float, bool})


class RuleEnv(AnyEnv):
    """An environment made of `rules`; a subclass adds the spaces, and `draw` if it can be seen.

    Every parameter is an attribute, to read and to set, of an environment or of a class. What a subclass overrides is
    called; its batches are then interpreted. `step` before `reset`, or after the end, raises ResetNeeded.

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
    _hooks: ClassVar[tuple[str, ...]] = ()
    """The methods that the rules stand for."""
    _inner_hooks: ClassVar[tuple[str, ...]] = ()
    """Those that a step or a reset would call."""
    _class_settings: ClassVar[dict[str, object]] = {}
    """What classes set to a value of their own: parameters, and other attributes that are kept elsewhere."""
    _managed: ClassVar[dict[str, object]]
    """Those attributes, as they are kept."""
    _functions: tuple[Rule, Rule, Rule | None]
    """What steps, what observes, and what tells of a state, or None."""
    _play: ClassVar[Play]
    _refuses: ClassVar[bool]
    """Whether an illegal action is no action."""
    last_action: Any
    """What `step` was last called with, as the rules took it; None after a reset."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "rules" in cls.__dict__:
            check_rules(cls.__name__, cls.rules)
            cls._play, cls._refuses = play_of(cls.rules), cls.rules.illegal == "refuse"
            cls._functions = cls._play.step, cls._play.observe, _teller(cls.rules)
        take_class(cls)

    def __init__(self, *, render_mode: str | None = None, **params: object) -> None:
        modes: list[str] = self.metadata.get("render_modes") or []
        if render_mode is not None and render_mode not in modes:
            raise InvalidArgument(
                f"{type(self).__name__} render_mode: expected one of {list(modes)} or None, got {render_mode!r}"
            )
        self.render_mode = render_mode
        self.params: Any = self._default_params(**params)
        self.last_action: Any = None
        self._state: Any = None
        self._needs = "no reset yet"
        self._owns = False
        self._guards = self._refuses
        """Whether a step has arrays to keep, or an action to refuse."""
        acts = self.action_space
        if self.rules.players > 1:
            seen = self.observation_space
            check_spaces(type(self).__name__, self.rules, {"action_space": acts, "observation_space": seen})
        clipped = isinstance(acts, Box) and self.clips_actions
        self._row_dtype = acts.dtype if clipped else None
        self._row_shape = acts.shape if clipped and acts.shape and len(acts.shape) == 1 else None
        self._write = observation_writer(self.observation_space)
        if self._refuses:
            self._choices: Choices = choices_of(acts)
        if self.rules.compiled:
            self._run_compiled()
        for name, value in self._class_settings.items():
            if name not in self.rules.params._fields:
                setattr(self, name, value)
        self._follow_overrides()

    # --- what subclasses and users change ---

    @classmethod
    def _default_params(cls, **given: object) -> Any:
        """The parameters as the class has them, with those that are `given` instead."""
        take_class(cls)
        fields = cls.rules.params._fields
        settings = {name: value for name, value in cls._class_settings.items() if name in fields}
        found = coerce_parameters(cls.__name__, cls.rules.params, settings | given)
        return found._make(map(read_only, found))  # the caller's arrays, or every environment's: rules only read them

    def _set_params(self, **changes: object) -> None:
        """Change parameters, for the steps that follow."""
        owner, kind = type(self).__name__, self.rules.params
        each = {name: read_only(coerce_parameter(owner, kind, name, one)) for name, one in changes.items()}
        self.params = self.params._replace(**each)

    def own_rules(self) -> list[str]:
        """What is not as the rules say, by name: hooks that are overridden, tables that were changed."""
        return overridden(self)

    def _follow_overrides(self) -> None:
        functions = self._hooked_functions(overridden(self))
        if functions is not None:
            self._functions = functions
            self._write = None  # what a hook observes is given as it is

    def _hooked_functions(self, changed: list[str]) -> tuple[Any, Any, Any] | None:
        """`step`, `observe` and `inform` that call what is `changed`, as this object's methods; None where rules do."""
        del changed
        return None

    def _unready(self) -> None:
        """Called by `step` where it cannot go on at once; raises, unless it then can."""
        raise ResetNeeded(f"step: expected reset() first, got {self._needs}")

    # --- the episode ---

    @hook
    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Any, Info]:
        """Draw a first state."""
        params, chosen = self._under(options)
        super().reset(seed=seed)
        if self._inner_hooks and (seed is not None or self._state is None):  # an object may have got methods of its own
            self._follow_overrides()
        renew, rng = self._play.renew, self.np_random
        if renew is None or seed is not None or self._state is None:
            begun = self._play.reset(rng, params, *chosen)
        else:
            begun = renew(self._state, rng, params, *chosen)
        self._owns = has_arrays(begun)
        self._guards = self._owns or self._refuses
        self._state = own_copy(begun) if self._owns else begun
        self._needs, self.last_action = "", None
        if self.render_mode == "human":
            self.render()
        _, observe, tell = self._functions
        seen = observe(self._state, params)
        info: Info = {} if tell is None else entries(tell(self._state, params))
        info.pop(OUTCOME, None)  # what has just begun has none
        return seen if self._write is None else self._write(seen), info

    def observation_of(self, player: int) -> Any:
        """What a player of several sees now, whether it is his turn or not."""
        if self.rules.players == 1 or not 0 <= player < self.rules.players:
            raise InvalidArgument(f"player: expected one of {self.rules.players} players by number, got {player}")
        if self._state is None:
            raise ResetNeeded("observation_of: expected reset() first, got no reset yet")
        space: Any = self.observation_space
        together = self.rules.turn is None
        write = observation_writer(space.spaces[player] if together else space)
        seen = self.rules.observe(self._state, self.params, player)
        return seen if write is None else write(seen)

    @hook
    def step(self, action: Any) -> Step[Any]:
        """Apply the rules once."""
        # One long function, and tuples made without their constructor: each call saved is a twentieth of a small step.
        if self._needs:
            self._unready()
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
        (advance, observe, tell), params = self._functions, self.params
        if self._guards:
            if self._refuses:
                check_legal(self.rules.legal(self._state, params), action, self._choices)  # pyright: ignore[reportOptionalCall]
            return self._step_of(advance(self._state, action, self._np_random, params), action)
        given = advance(self._state, action, self._np_random, params)
        try:
            state, reward, terminated = given
        except ValueError:  # more than three
            return self._step_of(given, action)
        self._state, self.last_action = state, action
        if terminated:
            self._needs = "an episode that has ended"
        if self.render_mode == "human":
            self.render()
        seen = observe(state, params)
        if self._write is not None:
            seen = self._write(seen)
        info: Info = {} if tell is None else _known(entries(tell(state, params)))
        return new_step(Step, (seen, reward, terminated, False, info))

    def _step_of(self, given: Any, action: object) -> Step[Any]:
        """The step of rules that give more than three values, keep arrays or refuse actions."""
        (_, observe, tell), params = self._functions, self.params
        state, reward, terminated = given[:3]
        truncated = len(given) > 3 and given[3]
        info: Info = entries(given[4]) if len(given) > 4 else {}
        state = own_state(self._state, state, self.rules.state.__name__) if self._owns else state
        self._state, self.last_action = state, action
        if terminated or truncated:
            self._needs = "an episode that has ended"
        if self.render_mode == "human":
            self.render()
        seen = observe(state, params)
        if self._write is not None:
            seen = self._write(seen)
        if tell is not None:
            info = entries(tell(state, params)) | info
        return Step(seen, reward, terminated, truncated, _known(info))

    @property
    def compiled(self) -> bool:
        """Whether one environment runs its rules compiled, as `Rules(…, compiled=True)` asks for."""
        return self.rules.compiled

    @classmethod
    def _run_compiled(cls) -> None:
        from ludus.kernels.single import compiled_single  # the compiler, which takes half a second to load

        rules = compiled_single(cls.rules)
        # Of the class, since compiled code is no part of an environment's state.
        cls._play = play_of(rules)
        cls._functions = cls._play.step, cls._play.observe, _teller(rules)

    def _under(self, options: object) -> tuple[Any, tuple[object, ...]]:
        """The parameters of one reset, and the options that the rules take."""
        if options is not None and not is_dict(options):
            raise InvalidType(f"options: expected a dictionary or None, got {shorten(options)}")
        kind = self.rules.options
        if kind is not None:
            return self.params, (options_of(kind, options or {}),)
        return (self.reset_params(options) if options else self.params), ()

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
        if state is None:
            return None
        whole = state if isinstance(state, self.rules.state) else self.rules.state._make(state)
        return own_copy(whole) if self._owns else whole  # rules go on changing theirs

    @state.setter
    def state(self, value: Any) -> None:
        fields = self.rules.state._fields
        if not (is_list_or_tuple(value) or is_array(value)) or len(value) != len(fields):
            raise InvalidArgument(f"state: expected the fields {listing(fields)}, got {shorten(value)}")
        kind, owner = self.rules.state, type(self).__name__
        state = kind(*(coerce_parameter(owner, kind, name, one) for name, one in zip(fields, value, strict=True)))
        self._owns = has_arrays(state)
        self._guards = self._owns or self._refuses
        self._state = own_copy(state)
        self._needs, self.last_action = "", None
        self.np_random  # noqa: B018  (rules read the generator directly: there has to be one)

    def state_data(self, *, private: bool = False) -> Info:
        """The rules' state, which holds what an agent must not know (a dealer's cards): private as a whole."""
        return super().state_data(private=True) if private else {}


def _teller(rules: Rules) -> Rule | None:
    """What tells of a state: the rules' own `inform`, and beside it what is legal and whose turn it is."""
    inform, legal, turn = rules.inform, rules.legal, rules.turn if rules.tells_turn else None
    if legal is None and turn is None:
        return inform

    def tell(state: object, params: object) -> Info:
        info: Info = {} if inform is None else entries(inform(state, params))
        if legal is not None:
            info["action_mask"] = as_mask(legal(state, params))
        if turn is not None:
            info["turn"] = int(turn(state, params))
        return info

    return tell


def entries(given: Any) -> Info:
    """What a rule gave for `info`, as the caller's own: it may have arrays that the rule keeps."""
    info: Info = dict(given) if is_dict(given) else dict(zip(given._fields, given, strict=True))
    for name, one in info.items():
        if type(one) not in PLAIN:
            info[name] = _entry(one)
    return info


def _known(info: Info) -> Info:
    """The same with the outcome that its code stands for, if it tells one."""
    if OUTCOME in info:
        outcome = read_outcome(info.pop(OUTCOME))
        info |= {} if outcome is None else {OUTCOME: outcome}
    return info


def _entry(value: object) -> object:
    if type(value) is ndarray:
        return value.copy()
    return int(value) if isinstance(value, IntEnum) else value
