"""A batch of gymnax's on the CPU: steps of all lanes in one compiled scan, with autoreset. Needs gymnax, not Ludus."""

import os
import warnings
from importlib import import_module
from importlib.metadata import version

import numpy as np

__all__: list[str] = []


class TimedBatch:
    """The batch of an id. One call steps each lane through the whole ring, as its users compile it.

    What every step gives is given, as by the others: observations, rewards and both flags.
    """

    def __init__(self, id: str, lanes: int, ring: int) -> None:
        warnings.simplefilter("ignore")
        os.environ["JAX_PLATFORMS"] = "cpu"
        jax = import_module("jax")
        gymnax = import_module("gymnax")
        if id not in gymnax.registered_envs:
            raise LookupError(f"gymnax has no environment {id}")
        env, params = gymnax.make(id)
        keys, split = jax.random.split(jax.random.key(0), 3), jax.random.split
        draw = jax.vmap(jax.vmap(env.action_space(params).sample))
        self.turns, self._jax = ring, jax
        actions = draw(split(keys[0], (ring, lanes)))
        self.actions: list[object] = [actions]
        self.held = int(actions.nbytes)
        self.about = {"gymnax": version("gymnax"), "jax": version("jax"), "numpy": np.__version__}
        _, state = jax.vmap(env.reset, (0, None))(split(keys[1], lanes), params)

        def turn(carry: tuple[object, object], action: object) -> tuple[object, object]:
            key, state = carry
            key, drawn = split(key)
            found = jax.vmap(env.step, (0, 0, 0, None))(split(drawn, lanes), state, action, params)
            observation, state, reward, terminated, truncated, _ = found
            return (key, state), (observation, reward, terminated, truncated)

        def scan(carry: object, actions: object) -> object:
            return jax.lax.scan(turn, carry, actions)

        self._scan = jax.jit(scan, donate_argnums=0)
        self._carry = keys[2], state

    def step(self, actions: object) -> object:
        """Every lane through the ring."""
        self._carry, given = self._scan(self._carry, actions)
        return self._jax.block_until_ready(given)

    def close(self) -> None:
        """Let go of the state."""
        del self._carry
