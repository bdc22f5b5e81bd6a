"""Matches against hidden strangers; moves come from the submitted program, points are counted here."""

import json
from typing import Any

import numpy as np

from ludus.tasks.inside.case import Case, Rejected

SECONDS, NOISE = 40.0, 0.02
POINTS = {"CC": 3, "CD": 0, "DC": 5, "DD": 1}
FLIP = {"C": "D", "D": "C"}


def grade(case: Case) -> dict[str, float]:
    """Play every match of the split."""
    matches: list[dict[str, Any]] = json.loads((case.hidden / "matches.json").read_text())[case.split]
    points = rounds = lone = 0
    with case.program("strategy.py", seconds=SECONDS) as program:
        for match in matches:
            player = program.make("Strategy", match["seed"] % 1000)
            mine, theirs = play(match, player)
            points += sum(POINTS[one + other] for one, other in zip(mine, theirs, strict=True))
            lone += sum(one + other == "CC" for one, other in zip(mine, theirs, strict=True))
            rounds += match["rounds"]
    return {"points": points / rounds, "mutual_cooperation": lone / rounds}


def play(match: dict[str, Any], player: Any) -> tuple[str, str]:
    """One match; both histories as they happened."""
    rng = np.random.default_rng(match["seed"])
    mine = theirs = ""
    for _ in range(match["rounds"]):
        move = player.call("move", mine, theirs)
        if move not in ("C", "D"):
            raise Rejected('strategy.py: expected move to return "C" or "D", got something else')
        answer = stranger(match, theirs, mine, rng)
        noise = rng.random(2) < NOISE
        mine += FLIP[move] if noise[0] else move
        theirs += FLIP[answer] if noise[1] else answer
    return mine, theirs


def stranger(match: dict[str, Any], own: str, other: str, rng: np.random.Generator) -> str:
    """The stranger's move: `own` and `other` are the histories as it sees them."""
    kind, level = match["kind"], match["level"]
    rolled = float(rng.random())
    last = other[-1:] or "C"
    if kind == "naive":
        return "D" if rolled < 0.12 * level else "C"
    if kind == "defector":
        return "C" if rolled < 0.1 * level else "D"
    if kind == "random":
        return "C" if rolled < 0.25 + 0.5 * level else "D"
    if kind == "periodic":
        return "CCD"[len(own) % 3] if level < 0.5 else "CD"[len(own) % 2]
    if kind == "generous":
        return "C" if last == "C" or rolled < 0.15 + 0.3 * level else "D"
    if kind == "grim":
        return "D" if other.count("D") > 3 + 6 * level else "C"
    if kind == "pavlov":
        before = own[-1:] or "C"
        return before if last == "C" else FLIP[before]
    if kind == "majority":
        return "D" if other.count("D") > other.count("C") * (0.4 + level) else "C"
    if kind == "prober":
        return prober(own, other, last)
    return last


def prober(own: str, other: str, last: str) -> str:
    """Defects early, goes on if that is not answered, and answers in kind if it is."""
    opening = "DCC"
    if len(own) < len(opening):
        return opening[len(own)]
    return "D" if "D" not in other[1:3] else last
