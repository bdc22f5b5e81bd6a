"""The pictures of an episode, drawn by executing its lane once more: a file of seeds is enough for a video."""

from collections.abc import Iterator

import numpy as np

from ludus.core import AutoresetMode
from ludus.core.env import AnyEnv
from ludus.errors import ResetNeeded, TrajectoryError
from ludus.spaces.array_space import Array
from ludus.trajectory.block import AUTORESET, RESET, STEP
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.run import Run

__all__ = ["episode_frames"]

RENDER_MODE = "rgb_array"


def episode_frames(run: Run, number: int, *, isolation: object = None) -> Iterator[Array]:
    """The picture after the reset and after each step of an episode, as pixels.

    One environment is made from the run's spec, in a sandbox where that names code that nobody chose here, and executes
    the episode's lane from its last seed on. Raises TrajectoryError at the end where the episode has not ended as it is
    recorded.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("CartPole-v1"), path) as env:
    ...     _ = env.reset(seed=7), env.step(1), env.step(0)
    >>> [frame.shape for frame in episode_frames(Run.open(path), 0)]
    [(400, 600, 3), (400, 600, 3), (400, 600, 3)]
    """
    episode = run[number]
    wrappers = tuple(run.header.batch_wrappers())
    spec = run.header.env_spec().of_file(wrappers, isolation)
    env = spec.make(render_mode=RENDER_MODE, isolation=isolation)
    for wrapper in wrappers:  # of a batch: what they do to actions is done here, too
        env = wrapper(env)
    with env:
        yield from _Lane(run, episode, env).frames()


class _Lane:
    """One lane of a run, executed by an environment of its own, which begins episodes as the batch's autoreset does."""

    def __init__(self, run: Run, episode: RecordedEpisode, env: AnyEnv) -> None:
        self.run, self.episode, self.env, self.lane = run, episode, env, episode.lane
        self.mode = run.header.autoreset_mode
        self.total: float | Array = 0.0
        self.waiting = self.terminated = self.truncated = False
        """`waiting`: the next step begins an episode."""

    def frames(self) -> Iterator[Array]:
        episode, first = self.episode, self._first()
        for row, operation, action in self._rows(first):
            begins = row == first or self.waiting or operation != STEP
            begun = self._begin(row) if begins else self._step(action)
            if row == episode.end:
                yield self.env.render()
                break
            if not begun and (self.terminated or self.truncated) and self.mode == AutoresetMode.SAME_STEP.value:
                self._begin(row)
            if row >= episode.start:
                yield self.env.render()
        self._check()

    def _begin(self, row: int) -> bool:
        seed, options = self.run.beginning(row, self.lane)
        self.env.reset(seed=seed, options=options)
        self.total, self.waiting = 0.0, False
        return True

    def _step(self, action: object) -> bool:
        try:
            _, reward, terminated, truncated, _ = self.env.step(action)
        except ResetNeeded as error:
            raise self._other() from error
        self.terminated, self.truncated = bool(terminated), bool(truncated)
        self.total = self.total + np.asarray(reward, np.float64)
        self.waiting = (self.terminated or self.truncated) and self.mode == AutoresetMode.NEXT_STEP.value
        return False

    def _rows(self, first: int) -> Iterator[tuple[int, int, object]]:
        """Rows in which the lane took part, from the first on: number, operation, action."""
        chunks, end = self.run.chunks, self.episode.end + 1
        masked, masks = chunks.masks(first, end)
        out = {row for row, mask in zip(masked.tolist(), masks, strict=True) if not mask[self.lane]}
        for number, begin, stop in chunks.spans(first, end):
            rows = np.array([row for row in range(begin, stop) if row + chunks.heads[number].first not in out])
            if not len(rows):
                continue
            operations, rows = self._operations(number)[rows], rows + chunks.heads[number].first
            columns = {name: chunks.lane(f"steps/{name}", self.lane, rows) for name in self.run.acted.names}
            actions = self.run.acted.split(self.run.acted.many(columns), len(rows))
            for row, operation, action in zip(rows.tolist(), operations.tolist(), actions, strict=True):
                if operation not in (RESET, STEP, AUTORESET):
                    raise TrajectoryError(
                        f"row {row}: expected a reset or a step to execute, got a state from elsewhere"
                    )
                yield row, operation, action

    def _first(self) -> int:
        """The last row, up to the episode's first, in which the lane was begun with a seed."""
        run, last = self.run, self.episode.start
        masked, masks = run.chunks.masks(0, last + 1)
        out = {row for row, mask in zip(masked.tolist(), masks, strict=True) if not mask[self.lane]}
        begun = [row for row in run.resets if row <= last and row not in out]
        begun += [row for row, lane in run.planned if row <= last and lane == self.lane]
        seeded = [row for row in begun if run.beginning(row, self.lane)[0] is not None]
        if not seeded:
            raise TrajectoryError(f"episode {self.episode.number}: expected a seed before it, got none")
        return max(seeded)

    def _operations(self, number: int) -> Array:
        found = self.run.chunks.array(number, "steps/op")
        if found is None:
            raise TrajectoryError(f"chunk {number}: expected a column steps/op, got none")
        return found

    def _check(self) -> None:
        episode, alone = self.episode, not self.run.header.wrappers  # those of a batch may change rewards by all lanes
        same = (self.terminated, self.truncated) == (episode.terminated, episode.truncated)
        if not episode.masked and not (same and not (alone and self._other_total())):
            raise self._other()

    def _other(self) -> TrajectoryError:
        episode = self.episode
        return TrajectoryError(
            f"episode {episode.number}: expected the return {episode.total_reward} after {episode.length} steps, as "
            f"recorded, got {self.total} and another end; `replay` says where it differs"
        )

    def _other_total(self) -> bool:
        return not np.array_equal(np.asarray(self.total), np.asarray(self.episode.total_reward), equal_nan=True)
