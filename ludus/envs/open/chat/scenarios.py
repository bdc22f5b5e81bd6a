"""Users who want something: scripted, drawn from a seed, and silent about what nobody asked."""

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

__all__ = ["SCENARIOS", "Act", "Scenario", "User", "act_in"]

# Blanks before it are of its line alone, and none are given back: empty lines in plenty take linear time.
ACT = re.compile(r"^[^\S\n]*+ACT\s++(\w++)\s*+(.*)$", re.MULTILINE)
LETTER = re.compile("[a-z]")
NAMES = ("Ines Vidal", "Omar Haddad", "Lena Fischer", "Tomas Novak", "Mei Tanaka", "Ruth Cohen", "Jonas Berg")
STREETS = ("Elm Street", "Harbour Road", "Mill Lane", "Station Square", "Linden Avenue")
CITIES = ("Porto", "Graz", "Leeds", "Turku", "Bergen", "Ghent")


@dataclass(frozen=True)
class Slot:
    """Something that the user knows: how to ask for it, and what it may be."""

    cues: tuple[str, ...]
    """Beginnings of words, one of which is in a question for it."""
    values: tuple[str, ...]
    says: str = "{}"

    @cached_property
    def question(self) -> re.Pattern[str]:
        """What finds them in small letters."""
        return re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, self.cues))})")


@dataclass(frozen=True)
class Scenario:
    """A goal of a user and the policy of the house."""

    name: str
    act: str
    opening: str
    policy: str
    slots: dict[str, Slot]
    refusal: tuple[str, frozenset[str]] | None = None
    """A slot, and values with which the policy forbids the act: then `ACT refuse` is right."""

    @cached_property
    def blanks(self) -> str:
        """What an act has to fill in."""
        return "; ".join(f"{name}=…" for name in self.slots)


@dataclass
class Act:
    """What an agent does in the end."""

    name: str
    values: dict[str, str] = field(default_factory=dict[str, str])


def act_in(text: str) -> Act | None:
    r"""The last act of a message, or None.

    >>> act_in("Very well.\nACT book time=19:00; people=4")
    Act(name='book', values={'time': '19:00', 'people': '4'})
    """
    found = ACT.findall(text[-20_000:]) if "ACT" in text else []
    if not found:
        return None
    name, rest = found[-1]
    pairs = (part.split("=", 1) for part in rest.split(";") if "=" in part)
    return Act(name.lower(), {key.strip().lower(): value.strip() for key, value in pairs})


def _numbers(low: int, high: int) -> tuple[str, ...]:
    return tuple(map(str, range(low, high)))


HOURS = tuple(f"{hour}:{minute}" for hour in range(17, 22) for minute in ("00", "30"))
NAME = Slot(("name", "who"), NAMES, "My name is {}.")
SCENARIOS = {
    one.name: one
    for one in (
        Scenario(
            "book_table", "book", "Hello, I would like to book a table.", "We are open from 17:00 to 22:00.",
            {"name": NAME, "time": Slot(("time", "when", "hour"), HOURS),
             "people": Slot(("people", "many", "guests"), _numbers(2, 9), "We are {}.")},
        ),
        Scenario(
            "order_pizza", "order", "Hi! I want to order a pizza.", "One pizza an order.",
            {"size": Slot(("size", "large", "big"), ("small", "medium", "large")),
             "topping": Slot(("topping", "kind", "which"), ("mushroom", "olive", "pepper", "spinach")),
             "allergy": Slot(("allerg", "diet", "avoid"), ("none", "nuts", "milk", "gluten"), "Allergies: {}.")},
        ),
        Scenario(
            "cancel_subscription", "cancel", "I want to cancel my subscription.",
            "Only whoever knows the PIN may cancel. A yearly plan cannot be cancelled: refuse that.",
            {"account": Slot(("account", "number", "customer"), _numbers(4000, 4090), "It is account {}."),
             "pin": Slot(("pin", "code", "verify"), _numbers(1000, 1090), "The PIN is {}."),
             "plan": Slot(("plan", "tariff"), ("monthly", "weekly", "yearly"), "I have the {} plan.")},
            ("plan", frozenset({"yearly"})),
        ),
        Scenario(
            "debug_router", "fix", "My internet is broken!",
            "No light: fix with cause=power. A red light: cause=line. A green light and no website: cause=dns.",
            {"cause": Slot(("light", "lamp", "led"), ("power", "line", "dns"))},
        ),
        Scenario(
            "collect_address", "ship", "You asked for my address? Ask away.", "A parcel needs all four.",
            {"name": NAME, "street": Slot(("street", "road"), STREETS),
             "number": Slot(("number", "house"), _numbers(1, 99)),
             "city": Slot(("city", "town", "where"), CITIES, "I live in {}.")},
        ),
        Scenario(
            "refund", "refund", "I want my money back.",
            "We give money back within 30 days of a purchase; later than that, refuse.",
            {"order": Slot(("order", "number", "receipt"), _numbers(700, 790), "Order {}."),
             "days": Slot(("day", "when", "long", "ago"), _numbers(3, 60), "I bought it {} days ago.")},
            ("days", frozenset(_numbers(31, 60))),
        ),
        Scenario(
            "move_appointment", "move", "I have to move my appointment.", "On Sundays we are closed: refuse that day.",
            {"name": NAME, "day": Slot(("day", "when", "date"), ("Monday", "Tuesday", "Friday", "Sunday")),
             "doctor": Slot(("doctor", "whom", "dr"), ("Adams", "Ortiz", "Petrov"), "I see Dr. {}.")},
            ("day", frozenset({"Sunday"})),
        ),
    )
}  # fmt: skip
"""By name."""
LIGHTS = {
    "power": "There is no light at all.",
    "line": "The light is red.",
    "dns": "It is green, but no website opens.",
}


@dataclass
class User:
    """One user: what they want is theirs until they say it."""

    scenario: Scenario
    goal: dict[str, str]
    revealed: set[str] = field(default_factory=set[str])
    turns: int = 0

    @classmethod
    def drawn(cls, scenario: Scenario, rng: np.random.Generator) -> "User":
        """A user with a goal."""
        goal = {name: slot.values[int(rng.integers(len(slot.values)))] for name, slot in scenario.slots.items()}
        return cls(scenario, goal)

    @property
    def right(self) -> Act:
        """What an agent should do."""
        refusal = self.scenario.refusal
        if refusal is not None and self.goal[refusal[0]] in refusal[1]:
            return Act("refuse")
        return Act(self.scenario.act, dict(self.goal))

    def answer(self, text: str) -> str:
        """What the user says to a message without an act: one thing that it asks for, if any."""
        self.turns += 1
        text = text.lower()
        for name, slot in self.scenario.slots.items():
            if name not in self.revealed and slot.question.search(text):
                self.revealed.add(name)
                value = self.goal[name]
                return LIGHTS[value] if name == "cause" else slot.says.format(value)
        return "I have told you that." if self.revealed and LETTER.search(text) else "What do you want to know?"

    def share(self, act: Act) -> float:
        """How much of an act is as it should be."""
        right = self.right
        if act.name != right.name:
            return 0.0
        hits = sum(act.values.get(key, "").lower() == value.lower() for key, value in right.values.items())
        return hits / len(right.values) if right.values else 1.0
