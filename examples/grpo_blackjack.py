"""GRPO at blackjack: groups of hands from one deal, advantages within the group, a linear policy in NumPy."""

import numpy as np

import ludus
from ludus.envs.open import OpenSpielAction

GROUPS, SIZE, RATE = 500, 12, 0.5


def episode(env: ludus.Env, seed: int, weights: np.ndarray, rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """One hand of the deal that `seed` stands for: its reward, and the gradient of its actions' log-probability."""
    observation, _ = env.reset(seed=seed)
    gradient, over, reward = np.zeros_like(weights), False, 0.0
    while not over:
        hit = 1 / (1 + np.exp(-(weights @ observation.info_state)))
        action = 0 if rng.random() < hit else 1  # hit or stand
        gradient += ((action == 0) - hit) * observation.info_state
        observation, reward, over, _, _ = env.step(OpenSpielAction(action_id=action))
    return reward, gradient


def mean_reward(env: ludus.Env, weights: np.ndarray) -> float:
    """Over a thousand deals that were never learned from."""
    rng = np.random.default_rng(0)
    return float(np.mean([episode(env, seed, weights, rng)[0] for seed in range(10**6, 10**6 + 1000)]))


env = ludus.make("open/OpenSpiel-blackjack-v0")
observation, _ = env.reset(seed=0)
rng, weights = np.random.default_rng(0), np.zeros(observation.info_state.size)
print(f"at random: {mean_reward(env, weights):+.3f} a hand")
for group in range(GROUPS):
    played = [episode(env, group, weights, rng) for _ in range(SIZE)]  # one seed is one deal, for all of the group
    rewards = np.array([reward for reward, _ in played])
    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
    weights += RATE * np.mean([one * gradient for one, (_, gradient) in zip(advantages, played, strict=True)], axis=0)
print(f"after {GROUPS} groups of {SIZE}: {mean_reward(env, weights):+.3f} a hand")
