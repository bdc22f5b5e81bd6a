"""Reference: reversals and moved pieces until nothing helps, then small kicks; NumPy looks at all moves at once."""

import numpy as np

KICKS = 40


def tour(points: list[list[float]]) -> list[int]:
    """The order in which to visit them."""
    places = np.array(points)
    far = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    rng = np.random.default_rng(len(points))
    best = improved(nearest(far), far)
    shortest = length(best, far)
    for _ in range(KICKS):
        tried = improved(kicked(best, rng), far)
        found = length(tried, far)
        if found < shortest:
            best, shortest = tried, found
    return [int(one) for one in best]


def length(order: np.ndarray, far: np.ndarray) -> float:
    """How long a round trip is."""
    return float(far[order, np.roll(order, -1)].sum())


def nearest(far: np.ndarray) -> np.ndarray:
    """Always the nearest point that is left."""
    order, left = [0], np.ones(len(far), bool)
    left[0] = False
    while left.any():
        order.append(int(np.argmin(np.where(left, far[order[-1]], np.inf))))
        left[order[-1]] = False
    return np.array(order)


def improved(order: np.ndarray, far: np.ndarray) -> np.ndarray:
    """The tour after the best reversal or move of a point, again and again."""
    count = len(order)
    upper = np.triu(np.ones((count, count), bool), 2)
    upper[0, -1] = False
    while True:
        after = np.roll(order, -1)
        steps = far[order, after]
        gains = steps[:, None] + steps[None] - far[np.ix_(order, order)] - far[np.ix_(after, after)]
        gains = np.where(upper, gains, 0.0)
        one, other = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[one, other] > 1e-9:
            order = np.concatenate([order[: one + 1], order[one + 1 : other + 1][::-1], order[other + 1 :]])
            continue
        shifted = moved(order, far)
        if shifted is None:
            return order
        order = shifted


def moved(order: np.ndarray, far: np.ndarray) -> np.ndarray | None:
    """The tour with the best move of one point to another place; None where none helps."""
    before, after = np.roll(order, 1), np.roll(order, -1)
    saved = far[before, order] + far[order, after] - far[before, after]
    added = far[np.ix_(order, order)] + far[np.ix_(order, after)] - far[order, after][None]
    gains = saved[:, None] - added
    index = np.arange(len(order))
    gains[index, index] = gains[index, index - 1] = 0.0
    which, where = np.unravel_index(int(np.argmax(gains)), gains.shape)
    if gains[which, where] <= 1e-9:
        return None
    rest = np.delete(order, which)
    at = int(np.flatnonzero(rest == order[where])[0])
    return np.insert(rest, at + 1, order[which])


def kicked(order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The tour with two neighbouring pieces swapped."""
    one, two, three = sorted(int(cut) for cut in rng.choice(np.arange(1, len(order)), 3, replace=False))
    return np.concatenate([order[:one], order[two:three], order[one:two], order[three:]])
