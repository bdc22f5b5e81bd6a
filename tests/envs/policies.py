"""Ways to act that lead to all kinds of ends, so that a comparison sees them; `act(rng, seed, observation, info)`."""

import numpy as np


def uniform(n):
    return lambda rng, seed, observation, info: int(rng.integers(n))


def balance(rng, seed, observation, info):
    """Push under the pole on every fifth seed, at random on the others."""
    return int(observation[2] + observation[3] > 0) if seed % 5 == 4 else rng.integers(2)


def swing(n):
    """With the motion on odd seeds, at random on even ones."""

    def act(rng, seed, observation, info):
        if seed % 2 and rng.random() < 0.95:
            return 2 if observation[1 if len(observation) == 2 else 4] > 0 else 0
        return int(rng.integers(n))

    return act


def pull(strongest):
    """Continuous: with the motion on every third seed, else at random and now and then beyond the limits."""

    def act(rng, seed, observation, info):
        if seed % 3 == 1:
            return np.array([strongest if observation[-1] >= 0 else -strongest], dtype=np.float32)
        reach = strongest * (1.5 if seed % 3 == 2 else 1.0)
        return rng.uniform(-reach, reach, 1).astype(np.float32)

    return act


def on_ice(rng, seed, observation, info):
    """Always up on every fourth seed, where no hole is; at random on the others."""
    return 3 if seed % 4 == 3 else rng.integers(4)


def along_the_cliff(rng, seed, observation, info):
    """Mostly up, right and down again on odd seeds."""
    if seed % 2 == 0 or rng.random() < 0.2:
        return int(rng.integers(4))
    return 0 if observation == 36 else 1 if observation % 12 < 11 else 2


def helpful_driver(rng, seed, observation, info):
    """Passengers in and out where that is possible, else somewhere at random."""
    mask = info["action_mask"]
    if rng.random() < 0.9 and mask[4:].any():
        return int(4 + np.argmax(mask[4:]))
    return int(rng.integers(6 if rng.random() < 0.1 else 4))
