"""A batch of Gymnasium's, by any of its modes: `vector_entry_point`, `sync` or `async`. Needs Gymnasium, not Ludus."""

import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

__all__: list[str] = []

WORKLOADS = "ludus.benchmarks.workloads:"
"""What is not Gymnasium's own but made here, to be the same work as ours of that name."""


class TimedBatch:
    """The batch of an id and a mode."""

    turns = 1

    def __init__(self, id: str, lanes: int, ring: int, mode: str) -> None:
        warnings.simplefilter("ignore")
        gymnasium = import_module("gymnasium")
        if id.startswith(WORKLOADS):
            vector, kind = gymnasium.vector, workload(gymnasium, id.removeprefix(WORKLOADS))
            kinds = {"sync": vector.SyncVectorEnv, "async": vector.AsyncVectorEnv}
            self._envs = kinds[mode]([kind] * lanes)
        elif id not in gymnasium.registry:
            raise LookupError(f"Gymnasium has no environment {id}")
        else:
            self._envs = gymnasium.make_vec(id, num_envs=lanes, vectorization_mode=mode)
        space = self._envs.action_space
        space.seed(0)
        self.actions = [space.sample() for _ in range(ring)]
        self.held = sum(getattr(one, "nbytes", 0) for one in self.actions)
        self.about = {"gymnasium": gymnasium.__version__, "numpy": np.__version__}
        self._envs.reset(seed=0)
        self.step = self._envs.step

    def close(self) -> None:
        """Close the batch."""
        self._envs.close()


def workload(gymnasium: ModuleType, name: str) -> type:
    """Gymnasium's form of `ludus.benchmarks.workloads`. A class made in a function travels to workers by value."""
    box, discrete = gymnasium.spaces.Box, gymnasium.spaces.Discrete

    bottom: Any = gymnasium.Env

    class GymnasiumCheap(bottom):
        observation_space, action_space, length = box(0.0, 1000.0, (4,), np.float32), discrete(2), 200

        def reset(self, *, seed: int | None = None, options: object = None) -> tuple[object, dict[str, object]]:
            bottom.reset(self, seed=seed)
            self.count = 0
            return np.full(4, 0.0, np.float32), {}

        def step(self, action: object) -> tuple[object, float, bool, bool, dict[str, object]]:
            self.count += 1
            return np.full(4, self.count, np.float32), 1.0, self.count >= self.length, False, {}

    class GymnasiumPictures(GymnasiumCheap):
        observation_space = box(0, 255, (84, 84, 4), np.uint8)
        frames = np.random.default_rng(0).integers(0, 256, (8, 84, 84, 4), dtype=np.uint8)

        def reset(self, *, seed: int | None = None, options: object = None) -> tuple[object, dict[str, object]]:
            super().reset(seed=seed)
            return self.frames[0], {}

        def step(self, action: object) -> tuple[object, float, bool, bool, dict[str, object]]:
            self.count += 1
            return self.frames[self.count % 8], 1.0, self.count >= self.length, False, {}

    return {"Cheap": GymnasiumCheap, "Pictures": GymnasiumPictures}[name]
