"""Blackjack: come closer to 21 than the dealer, and never above."""

# A rule takes all that the contract gives it, whether it uses it or not.
# ruff: noqa: ARG001

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ludus.envs.toy_text.blackjack_picture import blackjack_picture
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.overrides import hook
from ludus.kernels.viewed_env import ViewedRuleEnv
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Discrete, Tuple

__all__ = ["Blackjack"]

SUITS = ("C", "D", "H", "S")
FACES = ("J", "Q", "K")
WORD = 15
"""Cards in one integer, four bits each; a second one holds the rest, up to twenty-one aces and the card too many."""


class State(NamedTuple):
    """Both hands, packed; the ace counts 1 in them, all faces 10. `suit` and `face`: how the dealer's open card looks.

    Totals and aces could be counted again from the cards: keeping them spares every step two loops.
    """

    player: int
    player_rest: int
    player_count: int
    player_total: int
    player_ace: int
    dealer: int
    dealer_rest: int
    dealer_count: int
    dealer_total: int
    dealer_ace: int
    suit: int
    face: int


class Params(NamedTuple):
    """The house rules."""

    natural: bool = False
    """Whether an ace and a ten from the start win 1.5."""
    sab: bool = False
    """Whether an ace and a ten from the start win against all but the same, as in the book by Sutton and Barto."""


def reset(rng: np.random.Generator, params: Params) -> State:
    """Two cards for the dealer, two for the player, out of a deck that never ends."""
    shown, hidden = draw_card(rng), draw_card(rng)
    first, second = draw_card(rng), draw_card(rng)
    suit = int(rng.integers(4))
    face = int(rng.integers(3)) if shown == 10 else 0
    mine, theirs = 1 if first == 1 or second == 1 else 0, 1 if shown == 1 or hidden == 1 else 0
    player, dealer = first | second << 4, shown | hidden << 4
    return State(player, 0, 2, first + second, mine, dealer, 0, 2, shown + hidden, theirs, suit, face)


def draw_card(rng: np.random.Generator) -> int:
    """One of thirteen ranks, the last four worth 10."""
    return min(int(rng.integers(13)) + 1, 10)


def step(state: State, action: int, rng: np.random.Generator, params: Params) -> tuple[State, float, bool]:
    """One more card (1), or the dealer's turn and the end (0)."""
    player, player_rest, player_count, mine, player_ace = state[:5]
    dealer, dealer_rest, dealer_count, theirs, dealer_ace, suit, face = state[5:]
    if action == 1:
        card = draw_card(rng)
        player, player_rest = with_card(player, player_rest, player_count, card)
        player_count, mine, player_ace = player_count + 1, mine + card, 1 if card == 1 else player_ace
    else:
        while best(theirs, dealer_ace) < 17:
            card = draw_card(rng)
            dealer, dealer_rest = with_card(dealer, dealer_rest, dealer_count, card)
            dealer_count, theirs, dealer_ace = dealer_count + 1, theirs + card, 1 if card == 1 else dealer_ace
    hand = (player, player_rest, player_count, mine, player_ace)
    after = State(*hand, dealer, dealer_rest, dealer_count, theirs, dealer_ace, suit, face)
    if action == 1:
        return after, -1.0 if mine > 21 else 0.0, mine > 21
    return after, payout(after, params), True


def with_card(cards: int, rest: int, count: int, card: int) -> tuple[int, int]:
    """A packed hand with one card more."""
    if count < WORD:
        return cards | card << 4 * count, rest
    return cards, rest | card << 4 * (count - WORD)


def payout(state: State, params: Params) -> float:
    """What the player wins when both have their cards."""
    mine, theirs = best(state.player_total, state.player_ace), best(state.dealer_total, state.dealer_ace)
    mine, theirs = mine if mine <= 21 else 0, theirs if theirs <= 21 else 0
    won = 1.0 if mine > theirs else -1.0 if mine < theirs else 0.0
    natural = is_natural(state.player_count, state.player_total, state.player_ace)
    if params.sab:
        both = is_natural(state.dealer_count, state.dealer_total, state.dealer_ace)
        return 1.0 if natural and not both else won
    return 1.5 if params.natural and natural and won == 1.0 else won


def best(total: int, ace: int) -> int:
    """The best total of a hand: an ace counts 11 where that is not too much."""
    return total + 10 if ace == 1 and total <= 11 else total


def is_natural(count: int, total: int, ace: int) -> bool:
    """Whether a hand is an ace and a ten."""
    return count == 2 and ace == 1 and total == 11


def observe(state: State, params: Params) -> tuple[int, int, int]:
    """The player's total, the dealer's open card, and whether the player has an ace that counts 11."""
    total = best(state.player_total, state.player_ace)
    return total, state.dealer & 15, 1 if total > state.player_total else 0


class Blackjack(Drawn, ViewedRuleEnv):
    """A table with one player. Take another card (1) or stick (0); the reward is 1, 0 or -1 at the end.

    >>> env = Blackjack(sab=True)
    >>> env.reset(seed=42)
    ((15, 2, 0), {})
    >>> env.player, env.dealer
    ([9, 6], [2, 10])
    """

    rules = Rules(State, Params, reset, step, observe)
    metadata = Drawn.metadata | {
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
        """The player's cards, none before the first reset; cards that are put in or taken away count."""
        return [] if self._state is None else self._read()[0]

    @player.setter
    def player(self, value: Sequence[int]) -> None:
        self._put_hands(value, self.dealer)

    @property
    def dealer(self) -> list[int]:
        """The dealer's cards, the open one first, none before the first reset; changes count."""
        return [] if self._state is None else self._read()[1]

    @dealer.setter
    def dealer(self, value: Sequence[int]) -> None:
        self._put_hands(self.player, value)

    def _put_hands(self, player: Sequence[int], dealer: Sequence[int]) -> None:
        before = State(*[0] * len(State._fields)) if self._state is None else self._fields()
        self._state, self._needs, self.last_action = _with_hands(before, list(player), list(dealer)), "", None

    def _view_of(self, state: Iterable[int]) -> tuple[list[int], list[int]]:
        hands = State._make(state)
        player = _cards(hands.player, hands.player_rest, hands.player_count)
        return player, _cards(hands.dealer, hands.dealer_rest, hands.dealer_count)

    def _state_of(self, view: tuple[list[int], list[int]]) -> State:
        return _with_hands(State._make(self._state), *view)

    def _fields(self) -> State:
        return State._make(self._viewed_state())

    @property
    def state(self) -> State | None:
        """The rules' state; None before the first reset. Any sequence of its fields sets it."""
        return None if self._state is None else self._fields()

    @state.setter
    def state(self, value: Iterable[int] | None) -> None:
        RuleEnv.state.__set__(self, value)

    @hook
    def _get_obs(self) -> tuple[int, int, int]:
        """The observation of the hands as they are: Gymnasium's name for it."""
        return observe(self._fields(), self.params)

    def _hooked_functions(self, changed: list[str]) -> tuple[object, object, object] | None:
        return (step, self._observed, None) if "_get_obs" in changed else None

    def _observed(self, state: State, params: Params) -> tuple[int, int, int]:
        del state, params  # those of the environment, which a hook reads by itself
        return self._get_obs()

    @property
    def dealer_top_card_suit(self) -> str | None:
        """`C`, `D`, `H` or `S`; None before the first reset."""
        return None if self._state is None else SUITS[self._fields().suit]

    @dealer_top_card_suit.setter
    def dealer_top_card_suit(self, value: str) -> None:
        self._state = self._fields()._replace(suit=SUITS.index(value))

    @property
    def dealer_top_card_value_str(self) -> str | None:
        """`A`, `2` to `9`, `J`, `Q` or `K`; None before the first reset."""
        if self._state is None:
            return None
        value = self.dealer[0]
        return "A" if value == 1 else FACES[self._fields().face] if value == 10 else str(value)

    @dealer_top_card_value_str.setter
    def dealer_top_card_value_str(self, value: str) -> None:
        if value in FACES:  # the others follow from the card
            self._state = self._fields()._replace(face=FACES.index(value))

    def draw(self) -> Canvas:
        """Both hands; the dealer's second card is face down until it is their turn."""
        state, played = self._fields(), self.last_action == 0
        total, shown, ace = observe(state, self.params)
        dealer = [(self.dealer_top_card_value_str or "", SUITS[state.suit])]
        dealer += [_looks(card, place) if played else ("", "") for place, card in enumerate(self.dealer[1:], 1)]
        player = [_looks(card, place + 1) for place, card in enumerate(self.player)]
        dealt = best(state.dealer_total, state.dealer_ace) if played else shown
        return blackjack_picture(
            dealer,
            player,
            totals=("A" if dealt == 1 else str(dealt), f"{total} with an ace as 11" if ace else str(total)),
            note="bust" if total > 21 else _verdict(payout(state, self.params)) if played else "",
        )


def _cards(cards: int, rest: int, count: int) -> list[int]:
    """A packed hand, card by card."""
    return [(cards >> 4 * place if place < WORD else rest >> 4 * (place - WORD)) & 15 for place in range(count)]


def _with_hands(state: State, player: list[int], dealer: list[int]) -> State:
    """The state with other hands."""
    return State(*_packed(player), *_packed(dealer), state.suit, state.face)


def _packed(hand: list[int]) -> tuple[int, int, int, int, int]:
    """A hand as the rules keep it: packed, counted, summed, and whether it has an ace."""
    if len(hand) > 2 * WORD or not all(1 <= card <= 10 for card in hand):
        raise InvalidArgument(f"hand: expected at most {2 * WORD} cards from 1 to 10, got {shorten(hand)}")
    cards = rest = 0
    for place, card in enumerate(hand):
        cards, rest = with_card(cards, rest, place, int(card))
    return cards, rest, len(hand), int(sum(hand)), int(1 in hand)


def _looks(card: int, place: int) -> tuple[str, str]:
    """Rank and suit of a card that has only a worth: any will do, if it stays the same."""
    rank = "A" if card == 1 else ("10", *FACES)[place % 4] if card == 10 else str(card)
    return rank, SUITS[(card + place) % 4]


def _verdict(won: float) -> str:
    return "the player wins" if won > 0 else "the dealer wins" if won < 0 else "a draw"
