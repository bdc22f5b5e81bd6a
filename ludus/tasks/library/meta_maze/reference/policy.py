"""Reference: draw a map, go to the nearest cell that was not tried, and once it is known take the shortest way."""

from collections import deque

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
Cell = tuple[int, int]


class Policy:
    """A map, cells that were stepped on, and the goal."""

    def __init__(self, seed: int) -> None:
        self.walls: dict[Cell, bool] = {}
        self.tried: set[Cell] = set()
        self.goal: Cell | None = None
        self.aim: Cell | None = None

    def act(self, observation: list[float]) -> int:
        """The first step of the shortest way to where it wants to be."""
        here = int(observation[9]), int(observation[10])
        for at in range(9):
            self.walls[here[0] + at // 3 - 1, here[1] + at % 3 - 1] = observation[at] == 1
        if observation[11] > 0:
            self.goal = self.goal or self.aim
        self.tried.add(here)
        move = self.way(here)
        self.aim = here[0] + MOVES[move][0], here[1] + MOVES[move][1]
        return move

    def way(self, here: Cell) -> int:
        """Search outwards until something wanted is met."""
        todo: deque[tuple[Cell, int]] = deque([(here, -1)])
        seen = {here}
        while todo:
            cell, first = todo.popleft()
            if first >= 0 and self.wanted(cell):
                return first
            for at, (up, on) in enumerate(MOVES):
                other = cell[0] + up, cell[1] + on
                if other not in seen and self.walls.get(other) is False:
                    seen.add(other)
                    todo.append((other, at if first < 0 else first))
        return 0

    def wanted(self, cell: Cell) -> bool:
        """The goal; before it is known, whatever was not tried."""
        return cell not in self.tried if self.goal is None else cell == self.goal
