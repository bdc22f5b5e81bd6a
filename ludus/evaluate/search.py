"""Agents that search: they try actions in forks of the lane they play in, and take the one that went best.

A fork draws from a stream of its own: who searches knows the rules of the environment, and not what it will draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, Self, TypeGuard

import numpy as np

from ludus.core import Info
from ludus.core.env import AnyEnv
from ludus.core.info import lane_info
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument, InvalidType
from ludus.evaluate.agents import Agent, Mask, RandomAgent
from ludus.spaces import Discrete, Space
from ludus.spaces.array_space import Array

__all__ = ["MctsAgent", "OneStepAgent", "SearchAgent"]


class SearchAgent(Agent[object, object]):
    """What searching agents share: forks of a lane, played on at random for some steps. A subclass defines `chosen`.

    It takes one of several integers as actions, and a batch in this process, whose lanes can be copied.

    >>> SearchAgent().rollouts
    16
    """

    def __init__(self, rollouts: int = 16, depth: int = 30, discount: float = 0.99) -> None:
        if rollouts < 1 or depth < 1 or not 0 < discount <= 1:
            raise InvalidArgument(
                "search: expected rollouts and depth of at least 1 and a discount up to 1, got "
                f"{rollouts}, {depth} and {discount}"
            )
        self.rollouts, self.depth, self.discount = rollouts, depth, discount
        self._rngs: dict[int, np.random.Generator] = {}

    def prepare(self, observation_space: Space[object], action_space: Space[object], num_envs: int) -> Self:
        """Refuse actions that cannot be tried one by one."""
        if not isinstance(action_space, Discrete):
            raise InvalidType(f"{type(self).__name__}: expected actions of Discrete(n), got {action_space!r}")
        self._choice = action_space
        return super().prepare(observation_space, action_space, num_envs)

    def attach(self, envs: AnyVectorEnv) -> None:
        """Take the batch that is played in."""
        self.envs = envs

    def begin(self, lane: int, seed: int) -> None:
        """A stream for each episode."""
        self._rngs[lane] = np.random.default_rng(seed)

    def act(self, observation: object, info: Info, lane: int) -> int:
        """The action that went best."""
        del observation
        return int(self.chosen(self._legal(info), lane))

    def chosen(self, legal: Array, lane: int) -> int:
        """One of the legal actions."""
        raise NotImplementedError(f"{type(self).__name__} defines no chosen(legal, lane)")

    def _legal(self, info: Info) -> Array:
        space, mask = self._choice, info.get("action_mask")
        return space.start + (np.arange(int(space.n)) if mask is None else np.flatnonzero(mask))

    def played(self, lane: int, prefixes: list[list[int]]) -> Array:
        """The discounted return of each list of actions, played in a fork of its own and then on at random."""
        rng, count = self._rngs[lane], len(prefixes)
        with _forked(self.envs, lane, count, rng) as fork:
            policy = RandomAgent().prepare(self.observation_space, self.action_space, count)
            for one, seed in enumerate(rng.integers(1 << 62, size=count).tolist()):
                policy.begin(one, seed)
            returns, active = np.zeros(count), np.ones(count, np.bool_)
            seen: object = None
            info: Info = {}
            for step in range(max(map(len, prefixes)) + self.depth):
                actions = self._moves(prefixes, step, policy, (seen, info, active))
                seen, reward, terminated, truncated, info = fork.step_masked(actions, active)
                returns[active] += self.discount**step * np.asarray(reward)[active]
                active &= ~(np.asarray(terminated) | np.asarray(truncated))
                if not active.any():
                    break
        return returns

    def _moves(self, prefixes: list[list[int]], step: int, policy: Agent, state: tuple[object, Info, Mask]) -> Array:
        seen, info, active = state
        space = self._choice
        given = np.array([one[step] if step < len(one) else -1 for one in prefixes])
        free = active & np.array([step >= len(one) for one in prefixes])
        drawn = np.asarray(policy.act_batch(seen, info, free)) if free.any() else np.full(len(given), space.start)
        if "action_mask" in info:  # what was legal when it was planned may not be any more
            for one in np.flatnonzero(active & ~free).tolist():
                legal = self._legal(lane_info(info, one))
                given[one] = given[one] if given[one] in legal else legal[0]
        return np.where(free | ~active, drawn, given).astype(space.dtype)


class OneStepAgent(SearchAgent):
    """Tries every action once, plays on at random, and takes the one with the best mean.

    >>> from ludus.evaluate import evaluate
    >>> found = evaluate("CartPole-v1", OneStepAgent(rollouts=8, depth=15), episodes=2, max_steps=60)
    >>> bool(found.totals().mean() > 40)
    True
    """

    def chosen(self, legal: Array, lane: int) -> int:
        """The best by the mean of its rollouts."""
        if len(legal) == 1:
            return int(legal[0])
        returns = self.played(lane, [[int(one)] for one in legal for _ in range(self.rollouts)])
        return int(legal[np.argmax(returns.reshape(len(legal), -1).mean(axis=1))])


class _Node:
    """A list of actions from here on: how often it was played, and what came of it."""

    __slots__ = ("children", "total", "visits")

    def __init__(self) -> None:
        self.visits, self.total = 0, 0.0
        self.children: dict[int, _Node] = {}

    def best(self, legal: Array, curiosity: float) -> int:
        """The action with the best upper bound; those that were never played come first."""
        spread = max((abs(one.total / one.visits) for one in self.children.values()), default=1.0) or 1.0

        def bound(action: int) -> float:
            child = self.children.get(action)
            if child is None:
                return math.inf
            return child.total / child.visits + curiosity * spread * math.sqrt(math.log(self.visits) / child.visits)

        return max((int(one) for one in legal), key=bound)


class MctsAgent(SearchAgent):
    """Monte Carlo tree search over lists of actions (open loop, so that it holds for random environments too).

    `iterations` times it follows the best upper bounds to a list that was not played before, plays it in `rollouts`
    forks, and takes what came of them back to all of its beginnings. Then the action that was played most is taken.

    >>> from ludus.evaluate import evaluate
    >>> found = evaluate("CliffWalking-v1", MctsAgent(iterations=12, rollouts=4, depth=8), episodes=1, max_steps=20)
    >>> bool(found.totals()[0] >= -20.0)
    True
    """

    def __init__(
        self,
        iterations: int = 32,
        rollouts: int = 8,
        depth: int = 30,
        discount: float = 0.99,
        curiosity: float = 0.7,
    ) -> None:
        super().__init__(rollouts, depth, discount)
        if iterations < 1:
            raise InvalidArgument(f"MctsAgent: expected at least 1 iteration, got {iterations}")
        self.iterations, self.curiosity = iterations, curiosity

    def chosen(self, legal: Array, lane: int) -> int:
        """The action that was played most."""
        if len(legal) == 1:
            return int(legal[0])
        root, space = _Node(), self._choice
        everything = space.start + np.arange(int(space.n))
        for _ in range(self.iterations):
            path, actions = [root], list[int]()
            while True:
                action = path[-1].best(legal if len(path) == 1 else everything, self.curiosity)
                actions.append(action)
                is_new = action not in path[-1].children
                path.append(path[-1].children.setdefault(action, _Node()))
                if is_new or len(actions) >= self.depth:
                    break
            returns = self.played(lane, [actions] * self.rollouts)
            for node in path:
                node.visits += self.rollouts
                node.total += float(returns.sum())
        return max(root.children, key=lambda one: (root.children[one].visits, root.children[one].total))


class CompiledLanes(Protocol):
    """A batch whose lanes are rows of arrays."""

    def lane_columns(self, *names: str) -> tuple[Array, ...]:
        """The arrays of these names."""
        ...


class SeparateLanes(Protocol):
    """A batch of environments that are objects of this process."""

    envs: Sequence[AnyEnv]


def _is_compiled(envs: object) -> TypeGuard[CompiledLanes]:
    return hasattr(envs, "lane_columns")


def _has_lanes(envs: object) -> TypeGuard[SeparateLanes]:
    return hasattr(envs, "envs")


def _forked(envs: AnyVectorEnv, lane: int, count: int, rng: np.random.Generator) -> AnyVectorEnv:
    """So many copies of a lane, each with a stream of its own."""
    fork = envs.fork([lane] * count)
    seeds = rng.integers(1 << 62, size=count, dtype=np.uint64)
    lanes: object = fork
    if _is_compiled(lanes):
        from ludus.kernels.seeds import seeded_words  # the batch is compiled: it has loaded them

        (words,) = lanes.lane_columns("words")
        words[:] = seeded_words(seeds)
    elif _has_lanes(lanes):
        for env, seed in zip(lanes.envs, seeds.tolist(), strict=True):
            env.unwrapped.np_random = np.random.default_rng(seed)
    else:
        fork.close()
        raise InvalidType(f"search: expected a compiled batch or a serial one, got {type(envs).__name__}")
    return fork
