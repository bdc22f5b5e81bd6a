"""`Leaderboard`: the results of a folder that are confirmed, and only those, as a table and as one page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import NamedTuple, Unpack

import numpy as np

from ludus.errors import InvalidArgument
from ludus.evaluate.intervals import Interval, interval
from ludus.evaluate.reference import normal_score
from ludus.evaluate.result import open_result
from ludus.evaluate.scores import Array
from ludus.evaluate.statistics import interquartile_mean
from ludus.evaluate.verification import Verification, VerifyOptions, verify

__all__ = ["Leaderboard", "LeaderboardLine", "leaderboard"]


class LeaderboardLine(NamedTuple):
    """One confirmed result.

    >>> score = Interval(500.0, 500.0, 500.0, 0.95)
    >>> LeaderboardLine("CartPole-v1", "mine", "", score, 500.0, 2, (), "r.ludus", np.full(2, 500.0)).normal
    1.0
    """

    id: str
    agent: str
    suite: str
    score: Interval
    """The interquartile mean of the returns."""
    mean: float
    episodes: int
    marks: tuple[str, ...]
    """What has to be said beside it: chosen seeds, episodes left out, who signed."""
    path: str
    """Of its file, from the folder on."""
    returns: Array
    """Of each episode that counts."""

    @property
    def normal(self) -> float | None:
        """The score where 0 is a random agent's and 1 the reference; None where there is no reference."""
        return normal_score(self.id, self.score.value)

    @property
    def command(self) -> str:
        """What checks it, to be copied into a shell: whoever sent the file has chosen its name."""
        return f"ludus verify {quote(self.path if self.path[:1] != '-' else f'./{self.path}')}"


class Leaderboard(NamedTuple):
    """Confirmed results, the best of each environment first, and what is not shown.

    >>> Leaderboard((), ()).by_agent()
    {}
    """

    lines: tuple[LeaderboardLine, ...]
    refused: tuple[Verification, ...]
    """Those that are not confirmed."""

    def by_agent(self) -> dict[tuple[str, str], tuple[float, int]]:
        """The mean of the normal scores of each agent in each suite, and of how many environments it is the mean."""
        found: dict[tuple[str, str], list[float]] = {}
        for line in self.lines:
            if line.suite and line.normal is not None:
                found.setdefault((line.suite, line.agent), []).append(line.normal)
        ranked = sorted(found.items(), key=lambda one: (one[0][0], -float(np.mean(one[1]))))
        return {key: (float(np.mean(scores)), len(scores)) for key, scores in ranked}


def leaderboard(
    folder: str | os.PathLike[str],
    *,
    progress: Callable[[Verification], None] | None = None,
    **options: Unpack[VerifyOptions],
) -> Leaderboard:
    """Verify every result in a folder and below, with the `options` of `verify`.

    >>> import tempfile
    >>> from ludus.evaluate import evaluate
    >>> folder = tempfile.mkdtemp()
    >>> _ = evaluate("GridWorld-v0", "random", episodes=5, out=folder + "/random.ludus")
    >>> [line.agent for line in leaderboard(folder).lines]
    ['random']
    """
    root = Path(folder)
    if not root.is_dir():
        raise InvalidArgument(f"{root}: expected a folder of results, got none")
    lines: list[LeaderboardLine] = []
    refused: list[Verification] = []
    for path in _files_below(root):
        checked = verify(path, **options)
        if progress is not None:
            progress(checked)
        line = _line(path, root, checked) if checked else None
        if line is None:
            refused.append(checked)
        else:
            lines.append(line)
    lines.sort(key=lambda one: (one.suite, one.id, -one.score.value))
    return Leaderboard(tuple(lines), tuple(refused))


def _files_below(root: Path) -> list[Path]:
    try:
        return sorted(root.rglob("*.ludus"))
    except (RecursionError, OSError) as error:
        raise InvalidArgument(f"{root}: expected a folder of results, got some too deep in it: {error}") from None


def _line(path: Path, root: Path, checked: Verification) -> LeaderboardLine | None:
    result = open_result(path)
    declared, masked = result.declaration, result.masked
    totals = result.columns["return"][~masked]
    result.run.close()
    if not len(totals):
        return None
    left_out = (f"{int(masked.sum())} of {len(masked)} episodes masked, and left out",) if masked.any() else ()
    suite = f"{declared.suite} {declared.suite_version}" if declared.suite else ""
    score = interval(totals, interquartile_mean) if len(totals) > 1 else Interval(totals[0], totals[0], totals[0], 0.95)
    where = str(path.relative_to(root))
    marks = (*checked.notes, *left_out)
    return LeaderboardLine(
        declared.id, declared.agent, suite, score, float(totals.mean()), len(totals), marks, where, totals
    )
