"""Episodes of the open environments, played by the policies that come with them."""

import numpy as np

from ludus.core import Outcome
from ludus.errors import InvalidAction, InvalidValue


def play(env, policy, seed, most=200):
    """Return, outcome and how many actions were refused; who is refused `most` times over has stopped."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    total, refused = 0.0, 0
    for _ in range(most):
        try:
            step = env.step(policy(env.unwrapped, observation, rng))
        except (InvalidAction, InvalidValue):
            refused += 1
            continue
        observation, total, info = step.observation, total + step.reward, step.info
        if step.done:
            break
    return total, Outcome.told(info.get("outcome")), refused


def mean_returns(make, policies, seeds=range(20), most=200):
    """The mean return of each policy over the seeds, and which ever won."""
    means, winners = {}, set()
    for name, policy in policies.items():
        env = make()
        played = [play(env, policy, seed, most) for seed in seeds]
        means[name] = float(np.mean([one[0] for one in played]))
        if any(outcome is Outcome.SUCCESS for _, outcome, _ in played):
            winners.add(name)
        env.close()
    return means, winners
