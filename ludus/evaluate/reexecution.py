"""Episodes of a result executed again, in the lanes of any batch, and held against what was recorded row by row."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from ludus.core import Info, Outcome, Step
from ludus.core.info import info_of, joined, lane_info
from ludus.core.vector_env import AnyVectorEnv
from ludus.evaluate.agents import Agent
from ludus.evaluate.compiled import Certain
from ludus.evaluate.result import Result
from ludus.evaluate.segment import Segment
from ludus.spaces import iterate
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_scalar
from ludus.trajectory.lane_digest import LaneDigest
from ludus.trajectory.replay import ReplayDifference, first_difference
from ludus.trajectory.tracker import CODES, OUTCOMES, outcome_of
from ludus.trajectory.values import ValueColumns

__all__ = ["Reexecution", "SegmentCheck"]

NOBODY = -1
CHECKED_EPISODES = 1 << 12
"""Episodes after which it is looked whether enough of them differ."""
MAX_DIFFERING_SEGMENTS = 20
"""After so many that differ, the others are not executed."""
AGENTS_OWN = (Outcome.AGENT_FAILED, Outcome.INVALID_ACTION)
"""Outcomes that the evaluation gives an episode, and not its environment."""


_End = TypedDict("_End", {"terminated": bool, "truncated": bool, "return": float, "outcome": Outcome | None})
"""How the environment ended an episode."""


class SegmentCheck(NamedTuple):
    """What came of the episodes of a segment."""

    differences: list[ReplayDifference]
    """The first one of each episode that has any, in the order of episodes."""
    wrong_digest: int | None
    """The first row of those whose digest is not what the file says; None where all are, or something differs."""
    unconfirmed: int
    """Episodes whose end cannot be brought about again: what they ran on had failed."""


class Reexecution:
    """Executes the episodes of a segment.

    >>> import tempfile, ludus
    >>> from ludus.evaluate import evaluate
    >>> from ludus.evaluate.result import open_result
    >>> from ludus.evaluate.segment import segments
    >>> path = tempfile.mkdtemp() + "/result.ludus"
    >>> _ = evaluate("GridWorld-v0", "random", episodes=3, out=path)
    >>> result = open_result(path)
    >>> make = lambda lanes: ludus.make_vec("GridWorld-v0", lanes, autoreset_mode="Disabled")
    >>> [Reexecution(result, one, make).checked(4).differences for one in segments(result)]
    [[]]
    """

    def __init__(
        self,
        result: Result,
        segment: Segment,
        make: Callable[[int], AnyVectorEnv],
        agent: Agent | None = None,
    ) -> None:
        self.result, self.segment, self.make, self.agent = result, segment, make, agent
        self.numbers = np.zeros(segment.rows, np.uint64)
        self.differences: dict[int, ReplayDifference] = {}
        self.unconfirmed = 0
        columns = result.columns
        self.recorded = {name: one[segment.episodes] for name, one in columns.items()}
        self.lasts = segment.starts + self.recorded["length"]
        """The row of each episode's last step that worked."""
        self.seeds = result.seeds[segment.episodes]
        self.agent_seeds = result.declaration.derived(segment.episodes.start, len(segment.starts), "agent")

    def checked(self, lanes: int, certain: Certain | None = None) -> SegmentCheck:
        """Execute all of them but those that are certain, so many at once; those that failed, each by itself."""
        asked = np.ones(len(self.lasts), np.bool_)
        if certain is not None:
            asked, self.numbers = ~certain.episodes, certain.numbers
        tried = self.segment.stops - 1 - self.lasts
        for episode in np.flatnonzero(asked & ((tried < 0) | (tried > 1))).tolist()[:MAX_DIFFERING_SEGMENTS]:
            rows = int(self.segment.stops[episode] - self.segment.starts[episode]) - 1
            self.differs(episode, 0, "length", int(self.recorded["length"][episode]), rows)
        begun = self.recorded["length"] > 0
        sound = np.flatnonzero(asked & (tried == 0) & begun).tolist()
        for first in range(0, len(sound), CHECKED_EPISODES):
            if len(self.differences) < MAX_DIFFERING_SEGMENTS:
                self._execute(sound[first : first + CHECKED_EPISODES], lanes)
        for one in np.flatnonzero(asked & (tried == 1)).tolist():
            self._execute([one], 1)
        for one in np.flatnonzero(asked & (tried == 0) & ~begun).tolist():
            self._begin_again(one)
        found = [self.differences[one] for one in sorted(self.differences)]
        wrong = None if found else self.segment.wrong_digest(self.numbers)
        return SegmentCheck(found, wrong, self.unconfirmed)

    def _execute(self, episodes: Iterable[int], lanes: int) -> None:
        waiting = deque(episodes)
        while waiting:
            count = min(lanes, len(waiting))
            with self.make(count) as envs:
                batch = _Lanes(envs, self)
                try:
                    batch.run(waiting)
                    continue
                except _Raised as raised:
                    if count == 1:
                        self._raised(int(batch.episodes[0]), int(batch.at[0]), raised.error)
                        continue
                    again = sorted(int(one) for one in batch.episodes if one != NOBODY)
            self._execute(again, 1)

    def _begin_again(self, episode: int) -> None:
        """An episode whose environment raised when it was begun."""
        with self.make(1) as envs:
            try:
                envs.reset(seed=self.seeds[episode])
            except Exception:
                return
        self.went_on(episode, 0)

    def went_on(self, episode: int, step: int) -> None:
        """An episode that the file says had failed here has not failed again."""
        outcome = OUTCOMES[int(self.recorded["outcome"][episode])]
        if outcome in (Outcome.INFRASTRUCTURE_FAILED, Outcome.ABORTED):
            self.unconfirmed += 1
        else:
            self.differs(episode, step, "outcome", _named(outcome), "an environment that goes on")

    def _raised(self, episode: int, at: int, error: Exception) -> None:
        """The environment has raised after row `at`, where the file may say that it did."""
        outcome = OUTCOMES[int(self.recorded["outcome"][episode])]
        if outcome is None or not outcome.masked or at != self.lasts[episode]:
            step = max(at - int(self.segment.starts[episode]), 0) + 1
            self.differs(episode, step, "error", "none", f"{type(error).__name__}: {error}")

    def differs(self, episode: int, step: int, field: str, recorded: object, replayed: object) -> None:
        """Take down where an episode differs, the first time it does."""
        number = self.segment.episodes.start + episode
        row = self.segment.first + int(self.segment.starts[episode]) + step
        told = ReplayDifference(number, step, 0, row, field, _python(recorded), _python(replayed))
        self.differences.setdefault(episode, told)

    def finished(self, episode: int, step: int, told: _End) -> None:
        """Compare how an episode ended: its flags, its return, its outcome."""
        recorded = {name: one[episode] for name, one in self.recorded.items()}
        for name in ("terminated", "truncated", "return"):
            if first_difference(recorded[name], told[name]) is not None:
                return self.differs(episode, step, name, recorded[name], told[name])
        outcome = OUTCOMES[int(recorded["outcome"])]
        over = bool(told["terminated"] or told["truncated"])
        if not over:
            return self._unended(episode, step, outcome)
        if outcome not in AGENTS_OWN and outcome is not told["outcome"]:
            self.differs(episode, step, "outcome", _named(outcome), _named(told["outcome"]))
        return None

    def _unended(self, episode: int, step: int, outcome: Outcome | None) -> None:
        """An episode that the environment did not end: cut after its most steps, or by a failure."""
        most = self.result.declaration.max_steps
        if step >= most and outcome in (Outcome.TIME_LIMIT, *AGENTS_OWN):
            return
        if outcome is not None and outcome.masked:
            self.went_on(episode, step)
        else:
            self.differs(episode, step, "length", f"{step}, {_named(outcome)}", f"not over, of at most {most}")


class _Raised(Exception):
    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Lanes:
    """The lanes of one batch, each in an episode of the segment."""

    def __init__(self, envs: AnyVectorEnv, work: Reexecution) -> None:
        n = envs.num_envs
        self.envs, self.work, self.segment = envs, work, work.segment
        self.episodes = np.full(n, NOBODY)
        self.at = np.full(n, NOBODY)
        """The row of the segment that each lane has executed last."""
        self.totals = np.zeros(n)
        self.digest = LaneDigest(envs.single_observation_space, n)
        self.acted = ValueColumns(envs.single_action_space, "action", n)
        self.observations: object = None
        self.info: Info = {}
        if work.agent is not None:
            work.agent.prepare(envs.single_observation_space, envs.single_action_space, n).attach(envs)

    def run(self, waiting: deque[int]) -> None:
        self._begin(np.ones(self.envs.num_envs, np.bool_), waiting)
        while (active := self.episodes != NOBODY).any():
            step = self._step(active)
            over = active & (step.terminated | step.truncated)
            # What differs from here on is the consequence of what differed first.
            lost = active & np.isin(self.episodes, list(self.work.differences))
            ended = active & ~lost & (over | (self.at >= self.segment.stops[self.episodes] - 1))
            for lane in np.flatnonzero(ended).tolist():
                self._ended(lane, step)
            lost |= ended
            if lost.any():
                self.episodes[lost] = NOBODY
                self._begin(lost, waiting)

    def _begin(self, free: Array, waiting: deque[int]) -> None:
        lanes = np.flatnonzero(free)[: len(waiting)]
        if not len(lanes):
            return
        mask = np.zeros(len(free), np.bool_)
        mask[lanes] = True
        self.episodes[lanes] = [waiting.popleft() for _ in lanes]
        self.at[lanes], self.totals[lanes] = NOBODY, 0.0
        seeds: Any = [self.work.seeds[self.episodes[lane]] if mask[lane] else 0 for lane in range(len(mask))]
        try:
            seen, begun = self.envs.reset(seed=seeds, options=None if mask.all() else {"reset_mask": mask})
        except Exception as error:
            raise _Raised(error) from error
        self.observations, self.info = seen, joined(info_of(self.info, ~mask), begun)
        self.at[lanes] = self.segment.starts[self.episodes[lanes]]
        self._see(mask)
        if self.work.agent is not None:
            for lane in lanes.tolist():
                self.work.agent.begin(lane, int(self.work.agent_seeds[self.episodes[lane]]))

    def _step(self, active: Array) -> Step[object]:
        rows = np.where(active, np.minimum(self.at + 1, self.segment.rows - 1), 0)
        action = self._action(rows, active)
        if self.work.agent is not None:
            self._compare_agent(self.work.agent, action, active)
        try:
            step = self.envs.step(action) if active.all() else self.envs.step_masked(action, active)
        except Exception as error:
            raise _Raised(error) from error
        self.observations, reward, terminated, truncated, self.info = step
        reward = np.asarray(reward, np.float64)
        self.totals[active] += reward[active]
        self.at[active] += 1
        self._see(active)
        for name, mine in (("reward", reward), ("terminated", terminated), ("truncated", truncated)):
            if name in self.segment.arrays:
                self._compare(name, self.segment.arrays[name][rows], mine, active)
        return step

    def _action(self, rows: Array, active: Array) -> object:
        columns: dict[str, object] = {}
        for name in self.acted.names:
            if name in self.segment.arrays:
                columns[name] = self.segment.arrays[name][rows]
            else:
                zero = self._zero(name)
                told = self.segment.objects.get(name) or []
                columns[name] = [told[row][0] if on else zero for row, on in zip(rows, active, strict=True)]
        return self.acted.whole(columns)

    def _zero(self, name: str) -> object:
        """Plain data for a lane that is not looked at."""
        single = ValueColumns(self.envs.single_action_space, "action", None)
        return single.take(self.envs.single_action_space.default())[1][name][0]

    def _see(self, lanes: Array) -> None:
        # The action that failed has no observation.
        chosen = np.flatnonzero(lanes & (self.at <= self.work.lasts[self.episodes]))
        rows, numbers = self.at[chosen], self.digest.of(self.observations)[chosen]
        self.work.numbers[rows] = numbers
        recorded = self.segment.arrays["seen"][rows]
        for place in np.flatnonzero(recorded != (numbers & np.uint64(0xFFFF))).tolist():
            lane = int(chosen[place])
            self._differs(lane, "observation", f"digest {int(recorded[place]):04x}", self._seen_by(lane))

    def _seen_by(self, lane: int) -> object:
        return list(iterate(self.envs.observation_space, self.observations))[lane]

    def _compare(self, name: str, recorded: Array, mine: Array, active: Array) -> None:
        same = (recorded == mine) | ((recorded != recorded) & (mine != mine))
        for lane in np.flatnonzero(active & ~same.reshape(len(same), -1).all(axis=1)).tolist():
            self._differs(lane, name, recorded[lane], mine[lane])

    def _compare_agent(self, agent: Agent, action: object, active: Array) -> None:
        """Whether the agent does what was recorded of it, in the episodes in which it has not failed."""
        own = [CODES[one] for one in AGENTS_OWN]
        asked = active & ~np.isin(self.work.recorded["outcome"][self.episodes], own)
        if not asked.any():
            return
        mine = agent.act_batch(self.observations, self.info, asked)
        pairs = zip(iterate(self.envs.action_space, action), iterate(self.envs.action_space, mine), strict=True)
        for lane, (recorded, done) in enumerate(pairs):
            if asked[lane] and not _same(recorded, done):
                self._differs(lane, "action", recorded, done, ahead=1)

    def _ended(self, lane: int, step: Step[object]) -> None:
        """What came of an episode that the environment or the file ends here."""
        episode, length = int(self.episodes[lane]), int(self.at[lane] - self.segment.starts[self.episodes[lane]])
        told = lane_info(self.info, lane) if self.info else {}
        terminated, truncated = bool(step.terminated[lane]), bool(step.truncated[lane])
        recorded = int(self.work.recorded["length"][episode])
        if length > recorded:
            return self.work.went_on(episode, recorded)
        if length < recorded:
            return self.work.differs(episode, length, "length", recorded, length)
        outcome = outcome_of(told["outcome"]) if told.get("outcome") else Outcome.derived(terminated, truncated)
        found: _End = {
            "terminated": terminated,
            "truncated": truncated,
            "return": self.totals[lane],
            "outcome": outcome,
        }
        return self.work.finished(episode, length, found)

    def _differs(self, lane: int, field: str, recorded: object, replayed: object, ahead: int = 0) -> None:
        episode = int(self.episodes[lane])
        step = int(self.at[lane] - self.segment.starts[episode]) + ahead
        self.work.differs(episode, step, field, recorded, replayed)


def _same(one: npt.ArrayLike, other: npt.ArrayLike) -> bool:
    try:
        return bool(np.array_equal(one, other)) or one == other
    except (TypeError, ValueError):
        return False


def _python(value: object) -> object:
    return value.item() if is_scalar(value) else value


def _named(outcome: Outcome | None) -> str:
    return "none" if outcome is None else outcome.value
