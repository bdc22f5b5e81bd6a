"""Matches against hidden strangers; choices come from the submitted program, points are counted here."""

import json
from typing import TypedDict

import numpy as np

from ludus.tasks.inside.case import Case, Instance, Rejected

SECONDS, NOISE = 40.0, 0.02
POINTS = {"AA": 2, "BB": 1, "AB": 0, "BA": 0}
FLIP = {"A": "B", "B": "A"}


class EveningsMatch(TypedDict):
    """A stranger, as the generator wrote it."""

    kind: str
    seed: int
    rounds: int
    level: float


def grade(case: Case) -> dict[str, float]:
    """Play every match of the split."""
    matches: list[EveningsMatch] = json.loads((case.hidden / "matches.json").read_text())[case.split]
    points = rounds = together = 0
    with case.program("strategy.py", seconds=SECONDS) as program:
        for at, match in enumerate(matches):
            pairs = play(match, program.make("Strategy", at))
            points += sum(POINTS[pair] for pair in pairs)
            together += sum(POINTS[pair] > 0 for pair in pairs)
            rounds += match["rounds"]
    return {"points": points / rounds, "together": together / rounds}


def play(match: EveningsMatch, player: Instance) -> list[str]:
    """One match: where both were on each evening."""
    rng = np.random.default_rng(match["seed"])
    mine = theirs = ""
    for _ in range(match["rounds"]):
        move = player.call("move", mine, theirs)
        if move not in ("A", "B"):
            raise Rejected('strategy.py: expected move to return "A" or "B", got something else')
        answer = stranger(match, theirs, mine, float(rng.random()))
        noise = rng.random(2) < NOISE
        mine += FLIP[move] if noise[0] else move
        theirs += FLIP[answer] if noise[1] else answer
    return [one + other for one, other in zip(mine, theirs, strict=True)]


def stranger(match: EveningsMatch, own: str, other: str, rolled: float) -> str:
    """Where the stranger goes: B is what it likes; `own` and `other` are the histories as it sees them."""
    kind, level = match["kind"], match["level"]
    last = other[-1:] or "B"
    if kind == "insisting":
        return "A" if rolled < 0.1 * level else "B"
    if kind == "yielding":
        return "B" if rolled < 0.15 * level else last
    if kind == "turns":
        return "BA"[len(own) % 2] if level < 0.6 else "BBA"[len(own) % 3]
    if kind == "fair":
        return fair(own, last)
    if kind == "learner":
        weights = [0.9 ** (len(other) - at) for at in range(len(other))]
        to_a = sum(weight for weight, move in zip(weights, other, strict=True) if move == "A")
        return "A" if to_a > (1.2 + level) * (sum(weights) - to_a) + 0.5 else "B"
    if kind == "shifting":
        before = own[-1:] or "B"
        return before if before == last or rolled < 0.3 else FLIP[before]
    if kind == "teacher":
        return "A" if other[-3:].count("A") == 3 and other.count("A") > 4 + 14 * level else "B"
    if kind == "grudger":
        return "B" if other.count("A") > (0.4 + 0.2 * level) * (len(other) + 4) else last
    return "A" if rolled < 0.2 + 0.5 * level else "B"


def fair(own: str, last: str) -> str:
    """Takes turns from evening to evening, once both have met; until then it waits at its own place."""
    before = own[-1:] or "B"
    return FLIP[before] if own and before == last else "B"
