"""Ms. Pac-Man by looking ahead: try every direction from a snapshot, and go where most is eaten and nobody dies."""

import numpy as np

import ludus
from ludus.envs.open import AtariAction

AHEAD, MOVES = 6, 40


def gained(env: ludus.Env, action: int) -> float:
    """What there is to gain by holding an action for a while."""
    steps = [env.step(AtariAction(action_id=action)) for _ in range(AHEAD)]
    return sum(0.9**at * one.reward - 500 * one.info["facts"]["life_lost"] for at, one in enumerate(steps))


def best(env: ludus.Env, rng: np.random.Generator) -> int:
    """The action that gains most; among equals, any."""
    here, found = env.snapshot(), []
    for action in range(1, 5):  # up, right, left, down
        found.append(gained(env, action) + rng.random())
        env.restore(here)
    return 1 + int(np.argmax(found))


with ludus.make("open/Atari-ms_pacman-v0", obs_type="ram", noop_max=0) as env:
    for name in ("looking ahead", "at random"):
        observation, info = env.reset(seed=0)
        rng, score = np.random.default_rng(0), 0.0
        for number in range(65 + MOVES):  # a melody comes first
            action = 0 if number < 65 else best(env, rng) if name == "looking ahead" else int(rng.integers(1, 5))
            score += env.step(AtariAction(action_id=action)).reward
        print(f"{name}: {score:.0f} points after {MOVES} moves")
