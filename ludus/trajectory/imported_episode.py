"""Episodes that come from other formats, written as a run."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ludus.core import Outcome
from ludus.core.options import Options
from ludus.spaces import Space, describe
from ludus.spaces.array_space import Array
from ludus.spaces.plain import encode_value
from ludus.trajectory.block import RESET, RESTORE, STEP, StepRow
from ludus.trajectory.event import Data, EventValue, stored
from ludus.trajectory.header import RunHeader
from ludus.trajectory.tracker import CODES, UNTOLD
from ludus.trajectory.values import ValueColumns
from ludus.trajectory.writer import RunWriter

__all__ = ["ImportedEpisode", "imported_header", "write_imported"]


class ImportedEpisode(NamedTuple):
    """One episode of another format; `observations` has one more than `actions`, or is None.

    >>> ImportedEpisode(["go", "stop"], [0.0, 1.0], terminated=True).length
    2
    """

    actions: Sequence[object]
    rewards: Sequence[float] | Array
    observations: Sequence[object] | None = None
    terminated: bool = False
    truncated: bool = False
    outcome: Outcome | None = None
    """None: nobody knows."""
    seed: int | None = None
    options: Options | None = None
    events: tuple[tuple[int, float, EventValue], ...] = ()
    """Each with the number of steps made before it, and its time in seconds."""

    @property
    def length(self) -> int:
        """How many steps."""
        return len(self.actions)


def imported_header(
    observations: Space[object],
    actions: Space[object],
    *,
    full: bool,
    why: str,
    metadata: Data | None = None,
    spec: Data | None = None,
) -> RunHeader:
    """The header of a run of one lane; `why` it names no environment, where `spec` is not given."""
    return RunHeader(
        level="full" if full else "steps",
        lanes=1,
        batched=False,
        spec=spec,
        unspecified="" if spec else why,
        observation_space=describe(observations),
        action_space=describe(actions),
        metadata=metadata or {},
    )


def write_imported(path: str | os.PathLike[str], header: RunHeader, episodes: Iterable[ImportedEpisode]) -> int:
    """Write a run of these episodes, one after another in one lane; how many there are.

    An episode without a seed can be read, and is where a replay stops.
    """
    acted = ValueColumns(header.space("action"), "action", None)
    observed = ValueColumns(header.space("observation"), "observation", None) if header.level == "full" else None
    objects = (*acted.object_names, *(observed.object_names if observed is not None else ()))
    count = 0
    writer = RunWriter(path, header, objects)
    try:
        with writer:
            for episode in episodes:
                _write(episode, writer, acted, observed)
                count += 1
    except BaseException:
        Path(path).unlink(missing_ok=True)  # a part of what was asked for is not to be taken for the whole
        raise
    return count


def _write(episode: ImportedEpisode, writer: RunWriter, acted: ValueColumns, observed: ValueColumns | None) -> None:
    first, last = writer.row, episode.length
    reset = encode_value(episode.seed), encode_value(episode.options, "options")
    begins = RESTORE if episode.seed is None else RESET
    waiting = sorted(episode.events, key=lambda event: event[0])
    for place in range(last + 1):
        arrays, objects = acted.take(episode.actions[place - 1]) if place else (acted.zeros(), {})
        flags = {"terminated": episode.terminated, "truncated": episode.truncated}
        arrays |= {name: np.array([flag and place == last], np.bool_) for name, flag in flags.items()}
        arrays["reward"] = np.array([episode.rewards[place - 1] if place else 0.0], np.float64)
        if observed is not None and episode.observations is not None:
            seen, more = observed.take(episode.observations[place])
            arrays, objects = arrays | seen, objects | more
        writer.put(StepRow(STEP if place else begins, arrays, objects, None, None if place else reset))
        while waiting and waiting[0][0] <= place:
            _, seconds, value = waiting.pop(0)
            writer.add_event(stored(value, writer.row - 1, 0, seconds))
    if last:
        total = float(np.sum(np.asarray(episode.rewards, np.float64)))
        writer.ended.append(
            writer.row - 1,
            np.zeros(1, np.int64),
            starts=np.array([first]),
            lengths=np.array([last]),
            returns=np.array([total]),
            codes=(episode.terminated, episode.truncated, CODES[episode.outcome] or UNTOLD),
        )
