"""What stands for `trl` where its example scripts are tried: a trainer whose players do what a model would.

`scripts/trl_examples.py` copies this file as `trl.py`. Players' rewards depend on no secret: each wins, or never could.
"""

import json
import re
from collections.abc import Callable
from typing import Any

Grid = list[list[int]]
CELLS = [(row, col) for row in range(9) for col in range(9)]


class GRPOConfig:
    """Takes whatever a script sets."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


class RichProgressCallback:
    """Shows nothing."""


# --- a number, or a word ---


def bisect(env: Any, text: str) -> None:
    """Guess between the bounds that all hints in the whole text leave; the text is what a model would have read."""
    low, high, whole, guesses = 1, 20, text, list[int]()
    while not env.done:
        for guess, hint in zip(guesses, re.findall(r"number is (higher|lower)", whole), strict=False):
            low, high = (max(low, guess + 1), high) if hint == "higher" else (low, min(high, guess - 1))
        guesses.append((low + high) // 2)
        whole += env.guess(f"[{guesses[-1]}]")


def nonsense(env: Any, text: str) -> None:
    """Guess what is no guess."""
    del text
    while not env.done:
        env.guess("I do not know")


def forgets_brackets(env: Any, text: str) -> None:
    """Invalid once, and then as good as any."""
    env.guess("[none of them]")
    bisect(env, text)


def leaves(_env: Any, _: str) -> None:
    """Do nothing."""


# --- a falling ball ---


def catches(env: Any, text: str) -> None:
    """Move to where the ball falls."""
    while not env.done:
        text = env.move("left") if "LEFT" in text else env.move("right") if "RIGHT" in text else env.stay()


def misses(env: Any, text: str) -> None:
    """Move away from it."""
    while not env.done:
        text = env.move("left" if "RIGHT" in text else "right")


# --- Sudoku ---


def grid(text: str) -> Grid:
    """The last board in a text; 0 is an empty cell."""
    rows = [re.sub(r"[^0-9.]", "", line)[1:] for line in text.splitlines() if re.match(r"\s*R[1-9]", line)]
    return [[0 if one == "." else int(one) for one in row] for row in rows[-9:]]


def fitting(cells: Grid, row: int, col: int) -> set[int]:
    """The numbers that a cell may have."""
    box = [cells[r][c] for r, c in CELLS if (r // 3, c // 3) == (row // 3, col // 3)]
    return {*range(1, 10)} - {*cells[row], *(one[col] for one in cells), *box}


def solved(cells: Grid) -> Grid | None:
    """The whole board, filled in place; None where there is none."""
    empty = [(len(fitting(cells, row, col)), row, col) for row, col in CELLS if not cells[row][col]]
    if not empty:
        return cells
    _, row, col = min(empty)
    for number in sorted(fitting(cells, row, col)):
        cells[row][col] = number
        if solved(cells):
            return cells
    cells[row][col] = 0
    return None


def solves(env: Any, text: str) -> None:
    """Fill every cell as it should be."""
    begun = grid(text)
    whole = solved([row[:] for row in begun]) or begun
    for row, col in CELLS:
        if not begun[row][col]:
            env.place(row + 1, col + 1, whole[row][col])


def overwrites(env: Any, text: str) -> None:
    """Change a number that is given, until that is the end."""
    begun = grid(text)
    row, col = next(one for one in CELLS if begun[one[0]][one[1]])
    while not env._done:
        env.place(row + 1, col + 1, begun[row][col] % 9 + 1)


# --- the others ---


def says(env: Any, text: str) -> list[str]:
    """Say something twice."""
    del text
    return [env.echo("Hello World!"), env.echo("ž")]


def clicks(env: Any, text: Any) -> None:
    """Click the one button of click-test."""
    if not isinstance(text, str):  # what a model that reads pictures is given: text among them
        text = " ".join(str(one.get("text", "")) for one in text)
    found = re.search(r"\[(\w+)\] button", text)
    env.click(found[1] if found else "13")


def waits(env: Any, _: str) -> None:
    """Do nothing, once."""
    env.noop()


def looks(env: Any, _: str) -> Any:
    """Look where the car is."""
    return env.observe()


def brakes(env: Any, _: str) -> Any:
    """Stop."""
    return [env.observe(), env.emergency_stop()]


def swerves(env: Any, _: str) -> Any:
    """Go to the left."""
    return env.lane_change("left")


Player = Callable[[Any, Any], Any]
PLAYERS: dict[str, list[Player]] = {
    "guess": [bisect, nonsense, forgets_brackets, leaves],
    "move": [catches, misses, leaves],
    "place": [solves, overwrites, leaves],
    "echo": [says, leaves],
    "click": [clicks, waits],
    "lane_change": [looks, brakes, swerves],
}
"""By a tool that the script gives a model."""
TOOLS = {"wordle": "guess", "catch": "move"}
"""Of a script with several environments, by the column of its dataset that names them."""
CLIENTS = ("client", "env", "_wordle_client", "_catch_client")


class GRPOTrainer:
    """Has every player play once, and prints the rewards that the script gives."""

    def __init__(self, *, reward_funcs: Any, environment_factory: Any, train_dataset: Any, **given: Any) -> None:
        del given
        self.factory = environment_factory
        self.kinds: list[str] = sorted(set(train_dataset.columns.get("env", [])))
        self.rewards = reward_funcs if isinstance(reward_funcs, list) else [reward_funcs]

    def train(self) -> None:
        """Play."""
        rewards: dict[str, Any] = {}
        if not self.kinds:
            probe = self.factory()
            [players] = [some for tool, some in PLAYERS.items() if hasattr(probe, tool)]
            rewards = {player.__name__: self.played(player, {}) for player in players}
        for kind in self.kinds:
            rewards |= {f"{kind} {one.__name__}": self.played(one, {"env": kind}) for one in PLAYERS[TOOLS[kind]]}
        print("TOLD " + json.dumps(rewards), flush=True)

    def played(self, player: Player, row: dict[str, str]) -> Any:
        """The rewards of one episode, and what its player was told, which is to be equal as well."""
        env = self.factory()
        text = env.reset(**row) or ""
        try:
            said = player(env, text)
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]
        rewards = [one(environments=[env], completions=[[]], prompts=[[]])[0] for one in self.rewards]
        for close in (getattr(getattr(env, name, None), "close", None) for name in CLIENTS):
            if close is not None:
                close()
        return rewards if said is None else [*rewards, str(said)]

    def save_model(self, *args: Any, **named: Any) -> None:
        """There is none."""
