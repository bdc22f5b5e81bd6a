"""OpenSpiel's own module: loaded when a game is, and nowhere else in Ludus; what it cannot do is said in our words."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ludus.envs.open.openspiel.trial import try_parameters
from ludus.errors import InvalidArgument, MissingExtra, did_you_mean, shorten
from ludus.spaces.kinds import is_mapping

if TYPE_CHECKING:
    import pyspiel

__all__ = [
    "CHANCE", "MEAN_FIELD", "SIMULTANEOUS", "TERMINAL", "Dynamics", "copies_badly", "draws_by_itself", "engine",
    "game_names", "load", "parse_game",
]  # fmt: skip

CHANCE, SIMULTANEOUS, TERMINAL, MEAN_FIELD = -1, -2, -4, -5
"""Who is to move where no player is, as OpenSpiel numbers them."""
Dynamics = ("SEQUENTIAL", "SIMULTANEOUS", "MEAN_FIELD")
SEEDS = "rng_seed"
"""The parameter of games that draw by themselves: a number of ours, drawn anew for each episode."""


class OpenSpielModule(Protocol):
    """What is used of the module `pyspiel`."""

    SpielError: "type[pyspiel.SpielError]"
    MCTSBot: "type[pyspiel.MCTSBot]"
    RandomRolloutEvaluator: "type[pyspiel.RandomRolloutEvaluator]"

    def game_parameters_from_string(self, text: str, /) -> dict[str, object]:
        """Name and parameters of a game in its spelling."""
        ...

    def load_game(self, name: str, parameters: Mapping[str, object], /) -> "pyspiel.Game":
        """A game."""
        ...

    def registered_games(self) -> "list[pyspiel.GameType]":
        """What every game is like."""
        ...


@cache
def engine() -> OpenSpielModule:
    """The module `pyspiel`; raises MissingExtra with what to type."""
    try:
        import pyspiel  # lazily: it takes a tenth of a second, and who plays something else may not have it
    except ImportError as error:
        raise MissingExtra(
            'open/OpenSpiel: expected the package open_spiel, got none; pip install "ludus-rl[openspiel]"',
            name="pyspiel",
        ) from error
    return pyspiel


@cache
def _types() -> "dict[str, pyspiel.GameType]":
    return {one.short_name: one for one in engine().registered_games()}


def game_names() -> Collection[str]:
    """Every game that this OpenSpiel has, whether it loads by its name alone or not."""
    return _types().keys()


def parse_game(text: object) -> tuple[str, dict[str, object]]:
    """Name and parameters in OpenSpiel's own spelling, `breakthrough(rows=6,columns=6)`; raises InvalidArgument.

    >>> parse_game("misere(game=kuhn_poker(players=3))")
    ('misere', {'game': {'name': 'kuhn_poker', 'players': 3}})
    """
    if not isinstance(text, str) or not text:
        raise InvalidArgument(f"OpenSpiel game: expected a name like 'tic_tac_toe', got {shorten(text)}")
    name, bracket, rest = text.partition("(")
    if not bracket:
        return name, {}
    if not rest.endswith(")") or text.count("(") != text.count(")"):
        raise InvalidArgument(f"OpenSpiel game: expected a name like 'go(board_size=9)', got {shorten(text)}")
    try:
        found = dict(engine().game_parameters_from_string(text))
    except Exception as error:  # of its parser: SpielError, and what std::stoi raises
        raise InvalidArgument(
            f"OpenSpiel game: expected a name like 'go(board_size=9)', got {shorten(text)}"
        ) from error
    return str(found.pop("name", name)), found


def load(name: str, parameters: Mapping[str, object], seed: int | None = None) -> "pyspiel.Game":
    """The game, with parameters that were checked and, unless they are the game's own, tried in another process.

    Bad parameters end OpenSpiel's process, by a signal: what is tried elsewhere first cannot end this one. `seed` is
    for a game that draws by itself.
    """
    spec = _known(name)
    if not spec.default_loadable and not parameters:
        raise InvalidArgument(
            f"OpenSpiel {name}: expected some of its parameters {sorted(spec.parameter_specification)}, got none; it "
            "is made of a game or a file that they name"
        )
    given = {key: _parameter(name, key, one, spec.parameter_specification) for key, one in parameters.items()}
    if given:
        try_parameters(name, given)
    if SEEDS in spec.parameter_specification and SEEDS not in given and seed is not None:
        given[SEEDS] = seed
    try:
        return engine().load_game(name, given)
    except engine().SpielError as error:
        raise InvalidArgument(
            f"OpenSpiel {name}: expected parameters that it can be played with, got {_first_line(error)}"
        ) from error


def draws_by_itself(name: str) -> bool:
    """Whether the engine draws within a move, by a generator that only a parameter can seed."""
    return SEEDS in _types()[name].parameter_specification


def copies_badly(name: str) -> bool:
    """Whether a copy of a state must be made by making its moves again.

    Besides the games that draw by themselves there is one whose copies share memory with the state that they were made
    of: a move in them ends the process.
    """
    return name == "morpion_solitaire" or draws_by_itself(name)


def _known(name: str) -> "pyspiel.GameType":
    spec = _types().get(name)
    if spec is None:
        raise InvalidArgument(
            f"OpenSpiel game: expected one of the {len(_types())} games of open_spiel, got {shorten(name)}"
            f"{did_you_mean(name, list(_types()))}; `ludus list --family openspiel` shows them"
        )
    if spec.action_structs_only:
        raise InvalidArgument(
            f"OpenSpiel game: expected one whose moves are numbers, got {name!r}, whose moves are only structures"
        )
    return spec


def _parameter(name: str, key: str, value: object, known: dict[str, object]) -> object:
    if key not in known:
        hint = did_you_mean(key, list(known))
        raise InvalidArgument(f"OpenSpiel {name}: expected some of {sorted(known)} as parameters, got {key!r}{hint}")
    default = known[key]
    if isinstance(default, dict):
        return _nested(name, key, value)
    if isinstance(default, bool):
        fits = isinstance(value, bool)
    elif isinstance(default, int):
        fits = isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31
    elif isinstance(default, float):
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        value = float(value) if isinstance(value, int | float) and fits else value
    else:
        fits = isinstance(value, str) and "\0" not in value
    if not fits:
        raise InvalidArgument(
            f"OpenSpiel {name} {key}: expected {type(default).__name__}, like {default!r}, got {shorten(value)}"
        )
    return value


def _nested(name: str, key: str, value: object) -> dict[str, object]:
    """A game as the parameter of another one: its spelling, or a dictionary with its `name`."""
    inner, given = parse_game(value) if isinstance(value, str) else (None, dict(value) if is_mapping(value) else {})
    inner = inner or given.pop("name", None)
    if not isinstance(inner, str):
        raise InvalidArgument(f"OpenSpiel {name} {key}: expected a game like 'kuhn_poker', got {shorten(value)}")
    known = _known(inner).parameter_specification
    return {"name": inner} | {one: _parameter(inner, one, given[one], known) for one in given}


def _first_line(error: Exception) -> str:
    return shorten(str(error).splitlines()[0] if str(error) else type(error).__name__, 200)
