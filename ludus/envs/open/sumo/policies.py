"""Ways to run lights: by the longest queue, at random, never changing, and with what is no phase."""

import numpy as np

from ludus.envs.open.sumo.sumo_rl import SumoAction, SumoObservation, SumoRL
from ludus.envs.open.sumo.traffic import Traffic

__all__ = ["POLICIES"]


def oracle(env: SumoRL, observation: SumoObservation, rng: np.random.Generator) -> SumoAction:
    """The phase that lets most of those go who stand; the one there is where that makes no difference."""
    del rng
    traffic: Traffic = env.get_wrapper_attr("_traffic")
    number = [light.id for light in env.network.lights].index(observation.ts_id)
    view = traffic.view(number)
    standing = [view.stopped_by(phase) for phase in range(len(view.light.phases))]
    best = int(np.argmax(standing))
    return SumoAction(best if standing[best] > standing[view.phase] else view.phase, observation.ts_id)


def random(env: object, observation: SumoObservation, rng: np.random.Generator) -> SumoAction:
    """Any phase."""
    del env
    return SumoAction(int(rng.choice(observation.action_mask)), observation.ts_id)


def nop(env: object, observation: SumoObservation, rng: np.random.Generator) -> SumoAction:
    """The first phase for ever."""
    del env, observation, rng
    return SumoAction(0)


def garbage(env: object, observation: SumoObservation, rng: np.random.Generator) -> object:
    """What is no phase."""
    del env, observation
    wrong: list[object] = [SumoAction(99), SumoAction(-1), SumoAction(0, "nowhere"), {"phase_id": "green"}, {}, None, 1]
    return wrong[int(rng.integers(len(wrong)))]


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
