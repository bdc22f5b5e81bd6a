"""`CompiledTally`: rows of a compiled batch without its observations, taken in one pass by compiled code.

It does what `RowDigest` and `EpisodeTracker.advance` do, and gives the same bits; whatever it is not made for it leaves
to them.
"""

from typing import Any

import numpy as np
from numpy import ndarray

from ludus.core import AutoresetMode, Step
from ludus.kernels.tally import tally
from ludus.spaces import Discrete, Space
from ludus.trajectory.block import STEP, Layout
from ludus.trajectory.digest import digest_keys
from ludus.trajectory.tracker import EpisodeTracker
from ludus.trajectory.writer import RunWriter

__all__ = ["CompiledTally"]

BYTE, FLAG, FLOAT, INTEGER, WORD = (np.dtype(one) for one in ("u1", "?", "f8", "i8", "u8"))


class CompiledTally:
    """Takes steps for a tracker and a writer.

    >>> from ludus.spaces import Box
    >>> CompiledTally.suits(Discrete(2)), CompiledTally.suits(Box(0, 1))
    (True, False)
    """

    def __init__(self, tracker: EpisodeTracker, writer: RunWriter, actions: Space[Any], *, steps: bool) -> None:
        self._tracker, self._writer = tracker, writer
        # A batch that is reset by hand has a row in between for each reset, which has another layout.
        self._suits = self.suits(actions) and tracker.mode is not AutoresetMode.DISABLED
        self._shape = (tracker.lanes,)
        self._layout: Layout = {"seen": (WORD, ()), "action": (BYTE, self._shape)}
        if steps:
            flag = FLAG, self._shape
            self._layout |= {"reward": (FLOAT, self._shape), "terminated": flag, "truncated": flag}
        self._steps, self._shown = steps, {"action": INTEGER}
        self._keys = digest_keys()

    @staticmethod
    def suits(actions: Space[Any]) -> bool:
        """Whether actions are single numbers that a byte holds."""
        return isinstance(actions, Discrete) and bool(actions.start >= 0 and actions.start + actions.n <= 256)

    def take(self, action: Any, step: Step[Any], mask: Any) -> bool:
        """Take a step's row, if it is such as this is made for."""
        observation, reward, terminated, truncated, info = step
        shape = self._shape
        if (
            not self._suits
            or mask is not None
            or type(observation) is not ndarray
            or observation.nbytes & 7
            or not observation.flags.c_contiguous
            or type(action) is not ndarray
            or action.dtype is not INTEGER
            or action.shape != shape
            or type(reward) is not ndarray
            or reward.dtype is not FLOAT
            or reward.shape != shape
            or terminated.dtype is not FLAG
            or (info and "outcome" in info.get("final_info", info))
            or not observation.nbytes
        ):
            return False
        return self._taken(action, observation.reshape(-1).view(WORD), (reward, terminated, truncated))

    def _taken(self, action: Any, words: Any, step: tuple[Any, Any, Any]) -> bool:
        tracker, writer = self._tracker, self._writer
        if tracker.left_out is not None or tracker.returns.shape != self._shape:
            return False
        block = writer.block_like(self._layout, self._shown)
        ended, row = block.ended, writer.row
        ended.make_room(tracker.lanes)
        count = tally(
            words,
            self._keys,
            step,
            action,
            (tracker.starts, tracker.returns),
            (block.arrays["action"], block.arrays["seen"]),
            (ended.integers, ended.returns, ended.codes),
            (row, block.filled, tracker.after(row), ended.count),
        )
        if count < 0:
            return False
        ended.count = count
        if self._steps:
            for name, values in zip(("reward", "terminated", "truncated"), step, strict=True):
                block.arrays[name][block.filled] = values
        writer.advance(block, STEP)
        return True
