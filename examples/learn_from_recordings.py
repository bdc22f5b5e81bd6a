"""Learn from what was recorded: an expert balances the pole in a batch, a linear policy imitates the file it left."""

import tempfile

import numpy as np

import ludus
from ludus.trajectory import Recorder, Run, StepDataset

path = tempfile.mkdtemp() + "/expert.ludus"

with Recorder(ludus.make_vec("CartPole-v1", 16), path, "full") as envs:
    seen, _ = envs.reset(seed=0)
    for _ in range(300):
        seen, *_ = envs.step((seen @ [0.2, 0.5, 3.0, 1.0] > 0).astype(np.int64))

run = Run.open(path)
steps = StepDataset(run, masked=True)  # cut off, and good to learn from; by number, as torch's DataLoader takes them
print(run, f"{len(steps)} steps")

weights, rng = np.zeros(4), np.random.default_rng(0)
for epoch in range(3):
    for _ in range(100):
        rows = [steps[number] for number in np.sort(rng.choice(len(steps), 64))]
        x, y = np.stack([row["observation"] for row in rows]), np.array([row["action"] for row in rows])
        right = 1 / (1 + np.exp(-x @ weights))  # how likely the policy goes right
        weights += x.T @ (y - right) / len(rows) * 60
    agreed = np.mean((x @ weights > 0) == y)
    print(f"epoch {epoch}: acts as the expert does in {agreed:.0%} of the steps")

env = ludus.make("CartPole-v1")
seen, total, over = env.reset(seed=100)[0], 0.0, False
while not over:
    seen, reward, terminated, truncated, _ = env.step(int(seen @ weights > 0))
    total, over = total + reward, terminated or truncated
print(f"the pupil's return: {total:.0f}")
