"""Two environments in lockstep: the same seeds and actions, and every value, dtype and type compared."""

import numpy as np


def same(a, b):
    """Whether two values are the same bits of the same kind; a NumPy double is as good as Python's."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):  # np.float64 is one
        return isinstance(b, float) and a.hex() == b.hex()
    return type(a) is type(b) and a == b


def play(theirs, ours, act, *, seeds, steps, options=None):
    """Play `steps` steps from each seed; returns how many episodes terminated and how many were truncated."""
    terminations = truncations = 0
    for seed in seeds:
        observation, info = first = theirs.reset(seed=seed, options=options)
        compare("reset", seed, 0, first, ours.reset(seed=seed, options=options))
        rng = np.random.default_rng(seed)
        for step in range(steps):
            action = act(rng, seed, observation, info)
            observation, _, terminated, truncated, info = expected = theirs.step(action)
            compare("step", seed, step, expected, without_outcome(ours.step(action)))
            if terminated or truncated:
                terminations += terminated
                truncations += truncated
                observation, info = first = theirs.reset()
                compare("reset", seed, step, first, ours.reset())
    return terminations, truncations


def without_outcome(step):
    """What Gymnasium tells, too: how an episode ended is told beside it, with the last step."""
    observation, reward, terminated, truncated, given = step  # a plain tuple of a subclass, maybe
    info = dict(given)
    told = info.pop("outcome", None)
    assert told is None or terminated or truncated
    return observation, reward, terminated, truncated, info


def compare(what, seed, step, theirs, ours):
    assert same(theirs, ours), f"seed {seed}, step {step}: {what} gave {ours}, expected {theirs}"
