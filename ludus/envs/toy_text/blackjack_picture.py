"""The picture of Blackjack: a table with the dealer's hand above and the player's below."""

from ludus.envs.toy_text.playing_card import WIDTH as CARD_WIDTH
from ludus.envs.toy_text.playing_card import draw_back, draw_card
from ludus.rendering import Canvas

__all__ = ["blackjack_picture"]

WIDTH, HEIGHT = 480, 420
FELT, LINE, CHALK, PALE = "#2f7d57", "#3f9169", "#f4f7f2", "#bfe0cd"
Card = tuple[str, str]


def blackjack_picture(dealer: list[Card], player: list[Card], *, totals: tuple[str, str], note: str) -> Canvas:
    """Cards as (rank, suit), an empty rank for a card face down; `totals` of the dealer and the player as text."""
    canvas = Canvas(WIDTH, HEIGHT, background=FELT)
    canvas.rectangle(14, 14, WIDTH - 28, HEIGHT - 28, radius=28, stroke=LINE, stroke_width=4)
    for title, total, hand, top in (("Dealer", totals[0], dealer, 36), ("Player", totals[1], player, 228)):
        canvas.text(40, top, title, size=20, color=PALE)
        canvas.text(WIDTH - 40, top, total, size=26, color=CHALK, anchor="top right", bold=True)
        _draw_hand(canvas, hand, top + 32)
    if note:
        canvas.text(WIDTH / 2, 205, note, size=18, color="#ffe28a", anchor="center", bold=True)
    return canvas


def _draw_hand(canvas: Canvas, hand: list[Card], top: float) -> None:
    """Side by side, and overlapping once they are many."""
    gap = min(CARD_WIDTH + 12, (WIDTH - 80 - CARD_WIDTH) / max(len(hand) - 1, 1))
    for place, (rank, suit) in enumerate(hand):
        with canvas.transform(translate=(40 + place * gap, top)):
            if rank:
                draw_card(canvas, rank, suit)
            else:
                draw_back(canvas)
