"""The solver: depth first, with unit propagation; a rule chooses what to guess, and guesses are counted."""

from collections.abc import Callable

Clauses = list[list[int]]


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


def solve(clauses: Clauses, choose: Callable[[Clauses], int], most: int = 2000) -> int:
    """The number of guesses until the formula is settled, satisfiable or not; at most `most`."""
    decisions = 0
    stack: list[Clauses] = [clauses]
    while stack and decisions < most:
        formula = stack.pop()
        if not formula:
            break
        literal = choose(formula)
        decisions += 1
        for way in (-literal, literal):  # the literal itself is on top, and tried first
            left = assign(formula, way)
            if left is not None:
                stack.append(left)
    return max(1, decisions)
