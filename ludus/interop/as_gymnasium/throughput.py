"""How many times a second an environment steps, begins or draws."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from ludus.core import AutoresetMode
from ludus.core.env import AnyEnv
from ludus.core.vector_env import AnyVectorEnv

__all__ = ["benchmark_init", "benchmark_render", "benchmark_step", "benchmark_vector_step"]


def _rate(once: Callable[[], int], seconds: float) -> float:
    """The sum of what `once` counts, a second, over at least `seconds`."""
    count, begin = 0, perf_counter()
    while True:
        count += once()
        passed = perf_counter() - begin
        if passed > seconds:
            return count / passed


def benchmark_step(env: AnyEnv, target_duration: float = 5, seed: int | None = None) -> float:
    """Steps a second under random actions, resets included."""
    env.reset(seed=seed)

    def once() -> int:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
        return 1

    return _rate(once, target_duration)


def benchmark_vector_step(env: AnyVectorEnv, target_duration: float = 5, seed: int | None = None) -> float:
    """Steps of single lanes a second under random actions; a step that only resets a lane does not count."""
    env.action_space.seed(seed)
    env.reset(seed=seed)
    env.step(env.action_space.sample())
    env.reset(seed=seed)
    ended = np.zeros(env.num_envs, dtype=np.bool_)

    def once() -> int:
        nonlocal ended
        before = ended
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        ended = terminated | truncated
        if env.autoreset_mode is AutoresetMode.DISABLED and ended.any():
            env.reset(options={"reset_mask": ended})
        idle = int(before.sum()) if env.autoreset_mode is AutoresetMode.NEXT_STEP else 0
        return env.num_envs - idle

    return _rate(once, target_duration)


def benchmark_init(env_lambda: Callable[[], AnyEnv], target_duration: float = 5, seed: int | None = None) -> float:
    """Environments a second, made and reset."""

    def once() -> int:
        env_lambda().reset(seed=seed)
        return 1

    return _rate(once, target_duration)


def benchmark_render(env: AnyEnv, target_duration: float = 5) -> float:
    """Pictures a second."""

    def once() -> int:
        env.render()
        return 1

    return _rate(once, target_duration)
