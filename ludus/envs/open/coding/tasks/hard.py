"""Hard problems: dynamic programming, graphs, search, parsing, simulation."""

from functools import partial

from ludus.envs.open.coding.tasks.inputs import choice_of, edges, grid, integer, letters, matrix, numbers, together
from ludus.envs.open.coding.tasks.task import Problem, problem

__all__ = ["HARD"]

HARD: list[Problem] = []
hard = partial(problem, HARD, "hard")
FORMULAS = (
    *("1+2*3", "(1+2)*3", "10-4-3", "2*(3+4)*5", "7", "(8-3)*(2+2)", "1-(2-(3-4))", "100-99*2", "((5))", "3*3*3-7"),
    *("12+30*2-(4+6)", "(1+1)*(1+1)*(1+1)", "50-(20+5)*2", "9*(8-7)+6*(5-4)", "0-5+10", "6*7-6*6"),
)


@hard(together(letters("abc", 0, 9), letters("abc", 0, 9)))
def common_subsequence(left: str, right: str) -> int:
    """Return the length of the longest sequence of letters that both texts have in this order, not side by side."""
    row = [0] * (len(right) + 1)
    for sign in left:
        before = row[:]
        for at, other in enumerate(right, 1):
            row[at] = before[at - 1] + 1 if sign == other else max(row[at - 1], before[at])
    return row[-1]


@hard(together(letters("abc", 0, 8), letters("abc", 0, 8)))
def edit_distance(left: str, right: str) -> int:
    """Return the fewest letters to insert, remove or replace that make the left text the right one."""
    row = list(range(len(right) + 1))
    for down, sign in enumerate(left, 1):
        before, row = row, [down]
        for at, other in enumerate(right, 1):
            row.append(min(before[at] + 1, row[-1] + 1, before[at - 1] + (sign != other)))
    return row[-1]


@hard(together(numbers(0, 20, 0, 10)))
def longest_increasing(values: list[int]) -> int:
    """Return the length of the longest strictly increasing sequence of numbers, in their order, not side by side."""
    best: list[int] = []
    for at, one in enumerate(values):
        best.append(1 + max((best[before] for before in range(at) if values[before] < one), default=0))
    return max(best, default=0)


@hard(together(letters("abc", 1, 10)))
def longest_palindrome(text: str) -> str:
    """Return the first of the longest parts of the text that read the same backwards."""
    best = ""
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            part = text[start:end]
            if len(part) > len(best) and part == part[::-1]:
                best = part
    return best


@hard(together(numbers(1, 9, 1, 6), numbers(1, 20, 6, 6), integer(1, 25)))
def best_load(weights: list[int], values: list[int], capacity: int) -> int:
    """Return the largest sum of values of things (as many as weights) whose weights sum to at most the capacity."""
    best = [0] * (capacity + 1)
    for weight, value in zip(weights, values, strict=False):
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[capacity]


@hard(together(numbers(1, 9, 1, 4), integer(0, 40)))
def fewest_coins(coins: list[int], amount: int) -> int:
    """Return the fewest coins, each as often as one likes, that make the amount; -1 where none do."""
    fewest = [0] + [amount + 1] * amount
    for part in range(1, amount + 1):
        fewest[part] = min([fewest[part], *(fewest[part - coin] + 1 for coin in coins if coin <= part)])
    return fewest[amount] if fewest[amount] <= amount else -1


@hard(together(numbers(1, 9, 1, 4), integer(0, 30)))
def ways_to_pay(coins: list[int], amount: int) -> int:
    """Return in how many ways coins of these values, equal ones counted once, make the amount; order does not count."""
    ways = [1] + [0] * amount
    for coin in set(coins):
        for part in range(coin, amount + 1):
            ways[part] += ways[part - coin]
    return ways[amount]


@hard(together(numbers(1, 15, 0, 8), integer(0, 40)))
def subset_sum(values: list[int], total: int) -> bool:
    """Tell whether some of the numbers, each used once at most, have that sum; none of them have the sum 0."""
    sums = {0}
    for one in values:
        sums |= {one + before for before in sums}
    return total in sums


@hard(together(grid()))
def shortest_way(rows: list[str]) -> int:
    """Return the fewest steps to a side, not on #, from the top left to the bottom right of a map; -1 for no way."""
    height, width = len(rows), len(rows[0])
    if rows[0][0] == "#" or rows[-1][-1] == "#":
        return -1
    seen, front = {(0, 0): 0}, [(0, 0)]
    for row, column in front:
        for place in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            inside = 0 <= place[0] < height and 0 <= place[1] < width
            if inside and place not in seen and rows[place[0]][place[1]] != "#":
                seen[place] = seen[row, column] + 1
                front.append(place)
    return seen.get((height - 1, width - 1), -1)


@hard(together(grid()))
def count_islands(rows: list[str]) -> int:
    """Return how many islands of # the map has; # that touch at a side, not at a corner, are one."""
    left = {(row, column) for row, text in enumerate(rows) for column, sign in enumerate(text) if sign == "#"}
    count = 0
    while left:
        count += 1
        stack = [left.pop()]
        while stack:
            row, column = stack.pop()
            for place in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if place in left:
                    left.remove(place)
                    stack.append(place)
    return count


@hard(together(integer(1, 6), edges()))
def count_components(nodes: int, links: list[list[int]]) -> int:
    """Return into how many connected parts the links divide the nodes 0 to nodes-1; other nodes' links do not count."""
    owner = list(range(nodes))
    for start, end in links:
        if start < nodes and end < nodes:
            old, new = owner[start], owner[end]
            owner = [new if one == old else one for one in owner]
    return len(set(owner))


@hard(together(edges()))
def smallest_order(links: list[list[int]]) -> list[int]:
    """Return 0 to 5 so that links' first numbers come before their second, smallest first; [] where that cannot be."""
    left = set(range(6))
    order: list[int] = []
    while left:
        free = [one for one in sorted(left) if not any(end == one and start in left for start, end in links)]
        if not free:
            return []
        order.append(free[0])
        left.remove(free[0])
    return order


@hard(together(edges(6, 9, True), integer(1, 5)))
def cheapest_way(links: list[list[int]], target: int) -> int:
    """Return the least weight of a way from 0 to the target along two-way links [a, b, weight]; -1 for no way."""
    cost = {0: 0}
    for _ in range(6):
        for start, end, weight in links:
            for one, other in ((start, end), (end, start)):
                if one in cost and cost[one] + weight < cost.get(other, 1 << 30):
                    cost[other] = cost[one] + weight
    return cost.get(target, -1)


@hard(together(edges(6, 9, True)))
def lightest_tree(links: list[list[int]]) -> int:
    """Return the smallest sum of weights of links [a, b, weight] that keep connected what all links connect."""
    owner, total = list(range(6)), 0
    for start, end, weight in sorted(links, key=lambda one: one[2]):
        if owner[start] != owner[end]:
            old, new, total = owner[start], owner[end], total + weight
            owner = [new if one == old else one for one in owner]
    return total


@hard(together(edges()))
def is_two_colorable(links: list[list[int]]) -> bool:
    """Tell whether the nodes can have two colors so that the ends of every link differ."""
    return any(all((colors >> start & 1) != (colors >> end & 1) for start, end in links) for colors in range(64))


@hard(together(choice_of(FORMULAS)))
def evaluate(formula: str) -> int:
    """Return the value of a formula of whole numbers, +, -, * and brackets, without spaces."""
    values: list[int] = []
    signs: list[str] = []

    def reduce(least: int) -> None:
        while signs and signs[-1] != "(" and {"+": 1, "-": 1, "*": 2}[signs[-1]] >= least:
            right, left, sign = values.pop(), values.pop(), signs.pop()
            values.append(left + right if sign == "+" else left - right if sign == "-" else left * right)

    at = 0
    while at < len(formula):
        end = at
        while end < len(formula) and formula[end].isdigit():
            end += 1
        if end > at:
            values.append(int(formula[at:end]))
            at = end
            continue
        sign = formula[at]
        if sign == ")":
            reduce(1)
            signs.pop()
        else:
            if sign != "(":
                reduce({"+": 1, "-": 1, "*": 2}[sign])
            signs.append(sign)
        at += 1
    reduce(1)
    return values[0]


@hard(together(choice_of(FORMULAS)))
def bracket_depths(formula: str) -> list[int]:
    """Return for each number of the formula, from the left, in how many brackets it stands."""
    found: list[int] = []
    depth = 0
    for at, sign in enumerate(formula):
        depth += (sign == "(") - (sign == ")")
        if sign.isdigit() and not (at and formula[at - 1].isdigit()):
            found.append(depth)
    return found


@hard(together(numbers(0, 5, 1, 6)))
def next_permutation(values: list[int]) -> list[int]:
    """Return the numbers in the order that is next in the alphabet of all orders; after the last the first."""
    result = list(values)
    at = len(result) - 2
    while at >= 0 and result[at] >= result[at + 1]:
        at -= 1
    if at >= 0:
        other = max(place for place in range(at + 1, len(result)) if result[place] > result[at])
        result[at], result[other] = result[other], result[at]
    return result[: at + 1] + result[at + 1 :][::-1]


@hard(together(numbers(0, 20, 0, 9)))
def count_inversions(values: list[int]) -> int:
    """Return how many pairs of places i < j have a larger number at i than at j."""
    return sum(1 for at, one in enumerate(values) for other in values[at + 1 :] if one > other)


@hard(together(integer(1, 8)))
def count_queens(size: int) -> int:
    """Return in how many ways as many queens as the board has rows stand on it so that none attacks another."""
    found = [()]
    for row in range(size):
        found = [
            (*places, column)
            for places in found
            for column in range(size)
            if all(column not in (one, one + row - at, one - row + at) for at, one in enumerate(places))
        ]
    return len(found)


@hard(together(matrix(0, 1)))
def life_step(rows: list[list[int]]) -> list[list[int]]:
    """Return the next generation of Conway's game of life; outside the matrix all cells are dead."""
    height, width = len(rows), len(rows[0])

    def living(row: int, column: int) -> int:
        return sum(
            rows[y][x]
            for y in range(max(0, row - 1), min(height, row + 2))
            for x in range(max(0, column - 1), min(width, column + 2))
            if (y, x) != (row, column)
        )

    return [
        [
            int(living(row, column) == 3 or (living(row, column) == 2 and rows[row][column] == 1))
            for column in range(width)
        ]
        for row in range(height)
    ]


@hard(together(numbers(0, 4, 0, 12), integer(1, 3)))
def cache_misses(requests: list[int], size: int) -> int:
    """Return how many requests are not in a cache of that size that forgets what was not asked for the longest."""
    kept: list[int] = []
    misses = 0
    for one in requests:
        if one in kept:
            kept.remove(one)
        else:
            misses += 1
        kept = [*kept, one][-size:]
    return misses


@hard(together(letters("ab", 1, 12)))
def smallest_period(text: str) -> int:
    """Return the length of the shortest text that, repeated, gives the text exactly."""
    return next(size for size in range(1, len(text) + 1) if text[:size] * (len(text) // size) == text)


@hard(together(letters("ab*?", 0, 6), letters("ab", 0, 6)))
def matches_pattern(pattern: str, text: str) -> bool:
    """Tell whether the pattern fits all of the text; ? stands for a letter, * for any number of letters, even none."""
    reached = [True] + [False] * len(text)
    for sign in pattern:
        after = [reached[0] and sign == "*"]
        for at, letter in enumerate(text, 1):
            after.append((reached[at] or after[-1]) if sign == "*" else reached[at - 1] and sign in ("?", letter))
        reached = after
    return reached[-1]


@hard(together(numbers(-9, 9, 1, 10)))
def largest_sum(values: list[int]) -> int:
    """Return the largest sum of neighbours, at least one of them."""
    best = now = values[0]
    for one in values[1:]:
        now = max(one, now + one)
        best = max(best, now)
    return best


@hard(together(numbers(1, 20, 0, 8), integer(1, 3)))
def profit_of_trades(prices: list[int], most: int) -> int:
    """Return the largest gain from at most so many purchases, each followed by a sale before the next purchase."""
    best = [0] * len(prices)
    for _ in range(most):
        gains, held = [0] * len(prices), -(1 << 30)
        for at, price in enumerate(prices):
            held = max(held, (best[at - 1] if at else 0) - price)
            gains[at] = max(gains[at - 1] if at else 0, held + price)
        best = gains
    return best[-1] if best else 0


@hard(together(integer(1600, 2400), integer(1, 12), integer(1, 28)))
def weekday(year: int, month: int, day: int) -> str:
    """Return the weekday of a date of the Gregorian calendar, as Monday to Sunday."""
    shift = (0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4)[month - 1]
    years = year - (month < 3)
    names = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
    return names[(years + years // 4 - years // 100 + years // 400 + shift + day) % 7]


@hard(together(numbers(-5, 5, 1, 5), numbers(-5, 5, 1, 5)))
def multiply_polynomials(left: list[int], right: list[int]) -> list[int]:
    """Return the coefficients of the product of two polynomials; each list has them from the constant one up."""
    result = [0] * (len(left) + len(right) - 1)
    for at, one in enumerate(left):
        for other, two in enumerate(right):
            result[at + other] += one * two
    return result


@hard(together(integer(2, 60), integer(2, 97)))
def modular_inverse(number: int, modulus: int) -> int:
    """Return the smallest positive number whose product with the number leaves 1 by the modulus; -1 for none."""
    return next((one for one in range(1, modulus) if number * one % modulus == 1), -1)


@hard(together(numbers(1, 12, 1, 5)))
def sum_of_fractions(parts: list[int]) -> list[int]:
    """Return the sum of 1/n of all numbers n, as [numerator, denominator] without a common factor."""
    top, bottom = 0, 1
    for one in parts:
        top, bottom = top * one + bottom, bottom * one
    left, right = top, bottom
    while right:
        left, right = right, left % right
    return [top // left, bottom // left]


@hard(together(numbers(0, 5, 0, 10)))
def trapped_water(heights: list[int]) -> int:
    """Return how much water stays between walls of these heights, each 1 wide, after rain."""
    return sum(min(max(heights[: at + 1]), max(heights[at:])) - one for at, one in enumerate(heights))


@hard(together(numbers(0, 6, 0, 10)))
def largest_rectangle(heights: list[int]) -> int:
    """Return the area of the largest rectangle within bars of these heights, each 1 wide, side by side."""
    spans = ((start, end) for start in range(len(heights)) for end in range(start + 1, len(heights) + 1))
    return max((min(heights[start:end]) * (end - start) for start, end in spans), default=0)


@hard(together(letters("abc", 0, 8)))
def distinct_subsequences(text: str) -> int:
    """Return how many different texts remain when any letters are removed from the text, the empty one included."""
    total = 1
    last: dict[str, int] = {}
    for sign in text:
        before = total
        total = 2 * total - last.get(sign, 0)
        last[sign] = before
    return total


@hard(together(numbers(1, 9, 1, 7)))
def fewest_jumps(reach: list[int]) -> int:
    """Return the fewest jumps from the first place to the last, where a place is left for at most so many places."""
    fewest = [0] + [len(reach)] * (len(reach) - 1)
    for at, most in enumerate(reach):
        for place in range(at + 1, min(len(reach), at + most + 1)):
            fewest[place] = min(fewest[place], fewest[at] + 1)
    return fewest[-1]


@hard(together(numbers(0, 9, 0, 9), integer(1, 4)))
def split_smallest_largest(values: list[int], parts: int) -> int:
    """Return the smallest possible largest sum, where the list is cut into at most so many runs of neighbours."""
    low, high = max(values, default=0), sum(values)
    while low < high:
        middle, count, now = (low + high) // 2, 1, 0
        for one in values:
            now, count = (now + one, count) if now + one <= middle else (one, count + 1)
        low, high = (low, middle) if count <= parts else (middle + 1, high)
    return low
