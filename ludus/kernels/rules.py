"""`Rules`: the contract between an environment's arithmetic and whatever runs it.

Rules are plain functions. They touch nothing but their arguments and the constants of their module, draw only from
`rng`, use only `math`, scalars, tuples and arrays, call only functions written alike, and so can be compiled as
they are. State and parameters are NamedTuples. Arrays of a state are the lane's own memory: `step` may change them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ludus.errors import InvalidArgument, KernelError, shorten

__all__ = ["Rule", "Rules", "check_rules"]

Rule: TypeAlias = Callable[..., Any]
"""A function of the rules: states, actions and observations are what its author says."""


class Rules(NamedTuple):
    """The functions of one environment.

    >>> class State(NamedTuple):
    ...     place: int
    >>> class Params(NamedTuple):
    ...     goal: int = 3
    >>> def step(state, action, rng, params):
    ...     place = state.place + (1 if action == 1 else -1)
    ...     return State(place), 1.0 if place == params.goal else 0.0, place == params.goal
    >>> walk = Rules(State, Params, lambda rng, params: State(0), step, lambda state, params: state.place)
    >>> walk.step(State(2), 1, None, Params())
    (State(place=3), 1.0, True)
    """

    state: type[Any]
    """A NamedTuple class: numbers, bools, arrays of fixed shape, and NamedTuples and tuples of these.

    Rules that unpack their state may return it as the plain tuple of its fields, which saves a tenth of a small step.
    """
    params: type[Any]
    """A NamedTuple class whose every field has a default: numbers, bools, bytes, tuples of numbers and arrays.

    Values that are given for `float`, `int` and `bool` fields are checked.
    """
    reset: Rule
    """`reset(rng, params) -> State`; with `options`, `reset(rng, params, options) -> State`."""
    step: Rule
    """`step(state, action, rng, params) -> (State, reward, terminated)`, then `truncated`, then an info.

    The action is an int for a Discrete, an array of the space's dtype for a Box, a MultiDiscrete and a MultiBinary, a
    tuple for a Tuple and a NamedTuple for a Dict. An info is a NamedTuple, or a dictionary written out, of numbers and
    arrays; a field `outcome` says how the episode went.
    """
    observe: Rule
    """`observe(state, params)`: a number, a tuple of numbers or an array of the space's shape.

    A tuple of those for a Tuple; a NamedTuple, or a dictionary written out, for a Dict.
    """
    inform: Rule | None = None
    """`inform(state, params)`: what goes into `info`, a NamedTuple or a dictionary; None for nothing."""
    renew: Rule | None = None
    """`renew(state, rng, params) -> State`: the next episode's first state, where it depends on how the last one went.

    None for `reset`. A reset with a seed never calls it: the same seed gives the same history, whatever came before.
    """
    legal: Rule | None = None
    """`legal(state, params)`: which actions of a Discrete may be taken, an array or a tuple of one bool for each.

    Of a MultiDiscrete, or a Tuple of Discretes, a tuple with one such mask for each choice. It is
    `info["action_mask"]`, of int8, as the space's `sample(mask)` takes it.
    """
    options: type[Any] | None = None
    """A NamedTuple class whose every field has a default: what `reset(options=…)` may say, such as where to start."""
    illegal: str = "allow"
    """What an action outside `legal` is: "allow" leaves it to `step`, "refuse" raises InvalidAction."""
    players: int = 1
    """How many play. With more than one, `step` gives a tuple of rewards, and `observe` takes a player's number last.

    One reward is given, the mover's, or the sum where all move at once; `info["rewards"]` has those of all.
    """
    turn: Rule | None = None
    """`turn(state, params)`: the number of the player to move, `info["turn"]`; None where all move at once.

    Then the action is a tuple of one for each player, and so are observations.
    """
    opponent: Rule | None = None
    """`opponent(state, rng, params)`: an action for whichever player but the first is to move.

    With it the environment is the first player's: a step goes on until it is his turn again.
    """
    compiled: bool = False
    """Whether one environment runs its rules compiled, as a batch does.

    Then they may use what has other bits when it is interpreted.
    """

    @property
    def tells_turn(self) -> bool:
        """Whether `info` says whose turn it is."""
        return self.turn is not None and self.opponent is None

    @property
    def functions(self) -> dict[str, Rule]:
        """The functions that are there, by their names here."""
        names = ("reset", "step", "observe", "inform", "renew", "legal", "turn", "opponent")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def arguments(self) -> dict[str, tuple[str, ...]]:
        """What each of the functions takes, in its order."""
        options = () if self.options is None else ("options",)
        known: dict[str, tuple[str, ...]] = {
            "reset": ("rng", "params", *options),
            "step": ("state", "action", "rng", "params"),
            "observe": ("state", "params", *(("player",) if self.players > 1 else ())),
            "inform": ("state", "params"),
            "renew": ("state", "rng", "params", *options),
            "legal": ("state", "params"),
            "turn": ("state", "params"),
            "opponent": ("state", "rng", "params"),
        }
        return {name: known[name] for name in self.functions}


def _is_record_class(kind: object) -> bool:
    return hasattr(kind, "_fields") and isinstance(kind, type) and issubclass(kind, tuple)


def check_rules(owner: str, rules: Rules) -> None:
    """Raise KernelError unless state, parameters and options are NamedTuples, and InvalidArgument for an odd choice."""
    for name, kind in (("state", rules.state), ("params", rules.params), ("options", rules.options)):
        if kind is None and name == "options":
            continue
        if not _is_record_class(kind):
            got = "a dataclass" if hasattr(kind, "__dataclass_fields__") else shorten(kind)
            class_name = getattr(kind, "__name__", "It")
            raise KernelError(
                f"{owner} {name}: expected a NamedTuple class, got {got}; write `class {class_name}(NamedTuple):`, "
                "and return a new one where a field changes"
            )
    taken = sorted({"each", "reset_mask"} & set(getattr(rules.options, "_fields", ())))
    if taken:
        raise InvalidArgument(
            f"{owner} options: expected other names than each and reset_mask, which tell lanes of a batch apart, "
            f"got {taken[0]}"
        )
    if rules.players == 1 and (rules.turn is not None or rules.opponent is not None):
        raise InvalidArgument(f"{owner} turn and opponent: expected players=2 or more beside them, got players=1")
    if rules.opponent is not None and rules.turn is None:
        raise InvalidArgument(f"{owner} opponent: expected rules with `turn`, got none")
    if rules.illegal not in ("allow", "refuse"):
        raise InvalidArgument(f"{owner} illegal: expected 'allow' or 'refuse', got {shorten(rules.illegal)}")
    if rules.illegal == "refuse" and rules.legal is None:
        raise InvalidArgument(f"{owner} illegal='refuse': expected rules with `legal`, got none")
