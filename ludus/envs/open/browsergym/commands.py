"""`Commands`: what each call of the action language does in a browser, with events as a person's hand makes them."""

from urllib.parse import urljoin

from ludus.envs.open.browsergym.actions import ActionCall
from ludus.envs.open.browsergym.context import Context
from ludus.envs.open.browsergym.devtools import Reply
from ludus.envs.open.browsergym.keyboard import is_combination, key_event, modifier_bits, split_combination
from ludus.envs.open.browsergym.tab import PageError, PageView, Tab
from ludus.errors import shorten

__all__ = ["ACTION_MS", "Commands"]

ACTION_MS = 500
"""Milliseconds of the page's time that a call takes."""
LONGEST_WAIT_MS = 60_000
BUTTONS = ("left", "middle", "right")
BITS = {"left": 1, "right": 2, "middle": 4}
DRAG_STEPS = 6
WAITS = {"noop"}


class Commands:
    """The calls of one episode. `messages` are what the agent said, `infeasible` why it gave up."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.messages: list[str] = []
        self.infeasible: str | None = None
        self._clipboard = ""
        self._held: list[str] = []

    @property
    def tab(self) -> Tab:
        """Where actions go."""
        return self.context.tab

    def run(self, call: ActionCall, look: str = "null") -> PageView | None:
        """Do what a call asks for, wait until the page is quiet, and look, as `Context.settle` does.

        PageError where it cannot be done.
        """
        arguments = call.arguments
        if call.name in ("upload_file", "mouse_upload_file"):
            raise PageError(f"{call.name}: files cannot be uploaded here: an episode sees none of this machine")
        if call.name == "noop":
            wait = min(max(0.0, float(str(arguments["wait_ms"]))), LONGEST_WAIT_MS)
            return self.context.settle(wait, look)
        if "bid" in arguments:
            arguments = {**arguments, "bid": (call.how, str(arguments["bid"]))}
        getattr(self, f"_{call.name}")(**arguments)
        return self.context.settle(ACTION_MS, look)

    # --- elements ---

    def _click(self, bid: tuple[str, str], button: str, modifiers: list[str], count: int = 1) -> None:
        x, y = self.tab.ask("locate", *bid, True)
        self._press_at(x, y, button, modifier_bits(modifiers), count)

    def _dblclick(self, bid: tuple[str, str], button: str, modifiers: list[str]) -> None:
        self._click(bid, button, modifiers, 2)

    def _hover(self, bid: tuple[str, str]) -> None:
        x, y = self.tab.ask("locate", *bid, False)
        self._mouse_move(x, y)

    def _fill(self, bid: tuple[str, str], value: str, enable_autocomplete_menu: bool = False) -> None:
        if enable_autocomplete_menu:
            self.tab.ask("fill", *bid, "")
            self._keyboard_type(value)
            return
        self.tab.ask("fill", *bid, value)

    def _clear(self, bid: tuple[str, str]) -> None:
        self.tab.ask("fill", *bid, "")

    def _focus(self, bid: tuple[str, str]) -> None:
        self.tab.ask("focus", *bid)

    def _press(self, bid: tuple[str, str], key_comb: str) -> None:
        self.tab.ask("focus", *bid)
        self._keyboard_press(key_comb)

    def _check(self, bid: tuple[str, str], wanted: bool = True) -> None:
        if self.tab.ask("checked", *bid) is not wanted:
            self._click(bid, "left", [])

    def _uncheck(self, bid: tuple[str, str]) -> None:
        self._check(bid, False)

    def _select_option(self, bid: tuple[str, str], options: str | list[str]) -> None:
        self.tab.ask("select", *bid, [options] if isinstance(options, str) else options)

    def _drag_and_drop(self, from_bid: str, to_bid: str) -> None:
        begin = self.tab.ask("locate", "plain", str(from_bid), True)
        end = self.tab.ask("locate", "plain", str(to_bid), False)
        self._mouse_drag_and_drop(*begin, *end)

    def _scroll(self, delta_x: float, delta_y: float) -> None:
        self.tab.ask("scroll", delta_x, delta_y)

    # --- mouse ---

    def _mouse(self, kind: str, x: float, y: float, **more: object) -> Reply:
        return self.tab.post("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def _press_at(self, x: float, y: float, button: str, modifiers: int = 0, count: int = 1) -> None:
        if button not in BUTTONS:
            raise PageError(f"expected a button of {', '.join(BUTTONS)}, got {shorten(button, 40)}")
        replies = [self._mouse("mouseMoved", x, y, modifiers=modifiers)]
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                bits = BITS[button] if kind == "mousePressed" else 0
                more = {"button": button, "buttons": bits, "clickCount": number, "modifiers": modifiers}
                replies.append(self._mouse(kind, x, y, **more))
        self._answered(replies)

    def _answered(self, replies: list[Reply]) -> None:
        for reply in replies:
            reply.result(self.tab.settings.seconds)

    def _mouse_move(self, x: float, y: float) -> None:
        self._answered([self._mouse("mouseMoved", x, y)])

    def _mouse_down(self, x: float, y: float, button: str) -> None:
        self._one_of(button)
        self._answered([self._mouse("mousePressed", x, y, button=button, buttons=BITS[button], clickCount=1)])

    def _mouse_up(self, x: float, y: float, button: str) -> None:
        self._one_of(button)
        moved = self._mouse("mouseMoved", x, y, button=button, buttons=BITS[button])
        self._answered([moved, self._mouse("mouseReleased", x, y, button=button, clickCount=1)])

    def _one_of(self, button: str) -> None:
        if button not in BUTTONS:
            raise PageError(f"expected a button of {', '.join(BUTTONS)}, got {shorten(button, 40)}")

    def _mouse_click(self, x: float, y: float, button: str) -> None:
        self._press_at(x, y, button)

    def _mouse_dblclick(self, x: float, y: float, button: str) -> None:
        self._press_at(x, y, button, count=2)

    def _mouse_drag_and_drop(self, from_x: float, from_y: float, to_x: float, to_y: float) -> None:
        replies = [self._mouse("mouseMoved", from_x, from_y)]
        replies.append(self._mouse("mousePressed", from_x, from_y, button="left", buttons=1, clickCount=1))
        for number in range(1, DRAG_STEPS + 1):
            part = number / DRAG_STEPS
            x, y = from_x + (to_x - from_x) * part, from_y + (to_y - from_y) * part
            replies.append(self._mouse("mouseMoved", x, y, button="left", buttons=1))
            self._answered(replies)
            replies = []
        self._answered([self._mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)])

    # --- keyboard ---

    def _key(self, key: str, *, down: bool, modifiers: int) -> Reply:
        return self.tab.post("Input.dispatchKeyEvent", key_event(key, down=down, modifiers=modifiers))

    def _keyboard_press(self, key: str) -> None:
        *held, last = split_combination(key)
        if held in (["Control"], ["Meta"]) and last.lower() in "cvx":
            self._edit(last.lower())
            return
        bits = modifier_bits(self._held)
        replies: list[Reply] = []
        for one in held:
            bits |= modifier_bits([one])
            replies.append(self._key(one, down=True, modifiers=bits))
        replies += [self._key(last, down=down, modifiers=bits) for down in (True, False)]
        for one in reversed(held):
            bits &= ~modifier_bits([one])
            replies.append(self._key(one, down=False, modifiers=bits))
        self._answered(replies)

    def _edit(self, letter: str) -> None:
        """Copy, cut and paste by a clipboard of this episode: the browser's own is one for all its contexts."""
        if letter == "v":
            self._keyboard_insert_text(self._clipboard)
        else:
            self._clipboard = str(self.tab.ask("selected", letter == "x")) or self._clipboard

    def _keyboard_down(self, key: str) -> None:
        [name] = split_combination(key)[-1:]
        if name in ("Alt", "Control", "Meta", "Shift") and name not in self._held:
            self._held.append(name)
        self._answered([self._key(name, down=True, modifiers=modifier_bits(self._held))])

    def _keyboard_up(self, key: str) -> None:
        [name] = split_combination(key)[-1:]
        self._held = [one for one in self._held if one != name]
        self._answered([self._key(name, down=False, modifiers=modifier_bits(self._held))])

    def _keyboard_type(self, text: str) -> None:
        replies: list[Reply] = []
        for sign in text:
            if sign.isascii() and (sign.isprintable() or sign in "\n\t"):
                name = {"\n": "Enter", "\t": "Tab", " ": "Space"}.get(sign, sign)
                replies += [self._key(name, down=down, modifiers=0) for down in (True, False)]
            else:
                replies.append(self.tab.post("Input.insertText", {"text": sign}))
        self._answered(replies)

    def _keyboard_insert_text(self, text: str) -> None:
        self.tab.call("Input.insertText", {"text": text})

    def _send_keys(self, text: str) -> None:
        if is_combination(text):
            self._keyboard_press(text)
        else:
            self._keyboard_type(text)

    # --- pages ---

    def _goto(self, url: str) -> None:
        address = urljoin(self.tab.evaluate("location.href"), url.strip())
        if not address.startswith(("http://", "https://", "about:blank")):
            raise PageError(f"goto: expected an address that begins with http, got {shorten(url, 100)}")
        self.tab.navigate(address)

    def _go_back(self) -> None:
        self.tab.history(-1)

    def _go_forward(self) -> None:
        self.tab.history(1)

    def _new_tab(self) -> None:
        self.context.new_tab()

    def _tab_close(self) -> None:
        self.context.close_tab()

    def _tab_focus(self, index: int) -> None:
        self.context.focus_tab(index)

    # --- the user ---

    def _send_msg_to_user(self, text: str) -> None:
        self.messages.append(text)

    def _report_infeasible(self, reason: str) -> None:
        self.infeasible = reason
