"""Medium problems: a little state, or a known technique."""

from functools import partial

from ludus.envs.open.coding.tasks.inputs import (
    choice_of,
    integer,
    letters,
    matrix,
    number_lists,
    numbers,
    together,
    words,
)
from ludus.envs.open.coding.tasks.task import Problem, problem

__all__ = ["MEDIUM"]

MEDIUM: list[Problem] = []
medium = partial(problem, MEDIUM, "medium")
RUNS = letters("aabbc", 0, 12)
BRACKETS = (
    "",
    "()",
    "([]{})",
    "(]",
    "([)]",
    "{[]}()",
    "((",
    "))",
    "[{}](",
    "{}{}[]",
    "(()",
    "[[]]{()}",
    "}{",
    "([{}])",
)


@medium(together(RUNS))
def run_length(text: str) -> str:
    """Return the text with each run of one letter as the letter and its length: aab is a2b1."""
    result, index = "", 0
    while index < len(text):
        end = index
        while end < len(text) and text[end] == text[index]:
            end += 1
        result += f"{text[index]}{end - index}"
        index = end
    return result


@medium(together(RUNS))
def longest_run(text: str) -> int:
    """Return the length of the longest run of one letter."""
    best = length = 0
    for index, sign in enumerate(text):
        length = length + 1 if index and text[index - 1] == sign else 1
        best = max(best, length)
    return best


@medium(together(choice_of(BRACKETS)))
def is_balanced(text: str) -> bool:
    """Tell whether the brackets (), [] and {} of the text are closed in the right order."""
    closes = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    for sign in text:
        if sign not in closes:
            stack.append(sign)
        elif not stack or stack.pop() != closes[sign]:
            return False
    return not stack


@medium(together(letters("()", 0, 12)))
def missing_brackets(text: str) -> int:
    """Return the fewest brackets ( or ) that have to be added anywhere for all to be closed in order."""
    opened = missing = 0
    for sign in text:
        opened += 1 if sign == "(" else -1
        if opened < 0:
            opened, missing = 0, missing + 1
    return opened + missing


@medium(together(letters("abcxyzABZ !", 0, 14), integer(-30, 30)))
def caesar(text: str, shift: int) -> str:
    """Return the text with each letter shifted along the alphabet, around its end; case stays, the rest is kept."""
    result = ""
    for sign in text:
        base = ord("a") if sign.islower() else ord("A")
        result += chr((ord(sign) - base + shift) % 26 + base) if sign.isalpha() else sign
    return result


@medium(together(letters("abcxyz", 0, 10), letters("abcz", 1, 4)))
def vigenere(text: str, key: str) -> str:
    """Return the text with each letter shifted by the letter of the repeated key in its place (a by 0, b by 1 …)."""
    shifts = [ord(sign) - ord("a") for sign in key]
    codes = [(ord(sign) - ord("a") + shifts[at % len(key)]) % 26 for at, sign in enumerate(text)]
    return "".join(chr(code + ord("a")) for code in codes)


@medium(together(number_lists(0, 20)))
def merge_intervals(lists: list[list[int]]) -> list[list[int]]:
    """Return the union, in order, of the intervals that the first two numbers of each list with two or more span."""
    pairs = sorted(sorted(one[:2]) for one in lists if len(one) >= 2)
    merged: list[list[int]] = []
    for low, high in pairs:
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    return merged


@medium(together(integer(0, 120)))
def primes_up_to(limit: int) -> list[int]:
    """Return all primes up to the limit, the limit included."""
    return [one for one in range(2, limit + 1) if all(one % part for part in range(2, int(one**0.5) + 1))]


@medium(together(integer(1, 5000)))
def prime_factors(number: int) -> list[int]:
    """Return the prime factors of the number, smallest first, each as often as it divides it."""
    found: list[int] = []
    part = 2
    while number > 1:
        while number % part == 0:
            found.append(part)
            number //= part
        part += 1
    return found


@medium(together(integer(1, 60)))
def nth_prime(n: int) -> int:
    """Return the n-th prime; the first is 2."""
    found: list[int] = []
    number = 1
    while len(found) < n:
        number += 1
        if all(number % prime for prime in found):
            found.append(number)
    return found[-1]


@medium(together(integer(1, 3000)))
def divisors(number: int) -> list[int]:
    """Return all divisors of the number, smallest first."""
    return [part for part in range(1, number + 1) if number % part == 0]


@medium(together(matrix()))
def transpose(rows: list[list[int]]) -> list[list[int]]:
    """Return the matrix with rows and columns exchanged."""
    return [list(column) for column in zip(*rows, strict=True)]


@medium(together(matrix()))
def rotate_clockwise(rows: list[list[int]]) -> list[list[int]]:
    """Return the matrix turned clockwise by a quarter."""
    return [list(column) for column in zip(*rows[::-1], strict=True)]


@medium(together(matrix()))
def spiral(rows: list[list[int]]) -> list[int]:
    """Return the numbers of the matrix in a spiral from the top left, to the right first, inwards."""
    left = [list(row) for row in rows]
    result: list[int] = []
    while left:
        result += left.pop(0)
        left = [list(column) for column in zip(*left, strict=True)][::-1]
    return result


@medium(together(matrix(0, 9, True)))
def diagonal_difference(rows: list[list[int]]) -> int:
    """Return how far the sums of the two diagonals of a square matrix are apart."""
    size = range(len(rows))
    return abs(sum(rows[at][at] for at in size) - sum(rows[at][-1 - at] for at in size))


@medium(together(integer(0, 5000), integer(2, 16)))
def to_base(number: int, base: int) -> str:
    """Return the number in the base, with the digits 0-9a-f."""
    digits = ""
    while number:
        digits = "0123456789abcdef"[number % base] + digits
        number //= base
    return digits or "0"


@medium(together(integer(1, 3999)))
def to_roman(number: int) -> str:
    """Return the number in Roman numerals."""
    parts = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"))
    parts += ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
    text = ""
    for value, sign in parts:
        text += sign * (number // value)
        number %= value
    return text


@medium(together(words(0, 8)))
def anagram_groups(items: list[str]) -> list[list[str]]:
    """Return the words in groups of the same letters; groups and words within them in the order of first places."""
    groups: dict[str, list[str]] = {}
    for one in items:
        groups.setdefault("".join(sorted(one)), []).append(one)
    return list(groups.values())


@medium(together(letters("aabbccd", 1, 14)))
def most_common_letter(text: str) -> str:
    """Return the most frequent letter; of equally frequent ones the first in the alphabet."""
    return min(set(text), key=lambda sign: (-text.count(sign), sign))


@medium(together(numbers(-9, 9), integer(-6, 6)))
def pairs_with_sum(values: list[int], total: int) -> int:
    """Return how many pairs of places i < j have numbers with that sum."""
    return sum(1 for at, one in enumerate(values) for other in values[at + 1 :] if one + other == total)


@medium(together(numbers(1, 50)))
def best_profit(prices: list[int]) -> int:
    """Return the largest gain from one purchase and a later sale; 0 where there is none."""
    best = 0
    for at, price in enumerate(prices):
        best = max([best, *(later - price for later in prices[at + 1 :])])
    return best


@medium(together(numbers(1, 9), integer(1, 20)))
def longest_within(values: list[int], most: int) -> int:
    """Return the length of the longest run of neighbours whose sum is at most that; all numbers are positive."""
    best = start = total = 0
    for end, one in enumerate(values):
        total += one
        while total > most:
            total -= values[start]
            start += 1
        best = max(best, end - start + 1)
    return best


@medium(together(numbers(-20, 20), integer(-20, 20)))
def insertion_place(values: list[int], number: int) -> int:
    """Return where the number would be inserted into the sorted list, before any equal ones."""
    return sum(1 for one in values if one < number)


@medium(together(integer(0, 10**9)))
def whole_root(number: int) -> int:
    """Return the largest whole number whose square is at most the number."""
    low, high = 0, number
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle * middle <= number else (low, middle - 1)
    return low


@medium(together(numbers(-9, 9), integer(1, 4)))
def moving_sums(values: list[int], size: int) -> list[int]:
    """Return the sums of each `size` neighbours in turn; fewer numbers than that give an empty list."""
    return [sum(values[at : at + size]) for at in range(len(values) - size + 1)]


@medium(together(numbers()))
def running_maximum(values: list[int]) -> list[int]:
    """Return for each place the largest number up to there."""
    return [max(values[: at + 1]) for at in range(len(values))]


@medium(together(letters("abAB", 0, 10)))
def to_snake_case(name: str) -> str:
    """Return a name in camelCase as snake_case: each capital becomes small, with a _ before it unless it is first."""
    text = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    return text[1:] if name[:1].isupper() else text


@medium(together(words(), integer(6, 14)))
def wrap_words(items: list[str], width: int) -> list[str]:
    """Return lines of words and single spaces, each filled up to `width` signs; a longer word has its own line."""
    lines: list[str] = []
    for one in items:
        if lines and len(lines[-1]) + 1 + len(one) <= width:
            lines[-1] += f" {one}"
        else:
            lines.append(one)
    return lines


@medium(together(number_lists()))
def flatten_unique_sorted(lists: list[list[int]]) -> list[int]:
    """Return all different numbers of the lists, largest first."""
    return sorted({one for part in lists for one in part}, reverse=True)


@medium(together(integer(1, 300), integer(1, 300)))
def greatest_common_divisor(left: int, right: int) -> int:
    """Return the greatest common divisor of two positive numbers."""
    while right:
        left, right = right, left % right
    return left


@medium(together(numbers(0, 9, 1, 6)))
def plus_one(digits: list[int]) -> list[int]:
    """Take the list as the decimal digits of a number, and return those of the next; leading zeros are kept."""
    number = str(int("".join(map(str, digits))) + 1)
    return [int(sign) for sign in number.zfill(len(digits))]


@medium(together(letters("abcd", 0, 12)))
def longest_without_repeat(text: str) -> int:
    """Return the length of the longest part of the text in which no letter is there twice."""
    best = start = 0
    last: dict[str, int] = {}
    for at, sign in enumerate(text):
        start = max(start, last.get(sign, -1) + 1)
        last[sign] = at
        best = max(best, at - start + 1)
    return best


@medium(together(numbers(1, 9), numbers(1, 9)))
def dot_product(left: list[int], right: list[int]) -> int:
    """Return the sum of the products of numbers in the same places; the shorter list decides how many."""
    return sum(one * other for one, other in zip(left, right, strict=False))


@medium(together(integer(0, 14)))
def pascal_row(n: int) -> list[int]:
    """Return row n of Pascal's triangle; row 0 is [1]."""
    row = [1]
    for _ in range(n):
        row = [1, *(row[at] + row[at + 1] for at in range(len(row) - 1)), 1]
    return row
