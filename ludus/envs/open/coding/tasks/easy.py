"""Easy problems: one loop, one condition."""

from functools import partial

from ludus.envs.open.coding.tasks.inputs import integer, letters, numbers, together, words
from ludus.envs.open.coding.tasks.task import Problem, problem

__all__ = ["EASY"]

EASY: list[Problem] = []
easy = partial(problem, EASY, "easy")
PROSE = letters("aeiou bcdXYZ019 ", 0, 24)


@easy(together(numbers()))
def sum_of_even(values: list[int]) -> int:
    """Return the sum of the even numbers in the list."""
    return sum(one for one in values if one % 2 == 0)


@easy(together(numbers()))
def product_of_odd(values: list[int]) -> int:
    """Return the product of the odd numbers in the list; of none, 1."""
    result = 1
    for one in values:
        if one % 2:
            result *= one
    return result


@easy(together(numbers(), integer(2, 5)))
def count_multiples(values: list[int], factor: int) -> int:
    """Return how many numbers of the list are multiples of the factor."""
    return sum(1 for one in values if one % factor == 0)


@easy(together(numbers(), integer(-5, 10)))
def above_threshold(values: list[int], threshold: int) -> list[int]:
    """Return the numbers that are larger than the threshold, in their order."""
    return [one for one in values if one > threshold]


@easy(together(PROSE))
def count_vowels(text: str) -> int:
    """Return how many vowels (a, e, i, o, u) the text has."""
    return sum(text.count(vowel) for vowel in "aeiou")


@easy(together(PROSE))
def count_digits(text: str) -> int:
    """Return how many digits the text has."""
    return sum(1 for sign in text if sign.isdigit())


@easy(together(PROSE))
def count_capitals(text: str) -> int:
    """Return how many capital letters the text has."""
    return sum(1 for sign in text if sign.isupper())


@easy(together(PROSE))
def count_words(text: str) -> int:
    """Return how many words the text has, separated by any number of spaces."""
    return len(text.split())


@easy(together(numbers()))
def squares(values: list[int]) -> list[int]:
    """Return the square of each number."""
    return [one * one for one in values]


@easy(together(numbers()))
def differences(values: list[int]) -> list[int]:
    """Return each number less the one before it; the list is one shorter, and empty for fewer than two."""
    return [values[at] - values[at - 1] for at in range(1, len(values))]


@easy(together(numbers(), integer(2, 9)))
def remainders(values: list[int], divisor: int) -> list[int]:
    """Return the remainder of each number by the divisor, as Python's % gives it."""
    return [one % divisor for one in values]


@easy(together(numbers()))
def index_of_largest(values: list[int]) -> int:
    """Return the index of the first of the largest numbers; of an empty list, -1."""
    return values.index(max(values)) if values else -1


@easy(together(numbers()))
def first_negative(values: list[int]) -> int:
    """Return the index of the first negative number; -1 where there is none."""
    for index, one in enumerate(values):
        if one < 0:
            return index
    return -1


@easy(together(numbers(0, 9, 1)))
def second_largest(values: list[int]) -> int:
    """Return the second largest of the different numbers; where all are equal, that number."""
    ordered = sorted(set(values))
    return ordered[-2] if len(ordered) > 1 else ordered[-1]


@easy(together(words()))
def reverse_each_word(items: list[str]) -> str:
    """Return the words, each reversed, joined by single spaces."""
    return " ".join(one[::-1] for one in items)


@easy(together(words()))
def initials(items: list[str]) -> str:
    """Return the first letters of the words as capitals, each followed by a dot."""
    return "".join(f"{one[0].upper()}." for one in items)


@easy(together(words()))
def longest_word(items: list[str]) -> str:
    """Return the first of the longest words; of no words, the empty text."""
    return max(items, key=len) if items else ""


@easy(together(integer(0, 100_000)))
def clock_time(seconds: int) -> str:
    """Return the seconds as h:mm:ss, hours without leading zeros."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


@easy(together(integer(0, 100_000)))
def price_text(cents: int) -> str:
    """Return an amount of cents as units and two digits, like 12.05."""
    return f"{cents // 100}.{cents % 100:02d}"


@easy(together(letters("abcBA ,", 0, 8)))
def is_palindrome(text: str) -> bool:
    """Tell whether the letters of the text read the same backwards; case, spaces and commas do not count."""
    kept = [sign for sign in text.lower() if sign.isalpha()]
    return kept == kept[::-1]


@easy(together(integer(0, 99_999)))
def digit_sum(number: int) -> int:
    """Return the sum of the decimal digits."""
    return sum(int(digit) for digit in str(number))


@easy(together(integer(0, 99_999)))
def distinct_digits(number: int) -> int:
    """Return how many different decimal digits the number has."""
    return len(set(str(number)))


@easy(together(integer(0, 99_999)))
def reverse_number(number: int) -> int:
    """Return the number with its decimal digits in reverse order."""
    return int(str(number)[::-1])


@easy(together(numbers(0, 6)))
def without_repeats(values: list[int]) -> list[int]:
    """Return each number once, in the order of their first places."""
    return list(dict.fromkeys(values))


@easy(together(numbers(), integer(2, 4)))
def every_nth(values: list[int], n: int) -> list[int]:
    """Return every n-th number, beginning with the n-th."""
    return values[n - 1 :: n]


@easy(together(numbers(), integer(0, 12)))
def rotate_left(values: list[int], places: int) -> list[int]:
    """Return the list with its first numbers moved to its end, one at a time, for so many places."""
    shift = places % len(values) if values else 0
    return values[shift:] + values[:shift]


@easy(together(numbers(0, 3)))
def move_zeros(values: list[int]) -> list[int]:
    """Return the list with all zeros at its end, and the others in their order."""
    return [one for one in values if one] + [one for one in values if not one]


@easy(together(integer(0, 60)))
def triangular(n: int) -> int:
    """Return the sum of the numbers from 1 to n."""
    return n * (n + 1) // 2


@easy(together(integer(0, 40)))
def fibonacci(n: int) -> int:
    """Return the n-th Fibonacci number; the 0th is 0, the first 1."""
    before, now = 0, 1
    for _ in range(n):
        before, now = now, before + now
    return before


@easy(together(integer(1, 200)))
def collatz_steps(n: int) -> int:
    """Return how many steps lead to 1, where a step halves an even number, and triples an odd one and adds 1."""
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


@easy(together(words()))
def word_lengths(items: list[str]) -> dict[str, int]:
    """Return a dictionary with the length of each word."""
    return {one: len(one) for one in items}


@easy(together(letters("abc", 0, 9)))
def letter_counts(text: str) -> dict[str, int]:
    """Return a dictionary with how often each letter of the text is in it."""
    return {letter: text.count(letter) for letter in text}


@easy(together(numbers(0, 9), numbers(0, 9)))
def interleave(left: list[int], right: list[int]) -> list[int]:
    """Return the numbers of both lists in turn, the left first; what one has more follows at the end."""
    both = [one for pair in zip(left, right, strict=False) for one in pair]
    shorter = min(len(left), len(right))
    return both + left[shorter:] + right[shorter:]


@easy(together(numbers(0, 9), numbers(0, 9)))
def common_numbers(left: list[int], right: list[int]) -> list[int]:
    """Return the different numbers that are in both lists, smallest first."""
    return sorted(set(left) & set(right))


@easy(together(integer(1, 3000)))
def is_leap_year(year: int) -> bool:
    """Tell whether a year is a leap year: a multiple of 4, and of 400 if it is one of 100."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@easy(together(integer(1, 40)))
def fizz_buzz(n: int) -> list[str]:
    """Return the numbers from 1 to n as text; Fizz for multiples of 3, Buzz of 5, FizzBuzz of both."""
    return ["Fizz" * (one % 3 == 0) + "Buzz" * (one % 5 == 0) or str(one) for one in range(1, n + 1)]
