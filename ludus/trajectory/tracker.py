"""`EpisodeTracker`: which episode each lane is in, and a row for each that ends; whole columns at a time."""

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Info, Outcome
from ludus.errors import ContractViolation, InvalidArgument
from ludus.spaces.array_space import Array

__all__ = ["CODES", "DERIVED", "OUTCOMES", "UNTOLD", "Ended", "EpisodeTracker", "outcome_of"]

INTEGERS = ("lane", "start", "end", "length")
NEVER = int(np.iinfo(np.int64).max)
"""The first row of a lane that is in no episode."""
OUTCOMES: tuple[Outcome | None, ...] = (None, *Outcome)
"""By their codes. 0: it is not known how the episode ended."""
CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}
UNTOLD = 255
"""For an episode of which its last info says that nobody knows its outcome."""
DERIVED = np.array(
    [[CODES[Outcome.derived(bool(terminated), bool(truncated))] for truncated in (0, 1)] for terminated in (0, 1)],
    np.uint8,
)
"""The numbers of the outcomes that flags alone say, by `[terminated, truncated]`."""
SAME_STEP, NEXT_STEP = AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP


class Ended:
    """Episodes that ended, a row for each, in arrays that grow; one thread appends, another takes from the front.

    >>> table = Ended(4)
    >>> table.append(9, np.array([1, 3]), starts=np.array([0, 5]), lengths=np.array([9, 4]), returns=np.ones(2))
    >>> table.taken(0, 2)["episodes/length"]
    array([9, 4])
    """

    def __init__(self, room: int = 1 << 10, players: tuple[int, ...] = ()) -> None:
        self.count = 0
        """How many there are; they count once all of their row is in."""
        self._reserve(room, players)

    def _reserve(self, room: int, players: tuple[int, ...]) -> None:
        self.integers = np.zeros((room, len(INTEGERS)), np.int64)
        self.returns: Array = np.zeros((room, *players))
        self.codes = np.zeros((room, 3), np.uint8)
        """Terminated, truncated, and the number of the outcome where one was given."""

    def append(
        self,
        row: int,
        lanes: Array,
        *,
        starts: Array,
        lengths: Array,
        returns: Array,
        codes: tuple[Array | bool, Array | bool, npt.ArrayLike] = (False, False, 0),
    ) -> None:
        """Take episodes that ended in one row."""
        first, end = self.count, self.count + len(lanes)
        self.make_room(len(lanes), returns.shape[1:])
        for place, values in enumerate((lanes, starts, row, lengths)):
            self.integers[first:end, place] = values
        self.returns[first:end] = returns
        for place, values in enumerate(codes):
            self.codes[first:end, place] = values
        self.count = end

    def make_room(self, more: int, players: tuple[int, ...] = ()) -> None:
        """Room for so many more; what other shapes of returns there were is forgotten."""
        needed = self.count + more
        if needed <= len(self.codes) and self.returns.shape[1:] == players:
            return
        before = self.integers, self.returns, self.codes
        self._reserve(max(2 * needed, len(self.codes)), players)
        for old, new in zip(before, (self.integers, self.returns, self.codes), strict=True):
            if old.shape[1:] == new.shape[1:]:
                new[: self.count] = old[: self.count]

    def clear(self) -> None:
        """Begin anew, in the same memory."""
        self.count = 0

    def taken(self, first: int, end: int) -> dict[str, Array]:
        """These rows as columns of a chunk; what follows from the others is left out."""
        if first == end:
            return {}
        # Turned once, since every column is gone through several times.
        columns: dict[str, Array] = dict(zip(INTEGERS, np.ascontiguousarray(self.integers[first:end].T), strict=True))
        terminated, truncated, codes = np.ascontiguousarray(self.codes[first:end].T)
        columns |= {"return": self.returns[first:end], "outcome": codes}
        columns |= {"terminated": terminated.view(np.bool_), "truncated": truncated.view(np.bool_)}
        if np.array_equal(columns["end"] - columns["length"], columns["start"]):  # no lane was left out of any row
            del columns["start"]
        if not codes.any():
            del columns["outcome"]
        else:
            derived = DERIVED[columns["terminated"].astype(np.intp), columns["truncated"].astype(np.intp)]
            columns["outcome"] = np.where(codes == 0, derived, np.where(codes == UNTOLD, 0, codes)).astype(np.uint8)
        return {f"episodes/{name}": column for name, column in columns.items()}


class EpisodeTracker:
    """Follows the episodes of `lanes` lanes; row by row, as a batch with this autoreset mode is stepped.

    >>> tracker = EpisodeTracker(2, AutoresetMode.NEXT_STEP)
    >>> ended = Ended()
    >>> tracker.begin(0, None, ended)
    >>> tracker.advance(1, (np.array([0.5, 1.0]), np.array([True, False]), np.array([False, False]), {}), None, ended)
    >>> ended.taken(0, 1)["episodes/return"]
    array([0.5])
    """

    def __init__(self, lanes: int, mode: AutoresetMode) -> None:
        self.lanes, self.mode = lanes, mode
        self.starts = np.full(lanes, NEVER, np.int64)
        """The row of each lane's first observation."""
        self.returns: Array = np.zeros(lanes)
        self.left_out: Array | None = None
        """Rows since its episode began in which a lane was not stepped; None as long as all are."""

    def begin(self, row: int, mask: Array | None, ended: Ended) -> None:
        """Lanes begin with this row; what they were in the midst of is aborted, and goes into `ended`."""
        chosen = np.ones(self.lanes, np.bool_) if mask is None else mask
        self.abort(row, chosen, Outcome.ABORTED, ended)
        self.starts[chosen] = row
        self.returns[chosen] = 0
        if self.left_out is not None:
            self.left_out[chosen] = 0
        if mask is not None:
            self._leave_out(~mask)

    def advance(self, row: int, step: tuple[Array, Array, Array, Info], mask: Array | None, ended: Ended) -> None:
        """Lanes make the step of this row: reward, terminated, truncated, info. What ends goes into `ended`."""
        reward, terminated, truncated, info = step
        if reward.shape != self.returns.shape:
            self.returns = np.zeros(reward.shape)
        self.returns += reward
        if mask is not None:
            self._leave_out(~mask)
        lanes = (terminated | truncated).nonzero()[0]
        if not len(lanes):
            return
        starts = self.starts[lanes]
        lengths = row - starts
        if self.left_out is not None:
            lengths -= self.left_out[lanes]
            self.left_out[lanes] = 0
        ended.append(
            row,
            lanes,
            starts=starts,
            lengths=lengths,
            returns=self.returns[lanes],
            codes=(terminated[lanes], truncated[lanes], self.outcomes_of(info, lanes) if info else 0),
        )
        self.returns[lanes] = 0
        self.starts[lanes] = self.after(row)

    def after(self, row: int) -> int:
        """With which row the lanes go on that end in this one: the next, this very one, or none before a reset."""
        return row + 1 if self.mode is NEXT_STEP else row if self.mode is SAME_STEP else NEVER

    def abort(self, row: int, mask: Array, outcome: Outcome, ended: Ended) -> None:
        """End what lanes are in the midst of before `row`; an episode without any step leaves nothing."""
        lengths = row - 1 - self.starts
        if self.left_out is not None:
            lengths -= self.left_out
        lanes = (mask & (lengths > 0)).nonzero()[0]
        starts = self.starts[lanes]
        self.starts[mask] = NEVER
        if len(lanes):
            returns = self.returns[lanes]
            codes = (False, False, CODES[outcome])
            ended.append(row - 1, lanes, starts=starts, lengths=lengths[lanes], returns=returns, codes=codes)

    def _leave_out(self, lanes: Array) -> None:
        if self.left_out is None:
            self.left_out = np.zeros(self.lanes, np.int64)
        self.left_out += lanes

    def outcomes_of(self, info: Info, lanes: Array) -> Array | list[int] | int:
        """The outcomes in the last infos, where there are any; 0 for what the flags say."""
        last = info.get("final_info", info) if self.mode is SAME_STEP else info
        if "outcome" not in last:
            return 0
        column, mask = last["outcome"], last.get("_outcome")
        if getattr(column, "dtype", None) == np.int8:  # as batches give it
            return column[lanes]
        return [_code(column[lane]) if mask is None or mask[lane] else 0 for lane in lanes.tolist()]


def outcome_of(value: object) -> Outcome | None:
    """The outcome that somebody's data names; None where it names none."""
    try:
        return Outcome.of(value)
    except InvalidArgument:
        return None


def _code(outcome: object) -> int:
    if outcome is None:
        return UNTOLD
    try:
        return CODES[Outcome.told(outcome)]
    except InvalidArgument as error:
        raise ContractViolation(f"info['outcome']: {error}") from error
