"""Torch's own DataLoader takes our steps, in this process and in workers; run by `test_peers.py`."""

import tempfile

import torch
from torch.utils.data import DataLoader

import ludus
from ludus.trajectory import Recorder, Run, StepDataset


def main():
    path = tempfile.mkdtemp() + "/run.ludus"
    with Recorder(ludus.make_vec("CartPole-v1", 4), path, "full") as envs:
        envs.action_space.seed(0)
        envs.reset(seed=0)
        for _ in range(100):
            envs.step(envs.action_space.sample())
    steps = StepDataset(Run.open(path))
    for workers in (0, 2):
        seen = 0
        for batch in DataLoader(steps, batch_size=32, shuffle=True, num_workers=workers):
            assert batch["observation"].dtype == torch.float32
            assert batch["observation"].shape[1:] == batch["next_observation"].shape[1:] == (4,)
            assert batch["reward"].shape == batch["action"].shape
            seen += len(batch["reward"])
        assert seen == len(steps)
    ordered = next(iter(DataLoader(steps, batch_size=8)))
    assert torch.equal(ordered["observation"][1], torch.as_tensor(steps[1]["observation"]))
    print("ok")


if __name__ == "__main__":
    main()
