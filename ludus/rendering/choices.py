"""`Choice`: something that a person may do now: what it is called, where one clicks for it, what one has to write."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

__all__ = ["Choice", "Place", "choice"]

Place = Sequence[float]
"""A part of a picture: left, top, width and height, in fractions of its sides."""


class Choice(TypedDict):
    """One entry of what an environment's `get_choices()` gives; data, so that it travels as it is.

    >>> Choice(label="stand", action={"action_id": 1})
    {'label': 'stand', 'action': {'action_id': 1}}
    """

    label: str
    action: object
    """As JSON has it; in its texts `{text}` is what was written, `{quoted}` the same as a literal, `{x}` and `{y}`
    where the last place was clicked."""
    places: NotRequired[list[list[float]]]
    ask: NotRequired[str]
    lines: NotRequired[int]
    pixels: NotRequired[list[int]]


def choice(
    label: str,
    action: object,
    *,
    places: Sequence[Place] = (),
    ask: str = "",
    lines: int = 1,
    pixels: Sequence[int] = (),
) -> Choice:
    """A choice, without what it does not need.

    One with places is made by clicking them one after another, as a piece and where it goes. `ask` says what there is
    to write, in so many `lines`. `pixels` are the width and height of the last place, for `{x}` and `{y}`.

    >>> choice("e2e4", {"action_id": 7}, places=[(0.5, 0.75, 0.125, 0.125), (0.5, 0.5, 0.125, 0.125)])["label"]
    'e2e4'
    >>> choice("Say", {"message": "{text}"}, ask="What to say")
    {'label': 'Say', 'action': {'message': '{text}'}, 'ask': 'What to say'}
    """
    made = Choice(label=label, action=action)
    if places:
        made["places"] = [[float(one) for one in place] for place in places]
    if ask:
        made["ask"] = ask
    if lines > 1:
        made["lines"] = lines
    if pixels:
        made["pixels"] = [int(one) for one in pixels]
    return made
