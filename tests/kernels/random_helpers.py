"""Helpers that rules of another file call."""

HALF = 0.5


def halved(x: float) -> float:
    """Half of it."""
    return quartered(x) + quartered(x)


def quartered(x: float) -> float:
    """A quarter of it."""
    return x * HALF * HALF
