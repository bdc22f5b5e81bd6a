"""Blackjack as a table: the hand of each, with the dealer's hidden card face down."""

import re

from ludus.rendering import Canvas

__all__ = ["blackjack_picture"]

HAND = re.compile(r"^(Player \d+|Dealer): Cards:((?: (?:[CDHS][2-9TJQKA]|\?\?))*) *$", re.MULTILINE)
CARD_WIDTH, CARD_HEIGHT, GAP = 62, 88, 10
LEFT, ROW_HEIGHT = 100, 112
MOST_CARDS = 11
"""Of one hand: four aces, four twos and three threes are 21."""
RED, BLACK = "#c92a2a", "#212529"
HEART = [(-11.0, -1.0), (11.0, -1.0), (0.0, 14.0)]
SPADE = [(-11.0, 3.0), (11.0, 3.0), (0.0, -13.0)]
DIAMOND = [(0.0, -14.0), (10.0, 0.0), (0.0, 14.0), (-10.0, 0.0)]
STEM = [(0.0, 2.0), (5.0, 14.0), (-5.0, 14.0)]
Points = list[tuple[float, float]]
SUITS: dict[str, tuple[str, list[Points], Points]] = {
    "H": (RED, [HEART], [(-5.5, -4.0), (5.5, -4.0)]),
    "D": (RED, [DIAMOND], []),
    "S": (BLACK, [SPADE, STEM], [(-5.5, 4.0), (5.5, 4.0)]),
    "C": (BLACK, [STEM], [(-6.0, 3.0), (6.0, 3.0), (0.0, -6.0)]),
}
"""Color, outlines, and middles of circles, around the middle of the sign."""


def blackjack_picture(text: str) -> Canvas | None:
    """The table that the game's text tells of; None where it tells of none."""
    hands = [(name, cards.split()) for name, cards in HAND.findall(text)]
    if not hands:
        return None
    most = max(5, *(len(cards) for _, cards in hands))
    width = LEFT + min(most, MOST_CARDS) * (CARD_WIDTH + GAP) + GAP
    canvas = Canvas(width, len(hands) * ROW_HEIGHT + GAP, background="#1d6b41")
    for row, (name, cards) in enumerate(reversed(hands)):  # one's own hand is below
        y = GAP + row * ROW_HEIGHT
        canvas.text(14, y + CARD_HEIGHT / 2, name, size=17, color="white", anchor="left")
        for place, card in enumerate(cards[:MOST_CARDS]):
            _card(canvas, LEFT + place * (CARD_WIDTH + GAP), y, card)
    return canvas


def _card(canvas: Canvas, x: float, y: float, card: str) -> None:
    hidden = card == "??"
    canvas.rectangle(x, y, CARD_WIDTH, CARD_HEIGHT, radius=7, fill="#364fc7" if hidden else "#fdfdf8")
    if hidden:
        canvas.rectangle(x + 6, y + 6, CARD_WIDTH - 12, CARD_HEIGHT - 12, radius=4, stroke="#bac8ff", stroke_width=2)
        return
    color, outlines, circles = SUITS[card[0]]
    rank = card[1].replace("T", "10")
    canvas.text(x + CARD_WIDTH / 2, y + 24, rank, size=26, color=color, anchor="center", bold=True)
    middle = (x + CARD_WIDTH / 2, y + 60)
    for points in outlines:
        canvas.polygon([(middle[0] + dx, middle[1] + dy) for dx, dy in points], fill=color)
    for dx, dy in circles:
        canvas.circle(middle[0] + dx, middle[1] + dy, 6.5, fill=color)
