"""Visibility: whether a seat can tell what another one has just done, or the game hides that from it."""

from typing import TYPE_CHECKING

from ludus.envs.open.openspiel.position import Position

if TYPE_CHECKING:
    import pyspiel

__all__ = ["is_seen"]

PUBLIC = frozenset({"kuhn_poker", "leduc_poker", "liars_dice", "universal_poker"})
"""Games with hidden cards or dice, in which all that players do is done openly: they need not be looked into."""
MAX_ALTERNATIVES = 128
"""Actions that are compared; where there are more, what was done is kept secret."""


def is_seen(position: Position, action: int, seat: int) -> bool:
    """Whether `seat` knows that `action` is what the player to move does, and nothing else that they might do.

    >>> is_seen(Position("tic_tac_toe", {}), 4, 1), is_seen(Position("phantom_ttt", {}), 4, 1)
    (True, False)
    """
    if position.open or position.name in PUBLIC:
        return True
    state = position.state
    legal = state.legal_actions()
    if len(legal) > MAX_ALTERNATIVES:
        return False
    if not position.text_name:
        return False
    known = _known(state.child(action), position.text_name, seat)
    return all(_known(state.child(one), position.text_name, seat) != known for one in legal if one != action)


def _known(state: "pyspiel.State", name: str, seat: int) -> str:
    """What a seat knows, as the game itself writes it."""
    return getattr(state, name)(seat)
