"""Matches against hidden strangers; moves come from the submitted program, points are counted here."""

import json
from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np

from ludus.tasks.inside.case import Case, Rejected

SECONDS, NOISE = 40.0, 0.02
POINTS = {"CC": 3, "CD": 0, "DC": 5, "DD": 1}
FLIP = {"C": "D", "D": "C"}
Histories = tuple[str, str]


class DilemmaMatch(TypedDict):
    """A stranger, as the generator wrote it."""

    kind: str
    seed: int
    rounds: int
    level: float


def grade(case: Case) -> dict[str, float]:
    """Play every match of the split twice: with the submitted strategy, and with tit for tat."""
    matches: list[DilemmaMatch] = json.loads((case.hidden / "matches.json").read_text())[case.split]
    with case.program("strategy.py", seconds=SECONDS) as program:
        players = [program.make("Strategy", at) for at in range(len(matches))]

        def choose(asked: dict[int, Histories]) -> Sequence[object]:
            return program.call_on([players[at] for at in asked], "move", asked.values())

        played = play(matches, choose)
    usual = play(matches, tit_for_tat)
    cooperation = np.mean(
        [one + other == "CC" for mine, theirs in played for one, other in zip(mine, theirs, strict=True)]
    )
    points = mean_points(played)
    return {"advantage": points - mean_points(usual), "points": points, "mutual_cooperation": float(cooperation)}


def tit_for_tat(asked: dict[int, Histories]) -> Sequence[object]:
    """The other's last move; cooperation first."""
    return [theirs[-1:] or "C" for _, theirs in asked.values()]


def mean_points(played: list[Histories]) -> float:
    """Points per round, over all matches."""
    return float(
        np.mean([POINTS[one + other] for mine, theirs in played for one, other in zip(mine, theirs, strict=True)])
    )


def play(matches: list[DilemmaMatch], choose: Callable[[dict[int, Histories]], Sequence[object]]) -> list[Histories]:
    """All matches, a round of each at a time; both histories as they happened. Each match has dice of its own."""
    rngs = [np.random.default_rng(match["seed"]) for match in matches]
    histories: list[Histories] = [("", "")] * len(matches)
    for turn in range(max(match["rounds"] for match in matches)):
        asked = {at: histories[at] for at, match in enumerate(matches) if turn < match["rounds"]}
        for at, move in zip(asked, choose(asked), strict=True):
            histories[at] = after_round(matches[at], histories[at], move, rngs[at])
    return histories


def after_round(match: DilemmaMatch, histories: Histories, move: object, rng: np.random.Generator) -> Histories:
    """The histories with one more round."""
    if not isinstance(move, str) or move not in FLIP:
        raise Rejected('strategy.py: expected move to return "C" or "D", got something else')
    mine, theirs = histories
    answer = stranger(match, theirs, mine, rng)
    noise = rng.random(2) < NOISE
    return mine + (FLIP[move] if noise[0] else move), theirs + (FLIP[answer] if noise[1] else answer)


def stranger(match: DilemmaMatch, own: str, other: str, rng: np.random.Generator) -> str:
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
