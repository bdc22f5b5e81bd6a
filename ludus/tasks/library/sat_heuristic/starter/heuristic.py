"""The rule that the solver asks: the first literal of the first clause. You can do better."""


def choose(clauses: list[list[int]]) -> int:
    """A literal to set to true."""
    return clauses[0][0]
