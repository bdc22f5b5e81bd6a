"""Numbers for people: three figures and a letter."""

__all__ = ["amount"]

LETTERS = ((1e9, " G"), (1e6, " M"), (1e3, " k"))


def amount(number: float) -> str:
    """A number in three figures, with k, M or G for thousands, millions and more.

    >>> amount(38_412_345), amount(650_120), amount(7.25), amount(0.1234)
    ('38.4 M', '650 k', '7.25', '0.123')
    """
    # Just below a letter's size, three figures round up to it.
    size, letter = next(((size, letter) for size, letter in LETTERS if abs(number) >= size * 0.9995), (1.0, ""))
    value = number / size
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2 if abs(value) >= 0.9995 else 3
    return f"{value:.{digits}f}{letter}"
