"""Decisions of a solver that asks the submitted rule, relative to the simplest rule; the solver is the grader's own."""

import json
from collections.abc import Callable, Generator

import numpy as np

from ludus.tasks.inside.case import Case, Rejected

SECONDS = 60.0
MOST = 2000
Clauses = list[list[int]]


def grade(case: Case) -> dict[str, float]:
    """Solve every formula of the split twice: with the submitted rule, and with the simplest."""
    formulas: list[Clauses] = json.loads((case.hidden / "formulas.json").read_text())[case.split]
    with case.program("heuristic.py", seconds=SECONDS) as program:

        def choose(asked: list[Clauses]) -> list[int]:
            literals = program.call_each("choose", [(clauses,) for clauses in asked])
            return [checked(literal, clauses) for literal, clauses in zip(literals, asked, strict=True)]

        mine, simple = solve(formulas, choose), solve(formulas, first)
    ratios = np.log(np.array(mine) / np.array(simple))
    return {"relative_decisions": float(np.exp(ratios.mean())), "decisions": float(np.mean(mine))}


def first(asked: list[Clauses]) -> list[int]:
    """The simplest rule."""
    return [clauses[0][0] for clauses in asked]


def checked(literal: object, clauses: Clauses) -> int:
    """The literal; Rejected where it is none of the formula."""
    if isinstance(literal, bool) or not isinstance(literal, int):
        raise Rejected("heuristic.py: expected a literal, a whole number, got something else")
    if not any(literal in clause or -literal in clause for clause in clauses):
        raise Rejected(f"heuristic.py: expected a literal of the formula, got {literal}")
    return literal


def assign(clauses: Clauses, literal: int) -> Clauses | None:
    """The formula with a literal set to true and all that follows from it; None where it contradicts itself."""
    todo = [literal]
    while todo:
        true = todo.pop()
        left: Clauses = []
        for clause in clauses:
            if true in clause:
                continue
            if -true in clause:
                clause = [one for one in clause if one != -true]
                if not clause:
                    return None
                if len(clause) == 1:
                    todo.append(clause[0])
            left.append(clause)
        clauses = left
    return clauses


def solve(formulas: list[Clauses], choose: Callable[[list[Clauses]], list[int]]) -> list[int]:
    """The number of guesses until each formula is settled; one question asks about all that are under way."""
    counts = [1] * len(formulas)
    solvers = dict(enumerate(map(guesses, formulas)))
    asked = {at: next(solver) for at, solver in solvers.items()}
    while asked:
        literals = choose(list(asked.values()))
        for at, literal in zip(list(asked), literals, strict=True):
            try:
                asked[at] = solvers[at].send(literal)
            except StopIteration as end:
                counts[at] = end.value
                del asked[at]
    return counts


def guesses(clauses: Clauses) -> Generator[Clauses, int, int]:
    """A solver: it yields what to guess about, is sent a literal, and returns how often it asked; at most `MOST`."""
    decisions = 0
    stack: list[Clauses] = [clauses]
    while stack and decisions < MOST:
        formula = stack.pop()
        if not formula:
            break
        literal = yield formula
        decisions += 1
        for way in (-literal, literal):
            left = assign(formula, way)
            if left is not None:
                stack.append(left)
    return max(1, decisions)
