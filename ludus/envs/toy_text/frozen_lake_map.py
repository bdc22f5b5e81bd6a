"""Maps of frozen lakes: the two known ones, random ones, and the check of any other."""

from collections.abc import Iterable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.seeding import Seed, np_random
from ludus.spaces.kinds import is_array, is_iterable

__all__ = ["MAPS", "generate_random_map", "read_map"]

MAPS = {
    "4x4": ["SFFF", "FHFH", "FFFH", "HFFG"],
    "8x8": [
        "SFFFFFFF",
        "FFFFFFFF",
        "FFFHFFFF",
        "FFFFFHFF",
        "FFFHFFFF",
        "FHHFFFHF",
        "FHFFHFHF",
        "FFFHFFFG",
    ],
}
TILES = "SFHG"
MAX_TRIES = 20_000


def generate_random_map(size: int = 8, p: float = 0.8, seed: Seed | None = None) -> list[str]:
    """A random square map on which the goal can be reached; each tile is frozen with probability `p`, else a hole.

    >>> generate_random_map(size=3, seed=0)
    ['SFF', 'FHH', 'FFG']
    """
    if not isinstance(size, int) or size < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgument(f"generate_random_map size: expected an integer from 2, got {shorten(size)}")
    if not isinstance(p, int | float) or not p > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgument(f"generate_random_map p: expected a probability above 0, got {shorten(p)}")
    rng, _ = np_random(seed)
    frozen = min(1, p)
    for _ in range(MAX_TRIES):
        board = rng.choice(["F", "H"], (size, size), p=[frozen, 1 - frozen])
        board[0][0], board[-1][-1] = "S", "G"
        if _goal_is_reachable(board):
            return ["".join(row) for row in board]
    raise InvalidArgument(
        f"generate_random_map: expected a map with a way to the goal, got none in {MAX_TRIES} tries with size={size}, "
        f"p={p}; raise p"
    )


def _goal_is_reachable(board: NDArray[np.str_]) -> bool:
    size = len(board)
    seen, frontier = {(0, 0)}, [(0, 0)]
    while frontier:
        row, column = frontier.pop()
        for place in ((row + 1, column), (row, column + 1), (row - 1, column), (row, column - 1)):
            if place in seen or not (0 <= place[0] < size and 0 <= place[1] < size) or board[place] == "H":
                continue
            if board[place] == "G":
                return True
            seen.add(place)
            frontier.append(place)
    return False


def read_map(desc: object, map_name: str | None) -> NDArray[np.bytes_]:
    """The tiles of a description, or else of a named map, or else of a random one; one byte a tile.

    >>> read_map(["SF", "HG"], None).shape
    (2, 2)
    """
    if desc is None and map_name is None:
        desc = generate_random_map()
    elif desc is None:
        if map_name not in MAPS:
            raise InvalidArgument(
                f"FrozenLake map_name: expected {listing(map(repr, MAPS))} or None, got {shorten(map_name)}; "
                "pass your own map as desc"
            )
        desc = MAPS[map_name]
    rows = _rows(desc)
    tiles = "".join(rows)
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise InvalidArgument(f"FrozenLake desc: expected rows of one length, got {shorten(rows)}")
    strange = sorted(set(tiles) - set(TILES))
    if strange:
        raise InvalidArgument(
            "FrozenLake desc: expected tiles S (start), F (frozen), H (hole) and G (goal), "
            f"got {listing(map(repr, strange))}"
        )
    if "S" not in tiles:
        raise InvalidArgument(f"FrozenLake desc: expected at least one S to start from, got none in {shorten(rows)}")
    return np.asarray(rows, dtype="c")


def _rows(desc: object) -> list[str]:
    given: object = desc.astype(str).tolist() if is_array(desc) else desc
    try:
        if isinstance(given, str) or not is_iterable(given):
            raise TypeError
        return [row if isinstance(row, str) else "".join(map(_letter, cast(Iterable[object], row))) for row in given]
    except TypeError as error:
        raise InvalidType(
            f'FrozenLake desc: expected a list of rows like ["SFFF", "FHFH", "FFFH", "HFFG"], got {shorten(desc)}'
        ) from error


def _letter(tile: object) -> str:
    return tile.decode() if isinstance(tile, bytes) else str(tile)
