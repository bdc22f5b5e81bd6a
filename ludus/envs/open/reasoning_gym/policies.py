"""Ways to answer: with the answer, with a number, with nothing, and with nonsense."""

import numpy as np

from ludus.envs.open.reasoning_gym.reasoning_gym import ReasoningGym, ReasoningGymAction, ReasoningGymObservation

__all__ = ["POLICIES"]


def oracle(env: ReasoningGym, observation: ReasoningGymObservation, rng: np.random.Generator) -> ReasoningGymAction:
    """What the generator has as right."""
    del observation, rng
    entry: dict[str, object] = env.get_wrapper_attr("_entry")
    return ReasoningGymAction(str(entry["answer"]))


def random(env: object, observation: ReasoningGymObservation, rng: np.random.Generator) -> ReasoningGymAction:
    """Any number."""
    del env, observation
    return ReasoningGymAction(str(int(rng.integers(500))))


def nop(env: object, observation: ReasoningGymObservation, rng: np.random.Generator) -> ReasoningGymAction:
    """Nothing."""
    del env, observation, rng
    return ReasoningGymAction("")


def garbage(env: object, observation: ReasoningGymObservation, rng: np.random.Generator) -> ReasoningGymAction:
    """Signs in no order."""
    del env, observation
    return ReasoningGymAction("".join(rng.choice(list("[]()é☃%$ \n-"), 30).tolist()))


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
