"""Goals that a submitted policy reaches: mazes are here, steps come from the submitted program."""

import json
from collections import deque

import numpy as np
from maze import SIDE, STEPS, Maze, Params, reset

from ludus.tasks.inside.case import Case, Instance, Rejected

SECONDS = 60.0


def grade(case: Case) -> dict[str, float]:
    """Walk through every maze of the split."""
    seeds: list[int] = json.loads((case.hidden / "seeds.json").read_text())[case.split]
    with case.program("policy.py", seconds=SECONDS) as program:
        goals = [walked(program.make("Policy", at), seed) for at, seed in enumerate(seeds)]
    shares = [reached / possible(seed) for reached, seed in zip(goals, seeds, strict=True)]
    return {"share": float(np.mean(shares)), "goals": float(np.mean(goals))}


def walked(policy: Instance, seed: int) -> float:
    """The goals of one episode."""
    env, total, done = Maze(), 0.0, False
    observation, _ = env.reset(seed=seed)
    while not done:
        action = policy.call("act", observation.tolist())
        if isinstance(action, bool) or not isinstance(action, int) or not 0 <= action <= 3:
            raise Rejected("policy.py: expected act to return 0, 1, 2 or 3, got something else")
        observation, reward, terminated, truncated, _ = env.step(action)
        total, done = total + float(reward), terminated or truncated
    return total


def possible(seed: int) -> float:
    """How often the goal could be reached by somebody who knows the maze: the steps, by those of the shortest way."""
    state = reset(np.random.default_rng(seed), Params())
    half = SIDE // 2
    goal = 1 + 2 * (state.goal // half), 1 + 2 * (state.goal % half)
    far = {(state.row, state.column): 0}
    todo = deque(far)
    while goal not in far:
        row, column = todo.popleft()
        for other in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if other not in far and state.walls[other] == 0:
                far[other] = far[row, column] + 1
                todo.append(other)
    return float(STEPS // far[goal])
