"""Blackjack: come closer to 21 than the dealer, and never above."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludus.envs.toy_text.blackjack_picture import blackjack_picture
from ludus.kernels import RuleEnv, Rules
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Discrete, Tuple

__all__ = ["Blackjack"]

MOST_CARDS = 22  # twenty-one aces, and the card that is too much
SUITS = ("C", "D", "H", "S")
FACES = ("J", "Q", "K")
Cards = NDArray[np.int8]


class State(NamedTuple):
    """Both hands; the ace counts 1 in them, all faces 10. `suit` and `face` are how the dealer's open card looks."""

    player: Cards
    player_count: int
    dealer: Cards
    dealer_count: int
    suit: int
    face: int


class Params(NamedTuple):
    """The house rules."""

    natural: bool = False
    """Whether an ace and a ten from the start win 1.5."""
    sab: bool = False
    """Whether an ace and a ten from the start win against all but the same, as in the book by Sutton and Barto."""


def reset(rng: Any, params: Params) -> State:
    """Two cards for the dealer, two for the player, out of a deck that never ends."""
    dealer, player = np.zeros(MOST_CARDS, dtype=np.int8), np.zeros(MOST_CARDS, dtype=np.int8)
    dealer[0], dealer[1] = draw_card(rng), draw_card(rng)
    player[0], player[1] = draw_card(rng), draw_card(rng)
    suit = int(rng.integers(4))
    face = int(rng.integers(3)) if dealer[0] == 10 else 0
    return State(player, 2, dealer, 2, suit, face)


def draw_card(rng: Any) -> int:
    """One of thirteen ranks, the last four worth 10."""
    return min(int(rng.integers(13)) + 1, 10)


def step(state: State, action: int, rng: Any, params: Params) -> tuple[State, float, bool]:
    """One more card (1), or the dealer's turn and the end (0)."""
    player, player_count, dealer, dealer_count, suit, face = state
    if action == 1:
        player = player.copy()
        player[player_count] = draw_card(rng)
        player_count += 1
        bust = worth(player, player_count)[0] > 21
        return State(player, player_count, dealer, dealer_count, suit, face), -1.0 if bust else 0.0, bust
    dealer = dealer.copy()
    while worth(dealer, dealer_count)[0] < 17:
        dealer[dealer_count] = draw_card(rng)
        dealer_count += 1
    state = State(player, player_count, dealer, dealer_count, suit, face)
    return state, payout(state, params), True


def payout(state: State, params: Params) -> float:
    """What the player wins when both have their cards."""
    mine, theirs = worth(state.player, state.player_count)[0], worth(state.dealer, state.dealer_count)[0]
    mine, theirs = mine if mine <= 21 else 0, theirs if theirs <= 21 else 0
    won = 1.0 if mine > theirs else -1.0 if mine < theirs else 0.0
    natural = is_natural(state.player, state.player_count)
    if params.sab:
        return 1.0 if natural and not is_natural(state.dealer, state.dealer_count) else won
    return 1.5 if params.natural and natural and won == 1.0 else won


def worth(cards: Cards, count: int) -> tuple[int, int]:
    """The best total of a hand, and whether (1) or not (0) an ace counts 11 in it."""
    total, ace = 0, 0
    for place in range(count):
        card = int(cards[place])
        total += card
        if card == 1:
            ace = 1
    if ace == 1 and total + 10 <= 21:
        return total + 10, 1
    return total, 0


def is_natural(cards: Cards, count: int) -> bool:
    """Whether a hand is an ace and a ten."""
    return count == 2 and min(cards[0], cards[1]) == 1 and max(cards[0], cards[1]) == 10


def observe(state: State, params: Params) -> tuple[int, int, int]:
    """The player's total, the dealer's open card, and whether the player has an ace that counts 11."""
    total, ace = worth(state.player, state.player_count)
    return total, int(state.dealer[0]), ace


class Blackjack(Drawn, RuleEnv):
    """A table with one player. Take another card (1) or stick (0); the reward is 1, 0 or -1 at the end.

    >>> env = Blackjack(sab=True)
    >>> env.reset(seed=42)
    ((15, 2, 0), {})
    >>> env.player, env.dealer
    ([9, 6], [2, 10])
    """

    rules = Rules(State, Params, reset, step, observe)
    metadata = {  # noqa: RUF012
        "render_modes": ["human", "rgb_array", "ansi", "svg"],
        "render_fps": 4,
        "action_names": ["stick", "hit"],
        "keys_to_action": {"s": 0, "h": 1},
    }

    def __init__(self, render_mode: str | None = None, natural: bool = False, sab: bool = False) -> None:
        self.observation_space = Tuple((Discrete(32), Discrete(11), Discrete(2)))
        self.action_space = Discrete(2)
        super().__init__(render_mode=render_mode, natural=natural, sab=sab)

    @property
    def player(self) -> list[int]:
        """The player's cards; none before the first reset."""
        return [] if self._state is None else self._state.player[: self._state.player_count].tolist()

    @property
    def dealer(self) -> list[int]:
        """The dealer's cards, the open one first; none before the first reset."""
        return [] if self._state is None else self._state.dealer[: self._state.dealer_count].tolist()

    @property
    def dealer_top_card_suit(self) -> str | None:
        """`C`, `D`, `H` or `S`; None before the first reset."""
        return None if self._state is None else SUITS[self._state.suit]

    @property
    def dealer_top_card_value_str(self) -> str | None:
        """`A`, `2` to `9`, `J`, `Q` or `K`; None before the first reset."""
        if self._state is None:
            return None
        value = self.dealer[0]
        return "A" if value == 1 else FACES[self._state.face] if value == 10 else str(value)

    def draw(self) -> Canvas:
        """Both hands; the dealer's second card is face down until it is their turn."""
        state, played = self.state, self.last_action == 0
        total, shown, ace = observe(state, self.params)
        dealer = [(self.dealer_top_card_value_str or "", SUITS[state.suit])]
        dealer += [_looks(card, place) if played else ("", "") for place, card in enumerate(self.dealer[1:], 1)]
        player = [_looks(card, place + 1) for place, card in enumerate(self.player)]
        dealt = worth(state.dealer, state.dealer_count)[0] if played else shown
        return blackjack_picture(
            dealer,
            player,
            totals=("A" if dealt == 1 else str(dealt), f"{total} with an ace as 11" if ace else str(total)),
            note="bust" if total > 21 else _verdict(payout(state, self.params)) if played else "",
        )


def _looks(card: int, place: int) -> tuple[str, str]:
    """Rank and suit of a card that has only a worth: any will do, if it stays the same."""
    rank = "A" if card == 1 else ("10", *FACES)[place % 4] if card == 10 else str(card)
    return rank, SUITS[(card + place) % 4]


def _verdict(won: float) -> str:
    return "the player wins" if won > 0 else "the dealer wins" if won < 0 else "a draw"
