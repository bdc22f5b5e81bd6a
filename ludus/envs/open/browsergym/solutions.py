"""Solutions of MiniWoB++ tasks: each reads what an agent reads, and answers with an action of its language."""

import re
from collections.abc import Callable

from ludus.envs.open.browsergym.browsergym import BrowserGymObservation
from ludus.envs.open.browsergym.tree import elements

__all__ = ["SOLUTIONS", "solve"]

WIDGETS = {"text": "textbox", "textarea": "textbox", "button": "button", "radio": "radio", "checkbox": "checkbox"}


class Page:
    """An observation, as a solver asks it."""

    def __init__(self, observation: BrowserGymObservation) -> None:
        self.goal, self.tree = observation.goal, observation.axtree_txt
        self.elements = elements(observation.axtree_txt)

    def bids(self, *roles: str) -> list[str]:
        return [one.bid for one in self.elements if one.role in roles]

    def named(self, name: str, *roles: str) -> str:
        matching = [one for one in self.elements if one.name == name and (not roles or one.role in roles)]
        return matching[0].bid if matching else "0"

    def quoted(self) -> list[str]:
        return re.findall(r'"([^"]*)"', self.goal)

    def submit(self) -> str:
        return f"click('{self.named('Submit', 'button')}')"


Solution = Callable[[Page], str]


def click_only(page: Page) -> str:
    return f"click('{page.bids('button')[0]}')"


def click_named(page: Page) -> str:
    names = page.quoted() or re.findall(r"button (\w+)", page.goal)
    return f"click('{page.named(names[0])}')"


def click_dialog(page: Page) -> str:
    name = page.quoted()[0]
    return f"click('{page.named('Close' if name == 'x' else name, 'button')}')"


def click_sequence(page: Page) -> str:
    return f"click('{page.named('ONE')}')\nclick('{page.named('TWO')}')"


def click_delayed(page: Page) -> str:
    seconds = re.findall(r"wait (\d+)", page.goal)[0]
    return f"click('{page.named('ONE')}')\nnoop({int(seconds) * 1000 - 500})\nclick('{page.named('TWO')}')"


def _selected(page: Page) -> list[str]:
    inner = re.findall(r"Select (.*?) (?:and click|from the)", page.goal)[0]
    return [] if inner == "nothing" else inner.split(", ")


def click_options(page: Page) -> str:
    clicks = [f"click('{page.named(name, 'radio', 'checkbox')}')" for name in _selected(page)]
    return "\n".join([*clicks, page.submit()])


def choose_from_list(page: Page) -> str:
    return f"select_option('{page.bids('combobox', 'listbox')[0]}', {_selected(page)!r})\n{page.submit()}"


def _typed(page: Page, *texts: str) -> str:
    fields = page.bids("textbox", "Date", "InputTime", "spinbutton")
    fills = [f"fill('{bid}', {text!r})" for bid, text in zip(fields, texts, strict=False)]
    return "\n".join([*fills, page.submit()])


def enter_text(page: Page) -> str:
    return _typed(page, page.quoted()[0])


def enter_case(page: Page) -> str:
    word = page.quoted()[0]
    return _typed(page, word.lower() if "lower case" in page.goal else word.upper())


def enter_password(page: Page) -> str:
    return _typed(page, *page.quoted()[:1] * 2)


def login(page: Page) -> str:
    user, password = page.quoted()[:2]
    first, second = page.bids("textbox")[:2]
    return f"fill('{first}', {user!r})\nfill('{second}', {password!r})\nclick('{page.named('Login', 'button')}')"


def focus_only(page: Page) -> str:
    return f"focus('{page.bids('textbox')[0]}')"


def focus_nth(page: Page) -> str:
    number = int(re.findall(r"(\d)", page.goal)[0])
    return f"click('{page.bids('textbox')[number - 1]}')"


def click_tab(page: Page) -> str:
    [tab] = re.findall(r"Tab #\d", page.goal)
    return f"click('{page.named(tab, 'link')}')"


def collapsible(page: Page) -> str:
    closed = [one.bid for one in page.elements if one.role == "tab" and "expanded='false'" in one.states]
    tabs = page.bids("tab")
    return f"click('{tabs[0]}')" if tabs[0] in closed else page.submit()


def arithmetic(page: Page) -> str:
    left, sign, right = re.findall(r"'(-?\d+) ([-+x*/]) (-?\d+) ='", page.tree)[0]
    return _typed(page, str(_result(int(left), sign, int(right))))


def _result(left: int, sign: str, right: int) -> int:
    return {"+": left + right, "-": left - right}.get(sign, left * right)


def algebra(page: Page) -> str:
    left, sign, right, total = re.findall(r"'(x|\d+) ([-+]) (x|\d+) = (-?\d+)'", page.tree)[0]
    if sign == "+":
        return _typed(page, str(int(total) - int(right if left == "x" else left)))
    return _typed(page, str(int(total) + int(right) if left == "x" else int(left) - int(total)))


def enter_date(page: Page) -> str:
    month, day, year = re.findall(r"(\d+)/(\d+)/(\d+)", page.goal)[0]
    return _typed(page, f"{year}-{month}-{day}")


def enter_time(page: Page) -> str:
    hour, minute, half = re.findall(r"(\d+):(\d+) (AM|PM)", page.goal)[0]
    return _typed(page, f"{int(hour) % 12 + (12 if half == 'PM' else 0):02d}:{minute}")


def read_table(page: Page) -> str:
    label = re.findall(r"value of (.*?) into", page.goal)[0]
    cells = [one.name for one in page.elements if one.role == "gridcell"]
    return _typed(page, cells[cells.index(label) + 1])


def find_word(page: Page) -> str:
    words = re.findall(r"StaticText '(.*)'", page.tree)[-1].split()
    return _typed(page, words[int(re.findall(r"(\d+)\w\w word", page.goal)[0]) - 1].strip(".,"))


def widget(page: Page) -> str:
    kind = page.quoted()[0]
    long = kind == "textarea"
    fitting = [one for one in page.elements if one.role == WIDGETS[kind] and ("multiline" in one.states) is long]
    return f"click('{fitting[0].bid}')"


def copy_text(page: Page) -> str:
    [first] = [one.bid for one in page.elements if "multiline" in one.states]
    [second] = [one.bid for one in page.elements if one.role == "textbox" and "multiline" not in one.states]
    return (
        f"press('{first}', 'Control+a')\nkeyboard_press('Control+c')\nfocus('{second}')\n"
        f"keyboard_press('Control+v')\n{page.submit()}"
    )


def spin(page: Page) -> str:
    return _typed(page, re.findall(r"Select (-?\d+)", page.goal)[0])


SOLUTIONS: dict[str, Solution] = {
    "click-test": click_only,
    "click-test-2": click_named,
    "click-test-transfer": click_named,
    "click-button": click_named,
    "click-button-sequence": click_sequence,
    "button-delay": click_delayed,
    "click-link": click_named,
    "click-dialog": click_dialog,
    "click-dialog-2": click_dialog,
    "click-option": click_options,
    "click-checkboxes": click_options,
    "click-checkboxes-large": click_options,
    "click-checkboxes-transfer": click_options,
    "choose-list": choose_from_list,
    "click-scroll-list": choose_from_list,
    "enter-text": enter_text,
    "enter-text-dynamic": enter_text,
    "enter-text-2": enter_case,
    "enter-password": enter_password,
    "login-user": login,
    "focus-text": focus_only,
    "focus-text-2": focus_nth,
    "click-tab": click_tab,
    "click-collapsible": collapsible,
    "click-collapsible-nodelay": collapsible,
    "simple-arithmetic": arithmetic,
    "simple-algebra": algebra,
    "enter-date": enter_date,
    "enter-time": enter_time,
    "read-table": read_table,
    "find-word": find_word,
    "click-widget": widget,
    "copy-paste": copy_text,
    "use-spinner": spin,
}
"""By task: what to do, given a page."""


def solve(task: str, observation: BrowserGymObservation) -> str:
    """The next action for a task; noop where there is no solution."""
    solution = SOLUTIONS.get(task)
    return "noop()" if solution is None else solution(Page(observation))
