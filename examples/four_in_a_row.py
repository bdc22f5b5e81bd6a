"""Four in a row by snapshots: win if a move wins, else avoid moves that lose: `python examples/four_in_a_row.py`."""

import ludus
from ludus.envs.open import Connect4Action

env = ludus.make("open/Connect4-v0", depth=2)
won = 0
for seed in range(5):
    observation, info = env.reset(seed=seed)
    step = None
    while step is None or not step.done:
        here, worth = env.snapshot(), {}
        for column in sorted(observation.legal_actions, key=lambda one: abs(one - 3)):
            worth[column] = env.step(Connect4Action(column)).reward
            env.restore(here)
        step = env.step(Connect4Action(max(worth, key=worth.__getitem__)))
        observation = step.observation
    won += step.info["facts"]["won"]
    print(f"seed {seed}: {step.info['outcome']}")
print(f"{won} of 5 games against an opponent that looks two moves ahead")
