"""Try a function in a sandboxed interpreter, then hand it in: `python examples/solve_a_coding_task.py`."""

import ludus
from ludus.envs.open import CodeAction

CELLS = (
    "def triangular(n):\n    return n * (n - 1) // 2",
    "print([triangular(n) for n in range(1, 6)], 'but 1, 3, 6, 10, 15 was asked for')",
    "def triangular(n):\n    return n * (n + 1) // 2",
    "submit()",
)

with ludus.make("open/Coding-v0", task="triangular") as env:
    observation, info = env.reset(seed=1)
    print(observation.stdout)
    for cell in CELLS:
        step = env.step(CodeAction(cell))
        print(f">>> {cell}\n{step.observation.stdout}{step.observation.stderr}", end="")
    print("reward", step.reward, step.info["reward_components"], step.info["outcome"])
