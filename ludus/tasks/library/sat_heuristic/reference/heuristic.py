"""Reference: look ahead; of a few variables, the one whose two ways both shrink the formula most."""

from collections import Counter

CANDIDATES = 8


def choose(clauses: list[list[int]]) -> int:
    """A literal to set to true."""
    weights: Counter[int] = Counter()
    for clause in clauses:
        for literal in clause:
            weights[literal] += 5 if len(clause) == 2 else 1
    variables = {abs(literal) for literal in weights}
    ranked = sorted(variables, key=lambda one: -(1 + weights[one]) * (1 + weights[-one]))[:CANDIDATES]
    best, most = ranked[0], -1.0
    for variable in ranked:
        ways = {literal: gain(clauses, literal) for literal in (variable, -variable)}
        for literal, found in ways.items():
            if found is None:  # it fails: its opposite is no guess at all
                return -literal
        worth = (1 + (ways[variable] or 0)) * (1 + (ways[-variable] or 0))
        if worth > most:
            best, most = (variable if weights[variable] >= weights[-variable] else -variable), worth
    return best


def gain(clauses: list[list[int]], literal: int) -> float | None:
    """How much shorter the formula gets; None where it contradicts itself."""
    todo, true = [literal], {literal}
    while todo:
        todo.pop()
        for clause in clauses:
            if any(one in true for one in clause):
                continue
            open_ones = [one for one in clause if -one not in true]
            if not open_ones:
                return None
            if len(open_ones) == 1 and open_ones[0] not in true:
                true.add(open_ones[0])
                todo.append(open_ones[0])
    gained = 0.0
    for clause in clauses:
        if any(one in true for one in clause):
            continue
        gained += len(clause) == 3 and any(-one in true for one in clause)
    return gained + 2 * len(true)
