"""`CompiledTally`: rows of a compiled batch without its observations, taken in one pass by compiled code.

It does what `RowDigest` and `EpisodeTracker.advance` do, and gives the same bits; whatever it is not made for it leaves
to them.
"""

import numpy as np
from numpy import ndarray

from ludus.core import AutoresetMode, Info, Step
from ludus.kernels.tally import tally
from ludus.spaces import ArraySpace, Discrete, Space
from ludus.spaces.array_space import Array
from ludus.trajectory.block import MAX_ROWS, STEP, Layout
from ludus.trajectory.digest import digest_keys
from ludus.trajectory.tracker import EpisodeTracker
from ludus.trajectory.writer import RunWriter

__all__ = ["CompiledTally"]

BYTE, FLAG, FLOAT, INTEGER, WORD = (np.dtype(one) for one in ("u1", "?", "f8", "i8", "u8"))


class CompiledTally:
    """Takes steps for a tracker and a writer.

    >>> from ludus.spaces import Box
    >>> CompiledTally.fits_a_byte(Discrete(2)), CompiledTally.fits_a_byte(Box(0, 1))
    (True, False)
    """

    def __init__(self, tracker: EpisodeTracker, writer: RunWriter, actions: Space[object], *, steps: bool) -> None:
        self._tracker, self._writer = tracker, writer
        # A batch that is reset by hand has a row in between for each reset, which has another layout.
        self._suits = isinstance(actions, ArraySpace) and tracker.mode is not AutoresetMode.DISABLED
        self._narrow = self.fits_a_byte(actions)
        lanes = tracker.lanes
        self._shape = (lanes,)
        self._acted = INTEGER if self._narrow else actions.dtype, (lanes, *(actions.shape or ()))
        flag, stored = (FLAG, self._shape), (BYTE, self._shape) if self._narrow else self._acted
        self._layout: Layout = {"seen": (WORD, ()), "action": stored}
        if steps:
            self._layout |= {"reward": (FLOAT, self._shape), "terminated": flag, "truncated": flag}
        self._steps, self._shown = steps, {"action": INTEGER} if self._narrow else {}
        self._keys, self._nothing = digest_keys(), (np.zeros(0, np.int64), np.zeros((MAX_ROWS, 0), np.uint8))

    @staticmethod
    def fits_a_byte(actions: Space[object]) -> bool:
        """Whether actions are single numbers that a byte holds."""
        return isinstance(actions, Discrete) and bool(actions.start >= 0 and actions.start + actions.n <= 256)

    def take(self, action: object, step: Step[object], mask: object) -> bool:
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
            or action.dtype != self._acted[0]
            or action.shape != self._acted[1]
            or type(reward) is not ndarray
            or reward.dtype is not FLOAT
            or reward.shape != shape
            or terminated.dtype is not FLAG
            or not observation.nbytes
        ):
            return False
        return self._taken(action, observation.reshape(-1).view(WORD), (reward, terminated, truncated), info)

    def _taken(self, action: Array, words: object, step: tuple[Array, Array, Array], info: Info) -> bool:
        tracker, writer = self._tracker, self._writer
        if tracker.left_out is not None or tracker.returns.shape != self._shape:
            return False
        block = writer.block_like(self._layout, self._shown)
        arrays, ended, row, place = block.arrays, block.ended, writer.row, block.filled
        first, acted, stored = ended.count, action, arrays["action"]
        ended.make_room(tracker.lanes)
        if not self._narrow:
            stored[place] = action
            acted, stored = self._nothing
        count = tally(
            words,
            self._keys,
            step,
            acted,
            (tracker.starts, tracker.returns),
            (stored, arrays["seen"]),
            (ended.integers, ended.returns, ended.codes),
            (row, place, tracker.after(row), first),
        )
        if count < 0:
            return False
        if info and count > first:
            ended.codes[first:count, 2] = tracker.told(info, ended.integers[first:count, 0])
        ended.count = count
        if self._steps:
            for name, values in zip(("reward", "terminated", "truncated"), step, strict=True):
                arrays[name][place] = values
        writer.advance(block, STEP)
        return True
