"""Baseline: the literal that occurs most often."""

from collections import Counter


def choose(clauses: list[list[int]]) -> int:
    """A literal to set to true."""
    counts = Counter(literal for clause in clauses for literal in clause)
    return max(counts, key=lambda literal: (counts[literal], literal))
