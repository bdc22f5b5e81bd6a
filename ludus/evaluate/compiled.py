"""Segments of a result executed again by compiled rules: which of their episodes are certain to agree.

What is not certain is left to `Reexecution`, which says what differs, or that nothing does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ludus.core import Outcome
from ludus.core.vector_env import AnyVectorEnv, Mask
from ludus.errors import InvalidType, LudusError, shorten
from ludus.evaluate.agents import Agent, NopAgent, RandomAgent
from ludus.evaluate.result import Result
from ludus.evaluate.segment import Segment
from ludus.spaces import ArraySpace, Discrete
from ludus.spaces.array_space import Array
from ludus.trajectory.digest import digest_keys
from ludus.trajectory.tracker import CODES, DERIVED

if TYPE_CHECKING:
    from ludus.kernels.reexecution import Executed

__all__ = ["Certain", "CompiledCheck"]

LANES = 2048


class Certain(NamedTuple):
    """Which episodes of a segment agree, and the digests of all rows that were executed."""

    episodes: Array
    numbers: Array


class CompiledCheck:
    """Executes segments in batches of one environment; raises nothing: what it cannot do it is not certain of.

    >>> import tempfile, ludus
    >>> from ludus.evaluate import evaluate, open_result
    >>> from ludus.evaluate.segment import segments
    >>> path = tempfile.mkdtemp() + "/result.ludus"
    >>> _ = evaluate("CartPole-v1", "random", episodes=5, out=path)
    >>> result = open_result(path)
    >>> check = CompiledCheck(result, lambda lanes: ludus.make_vec("CartPole-v1", lanes), None)
    >>> [check.certain(one).episodes.tolist() for one in segments(result)]
    [[True, True, True, True, True]]
    """

    def __init__(self, result: Result, make: Callable[[int], AnyVectorEnv], agent: Agent | None) -> None:
        self.result, self.make, self.agent = result, make, agent
        self.keys = digest_keys()

    @staticmethod
    def suits(envs: AnyVectorEnv, agent: Agent | None) -> bool:
        """Whether a batch is compiled, its values are arrays, and its agent can be told from its actions alone."""
        if getattr(envs.unwrapped, "executor", "") != "kernel" or envs.unwrapped is not envs:
            return False
        spaces = envs.single_observation_space, envs.single_action_space
        if not all(isinstance(one, ArraySpace) for one in spaces):
            return False
        if agent is None:
            return True
        envs.reset(seed=0)
        restricted = "action_mask" in envs.reset(seed=0)[1]
        return type(agent) in (NopAgent, RandomAgent) and type(spaces[1]) is Discrete and not restricted

    def certain(self, segment: Segment) -> Certain:
        """The episodes that agree in all that is recorded of them."""
        count = len(segment.starts)
        numbers = np.zeros(segment.rows, np.uint64)
        recorded = {name: one[segment.episodes] for name, one in self.result.columns.items()}
        lasts = segment.starts + recorded["length"]
        sound = np.flatnonzero((lasts == segment.stops - 1) & (recorded["length"] > 0))
        none = Certain(np.zeros(count, np.bool_), numbers)
        if not len(sound):
            return none
        try:
            found = self._executed(segment, sound, lasts)
        except (LudusError, OverflowError):
            return none
        agrees = found.agrees.copy()
        for name, mine in (("length", found.lengths), ("return", found.totals)):
            agrees &= recorded[name][sound] == mine
        agrees &= self._ended(recorded, sound, found)
        agrees &= self._flags(segment, recorded, sound, lasts)
        agrees &= self._acted(segment, recorded["outcome"][sound], sound, lasts)
        certain = np.zeros(count, np.bool_)
        certain[sound] = agrees
        return Certain(certain, found.numbers)

    def _executed(self, segment: Segment, sound: Array, lasts: Array) -> Executed:
        from ludus.kernels.batch import KernelVectorEnv  # with the compiler, which a compiled batch has loaded
        from ludus.kernels.reexecution import (  # as above
            Recorded,
            reexecute,
        )

        seeds = np.array(self.result.seeds[segment.episodes], np.uint64)
        rewards = segment.arrays.get("reward", np.zeros(0))
        recorded = Recorded(
            seeds[sound],
            segment.starts[sound],
            lasts[sound],
            segment.arrays["action"],
            segment.arrays["seen"],
            rewards,
        )
        with self.make(min(LANES, len(sound))) as envs:
            if not isinstance(envs, KernelVectorEnv):
                raise InvalidType(f"verify: expected a compiled batch, got {shorten(envs)}")
            return reexecute(envs, recorded, self.keys)

    def _ended(self, recorded: dict[str, Array], sound: Array, found: Executed) -> Array:
        """Whether flags and outcomes are the same, or the evaluation has cut the episode where it had to."""
        flags = [recorded[name][sound] for name in ("terminated", "truncated")]
        same = (flags[0] == found.terminated) & (flags[1] == found.truncated)
        outcomes = recorded["outcome"][sound]
        derived = DERIVED[found.terminated.astype(np.intp), found.truncated.astype(np.intp)]
        over = found.terminated | found.truncated
        told: Mask = outcomes == np.where(found.outcomes > 0, found.outcomes, derived)
        cut: Mask = (found.lengths >= self.result.declaration.max_steps) & (outcomes == CODES[Outcome.TIME_LIMIT])
        return same & np.where(over, told, cut)

    def _flags(self, segment: Segment, recorded: dict[str, Array], sound: Array, lasts: Array) -> Array:
        """Whether flags that are recorded step by step are those of the table, and none before the last."""
        found = np.ones(len(sound), np.bool_)
        for name in ("terminated", "truncated"):
            column = segment.arrays.get(name)
            if column is None:
                continue
            counts = np.concatenate([[0], np.cumsum(column)])
            inside = counts[lasts[sound] + 1] - counts[segment.starts[sound]]
            found &= (column[lasts[sound]] == recorded[name][sound]) & (inside == recorded[name][sound])
        return found

    def _acted(self, segment: Segment, outcomes: Array, sound: Array, lasts: Array) -> Array:
        """Whether actions are those of the agent, where that is asked."""
        if self.agent is None:
            return np.ones(len(sound), np.bool_)
        actions, starts = segment.arrays["action"], segment.starts[sound]
        space = self.result.run.acted.space
        if type(self.agent) is NopAgent:
            others = np.concatenate([[0], np.cumsum(actions != space.default())])
            return others[lasts[sound] + 1] == others[starts + 1]
        if not isinstance(space, Discrete):
            return np.zeros(len(sound), np.bool_)
        from ludus.kernels.reexecution import drawn_alike  # as above

        seeds = self.result.declaration.derived(segment.episodes.start, len(segment.starts), "agent")[sound]
        return drawn_alike(seeds, starts, lasts[sound], actions, (int(space.start), int(space.n)))
