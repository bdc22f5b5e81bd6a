"""Choices: what a person does in the picture of a page: click what is under the pointer, fill in fields, press keys."""

from collections.abc import Sequence

from ludus.envs.open.browsergym.picture import BAR
from ludus.envs.open.browsergym.tab import ElementBox
from ludus.envs.open.browsergym.tree import Element, elements
from ludus.rendering import Choice, choice
from ludus.rendering.choices import Place

__all__ = ["page_choices"]

WRITTEN = {"textbox", "searchbox", "spinbutton", "Date", "InputTime", "DateTime", "ColorWell"}
"""Roles whose elements one fills in."""
CHOSEN = {"combobox", "listbox"}
KEYS = ("Enter", "Tab", "Escape", "Backspace")


def page_choices(tree: str, boxes: Sequence[ElementBox], size: tuple[int, int]) -> list[Choice]:
    r"""Every element with a box in view, any point of the page, a few keys, and a line for any other action.

    >>> [one["label"] for one in page_choices("\t[4] button 'OK'", [ElementBox("4", 10, 10, 80, 20)], (160, 210))][:2]
    ["button 'OK'", 'click here']
    """
    known = {one.bid: one for one in elements(tree)}
    found = [_element(known[box.bid], box, size) for box in boxes if box.bid in known and _seen(box, size)]
    whole = size[1] + BAR
    anywhere = [0.0, BAR / whole, 1.0, size[1] / whole]
    return [
        *found,
        _call("click here", "mouse_click({x}, {y})", places=[anywhere], pixels=size),
        _call("Do", "{text}", ask="An action, as click('12'), or what to type: keyboard_type('…')"),
        *(_call(key, f"keyboard_press('{key}')") for key in KEYS),
        _call("scroll down", "scroll(0, 200)"),
        _call("scroll up", "scroll(0, -200)"),
        _call("back", "go_back()"),
        _call("wait", "noop()"),
    ]


def _call(label: str, text: str, *, places: Sequence[Place] = (), ask: str = "", pixels: Sequence[int] = ()) -> Choice:
    return choice(label, {"action_str": text}, places=places, ask=ask, pixels=pixels)


def _seen(box: ElementBox, size: tuple[int, int]) -> bool:
    _, x, y, wide, high = box
    return wide > 0 and high > 0 and x < size[0] and y < size[1] and x + wide > 0 and y + high > 0


def _element(one: Element, box: ElementBox, size: tuple[int, int]) -> Choice:
    _, x, y, wide, high = box
    width, height = size
    place = [x / width, (y + BAR) / (height + BAR), wide / width, high / (height + BAR)]
    label = f"{one.role} {one.name!r}"
    if one.role in WRITTEN:
        return _call("Fill in", f"fill('{one.bid}', {{quoted}})", places=[place], ask=f"What to write into {label}")
    if one.role in CHOSEN:
        return _call("Choose", f"select_option('{one.bid}', {{quoted}})", places=[place], ask=f"Which of {label}")
    return _call(label, f"click('{one.bid}')", places=[place])
