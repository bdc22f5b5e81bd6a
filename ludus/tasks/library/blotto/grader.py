"""Matches against hidden strangers; divisions come from the submitted program, fields are counted here."""

import json
from typing import TypedDict

import numpy as np

from ludus.spaces.kinds import is_list
from ludus.tasks.inside.case import Case, Instance, Rejected

SECONDS = 40.0
FIELDS, SOLDIERS, ROUNDS = 6, 60, 30
Divisions = list[list[int]]


class BlottoMatch(TypedDict):
    """A stranger, as the generator wrote it."""

    kind: str
    seed: int
    habits: Divisions


def grade(case: Case) -> dict[str, float]:
    """Play every match of the split."""
    matches: list[BlottoMatch] = json.loads((case.hidden / "matches.json").read_text())[case.split]
    with case.program("strategy.py", seconds=SECONDS) as program:
        results = [play(match, program.make("Strategy", at)) for at, match in enumerate(matches)]
    return {"score": float(np.mean(results)), "won": float(np.mean(np.array(results) > 0))}


def play(match: BlottoMatch, player: Instance) -> list[int]:
    """The results of one match, round by round: 1, 0 or -1."""
    rng = np.random.default_rng(match["seed"])
    mine: Divisions = []
    theirs: Divisions = []
    results: list[int] = []
    for _ in range(ROUNDS):
        division = checked(player.call("allocate", mine, theirs))
        answer = stranger(match, mine, rng)
        mine.append(division)
        theirs.append(answer)
        taken = sum(int(np.sign(one - other)) for one, other in zip(division, answer, strict=True))
        results.append(int(np.sign(taken)))
    return results


def checked(division: object) -> list[int]:
    """The division; Rejected where it is none."""
    if not is_list(division) or len(division) != FIELDS:
        raise Rejected(f"strategy.py: expected allocate to return {FIELDS} whole numbers, got something else")
    numbers = [one for one in division if isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= SOLDIERS]
    if len(numbers) != FIELDS:
        raise Rejected(f"strategy.py: expected whole numbers from 0 to {SOLDIERS}, got something else")
    if sum(numbers) != SOLDIERS:
        raise Rejected(f"strategy.py: expected numbers that add up to {SOLDIERS}, got {sum(numbers)}")
    return numbers


def stranger(match: BlottoMatch, other: Divisions, rng: np.random.Generator) -> list[int]:
    """The stranger's division; `other` are those of the submitted strategy."""
    kind, habits, turn = match["kind"], match["habits"], len(other)
    base = habits[0]
    rolled = float(rng.random())
    if kind == "habit":
        return moved(base, rng, 4)
    if kind == "cycle":
        return moved(habits[turn % (2 + match["seed"] % 3)], rng, 1)
    if kind == "rotation":
        return [base[(at + turn) % FIELDS] for at in range(FIELDS)]
    if kind == "copier":
        return moved(other[-1] if other else base, rng, 2)
    if kind == "replier":
        return moved(reply(other[-1]) if other else base, rng, 2)
    if kind == "chance":
        return [base[one] for one in rng.permutation(FIELDS)]
    if kind == "hedger":
        return moved(habits[int(rolled * 2)], rng, 3)
    return base


def moved(division: list[int], rng: np.random.Generator, most: int) -> list[int]:
    """The division with up to so many soldiers moved between two fields, so many times."""
    parts = list(division)
    for _ in range(most):
        start, end = (int(one) for one in rng.integers(FIELDS, size=2))
        count = min(parts[start], int(rng.integers(0, most + 1)))
        parts[start] -= count
        parts[end] += count
    return parts


def reply(division: list[int]) -> list[int]:
    """Takes the weakest fields with one soldier more each, and puts the rest on the last of them."""
    parts, left = [0] * FIELDS, SOLDIERS
    for at in sorted(range(FIELDS), key=lambda field: division[field]):
        count = min(left, division[at] + 2)
        parts[at] = count
        left -= count
    parts[int(np.argmin(division))] += left
    return parts
