"""`LaneReplay`: one lane of a run executed again as a single environment, to any step of any of its episodes.

A lane of a batch seeded with some number is the single environment seeded with it, and after autoreset its random
stream goes on. So everything between the last seed and the step that is asked for is executed, and no other lane.
"""

from time import monotonic
from typing import NamedTuple

import numpy as np

from ludus.core import AutoresetMode, Snapshot
from ludus.core.env import AnyEnv
from ludus.errors import LudusError, TrajectoryError
from ludus.spaces.kinds import is_list
from ludus.trajectory import RecordedEpisode, Run
from ludus.trajectory.block import AUTORESET, RESET, RESTORE
from ludus.web.view.steps import SeenStep

__all__ = ["LaneReplay"]

MAX_ROWS = 400_000
"""How far back the seed may be: some seconds of execution."""
ROWS_PER_SNAPSHOT = 500
"""Rows between snapshots, by which one goes back."""
MAX_KEPT = 200
ROWS_AT_ONCE = 1024
PATIENCE_SECONDS = 20.0
"""Nobody waits longer for a frame, and others wait for theirs."""


class LanePosition(NamedTuple):
    """Where the lane stands: the row, and whether an episode that ended in it has been followed by the next."""

    row: int
    begun: bool


class Rows(NamedTuple):
    """Some rows of the run as they concern one lane: read together, since one at a time takes longer than a step."""

    first: int
    end: int
    operations: list[int]
    left_out: frozenset[int]
    actions: list[object]


class LaneReplay:
    """The environment is the caller's; nothing else may step it."""

    def __init__(self, run: Run, lane: int, env: AnyEnv) -> None:
        self.run, self.lane, self.env = run, lane, env
        mode = run.header.autoreset_mode
        self.mode = AutoresetMode.of(mode) if run.header.batched else AutoresetMode.DISABLED
        self.at: LanePosition | None = None
        self.origin = -1
        self.seen: SeenStep = (None, None, {})
        self.over = False
        self.kept: dict[LanePosition, tuple[Snapshot, SeenStep, bool]] = {}
        self.can_keep = True
        self.rows = Rows(0, 0, [], frozenset(), [])

    def go(self, episode: RecordedEpisode, step: int) -> SeenStep:
        """Execute up to the state after so many steps of an episode; raises TrajectoryError where that cannot be."""
        row = int(episode.rows[step])
        target = LanePosition(row, step == 0 and self.mode is AutoresetMode.SAME_STEP)
        origin = self._origin(episode)
        if origin != self.origin or self.at is None or self.at > target:
            self._return(origin, target)
        began = monotonic()
        while self.at is not None and self.at < target:
            self._advance()
            if self.at.row % ROWS_AT_ONCE == 0 and monotonic() - began > PATIENCE_SECONDS:
                raise TrajectoryError(
                    f"step {step}: expected {PATIENCE_SECONDS:g} s to be enough to execute the steps before it, got as "
                    f"far as row {self.at.row} of {row}; asked again, it goes on from there"
                )
        return self.seen

    def _origin(self, episode: RecordedEpisode) -> int:
        """The last row not after the episode's beginning in which the lane was seeded."""
        row = episode.start
        while row >= max(0, episode.start - MAX_ROWS):
            seed, _ = self.run.beginning(row, self.lane)
            if seed is not None and self._takes_part(row):
                return row
            row = self._reset_before(row)
        raise TrajectoryError(
            f"episode {episode.number}: expected a seed at most {MAX_ROWS:,} rows before it, got none: executing it "
            "again would take too long"
        )

    def _reset_before(self, row: int) -> int:
        """The last row before this one that has a reset of its own; -1 where there is none."""
        for number in range(len(self.run.chunks.heads) - 1, -1, -1):
            head = self.run.chunks.heads[number]
            if head.first >= row or not head.resets:
                continue
            found = [
                one.row for one in self.run.chunks.resets_of(number) if one.row < row and one.lane in (-1, self.lane)
            ]
            if found:
                return max(found)
        return -1

    def _takes_part(self, row: int) -> bool:
        _, masks = self.run.chunks.masks(row, row + 1)
        return not masks or bool(masks[0][self.lane])

    def _return(self, origin: int, target: LanePosition) -> None:
        """Begin again: with the last snapshot before the target, or with the seed."""
        if origin != self.origin:
            self.kept, self.origin = {}, origin
        before = [place for place in self.kept if place <= target]
        if before:
            place = max(before)
            snapshot, self.seen, self.over = self.kept[place]
            self.env.restore(snapshot)
            self.at = place
            return
        self._begin(origin)  # by a reset, or by a plan in a row in which others make a step
        self.at = LanePosition(origin, True)

    def _advance(self) -> None:
        """Execute what comes next, up to the end of one row."""
        place = self.at or LanePosition(-1, True)
        if self.over and not place.begun and self.mode is AutoresetMode.SAME_STEP:
            self.at = None
            self._begin(place.row)
            self.at = LanePosition(place.row, True)
            return
        row = place.row + 1
        self.at = None  # where its code fails, nobody knows where the lane stands
        begun = self._execute(row)
        self.at = LanePosition(row, begun)
        if row % ROWS_PER_SNAPSHOT == 0:
            self._keep()

    def _execute(self, row: int) -> bool:
        """Execute one row; whether nothing is left to be done in it."""
        if not self.rows.first <= row < self.rows.end:
            self.rows = _rows(self.run, self.lane, row)
        rows, place = self.rows, row - self.rows.first
        if row in rows.left_out:
            return True
        operation = rows.operations[place]
        if operation == RESTORE:
            raise TrajectoryError(f"row {row}: the state was put back from a snapshot, which the file does not have")
        if operation in (RESET, AUTORESET) or (self.over and self.mode is AutoresetMode.NEXT_STEP):
            self._begin(row)
            return True
        observation, reward, terminated, truncated, info = self.env.step(rows.actions[place])
        self.seen, self.over = (observation, reward, info), bool(terminated or truncated)
        return not self.over

    def _begin(self, row: int) -> None:
        seed, options = self.run.beginning(row, self.lane)
        observation, info = self.env.reset(seed=seed, options=options)
        self.seen, self.over = (observation, None, info), False

    def _keep(self) -> None:
        if not self.can_keep or self.at is None or len(self.kept) >= MAX_KEPT:
            return
        try:
            self.kept[self.at] = self.env.snapshot(), self.seen, self.over
        except LudusError:  # it is slower without, and the same
            self.can_keep = False


def _rows(run: Run, lane: int, row: int) -> Rows:
    """Some rows from this one on, of one chunk."""
    for number, place, stop in run.chunks.spans(row, row + ROWS_AT_ONCE):
        operations = run.chunks.array(number, "steps/op")
        if operations is None:
            break
        first, end = row, row + stop - place
        masked, masks = run.chunks.masks(first, end)
        left_out = {one for one, mask in zip(masked.tolist(), masks, strict=True) if not mask[lane]}
        columns = {name: run.chunks.lane(f"steps/{name}", lane, np.arange(first, end)) for name in run.acted.names}
        # Rows that are no steps have no action that could be read, and none is asked of them.
        kept = {name: _filled(column) for name, column in columns.items()}
        actions = run.acted.split(run.acted.many(kept), end - first)
        return Rows(first, end, operations[place:stop].tolist(), frozenset(left_out), actions)
    raise TrajectoryError(f"row {row}: expected a column steps/op, got none")


def _filled(column: object) -> object:
    """A column of other values, in which rows without one have that of a neighbour."""
    if not is_list(column):
        return column
    known = next((one for one in column if one is not None), None)
    return [known if one is None else one for one in column]
