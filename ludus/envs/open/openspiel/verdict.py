"""Who won: what the rules of a game say, by the game's own returns and never by the reward of a step."""

from collections.abc import Callable

from ludus.envs.open.openspiel.match import Match

__all__ = ["winner_of", "won_by"]

NEARLY = 1e-6


def _tile_reached(match: Match) -> bool:
    """2048: the tile is on the board."""
    tiles = [int(one) for one in str(match.position.state).split() if one.isdigit()]
    return max(tiles, default=0) >= int(match.position.game.get_parameters().get("max_tile", 2048))


def _goal_reached(match: Match) -> bool:
    """Walking along the cliff: the walker stands where the goal was."""
    return "G" not in str(match.position.state)


def _gained(match: Match) -> bool:
    return match.position.returns()[0] > 0


WINS: dict[str, Callable[[Match], bool]] = {
    "2048": _tile_reached,
    "cliff_walking": _goal_reached,
    "pathfinding": _gained,
    "blackjack": _gained,
    "catch": _gained,
}
"""Games of one player, or of players with one aim, that are won without the most that can be gained."""


def winner_of(match: Match) -> int | None:
    """The seat that gained more than every other; nobody at a draw, and where players have one aim."""
    if match.players == 1 or match.position.kind.utility.name == "IDENTICAL":
        return None
    returns = match.position.returns()
    best = max(returns)
    first = [seat for seat, gained in enumerate(returns) if gained >= best - NEARLY]
    return first[0] if len(first) == 1 else None


def won_by(match: Match, seat: int) -> bool | None:
    """Whether a seat has won a game that is over; None where a game knows no winning, as one of a population."""
    if match.position.kind.dynamics.name == "MEAN_FIELD":
        return None
    rule = WINS.get(match.position.name)
    if rule is not None:
        return rule(match)
    if match.players == 1 or match.position.kind.utility.name == "IDENTICAL":
        return match.position.returns()[seat] >= float(match.position.game.max_utility()) - NEARLY
    return winner_of(match) == seat
