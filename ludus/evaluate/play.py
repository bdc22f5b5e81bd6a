"""Episodes of an agent in the lanes of a batch, whatever fails: what an episode comes to depends on no other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ludus.core import Info, Outcome
from ludus.core.info import info_of, joined, lane_info
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import ContractViolation, InvalidAction, InvalidArgument, WorkerFailure
from ludus.evaluate.agents import Agent, NopAgent
from ludus.evaluate.evaluation import EpisodeResult
from ludus.evaluate.step_log import EpisodeRecord, StepLog
from ludus.spaces import ArraySpace, concatenate, iterate
from ludus.spaces.array_space import Array
from ludus.trajectory.lane_digest import LaneDigest
from ludus.trajectory.values import ValueColumns

__all__ = ["PlayConfig", "play_episodes"]

NOBODY = -1
"""The number of the episode of a lane that plays none."""


class PlayConfig(NamedTuple):
    """What is played, how many at once, and with which seeds."""

    make: Callable[[int], AnyVectorEnv]
    """Makes a batch of so many lanes, which are reset by hand."""
    agent: Agent
    lanes: int
    seeds: Array
    """Of the environment, by the number of the episode."""
    agent_seeds: Array
    max_steps: int
    recorded: bool
    """Whether actions, rewards and digests are kept."""


def play_episodes(course: PlayConfig, numbers: Iterable[int]) -> Iterator[EpisodeRecord]:
    """Each episode as it ends.

    A batch that raises says nothing of which lane did: the episodes under way are played again, one by one, and the one
    that raises again has failed. So an episode comes to the same however many are played at once.
    """
    waiting = deque(numbers)
    while waiting:
        count = min(course.lanes, len(waiting))
        with course.make(count) as envs:
            play = _Play(envs, course)
            try:
                yield from play.played(waiting)
                continue
            except _Broken as broken:
                if count == 1:
                    yield play.failed(broken.error)
                    continue
                again = sorted(int(one) for one in play.numbers if one != NOBODY)
        yield from play_episodes(course._replace(lanes=1), again)


class _Broken(Exception):
    """What an environment raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Play:
    """The lanes of one batch."""

    def __init__(self, envs: AnyVectorEnv, course: PlayConfig) -> None:
        self.envs, self.course = envs, course
        n = envs.num_envs
        self.agent = course.agent.prepare(envs.single_observation_space, envs.single_action_space, n)
        self.agent.attach(envs)
        self.nop = NopAgent().prepare(envs.single_observation_space, envs.single_action_space, n)
        self.one_by_one = type(self.agent).act_batch is Agent.act_batch
        self.numbers = np.full(n, NOBODY)
        self.totals, self.lengths, self.starts = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.faults: dict[int, tuple[Outcome, Exception]] = {}
        """Lanes whose agent has failed; they are played to their end without it."""
        self.acted = ValueColumns(envs.single_action_space, "action", n)
        compiled = getattr(envs, "executor", "") == "kernel"
        self.digest = LaneDigest(envs.single_observation_space, n, compiled=compiled) if course.recorded else None
        self.log = StepLog(n)
        self.begun = np.zeros(n, np.uint64)
        """The digest of each lane's first observation."""
        self.observations: object = None
        self.info: Info = {}
        self.last: object = None
        """The actions under way."""

    # --- the loop ---

    def played(self, waiting: deque[int]) -> Iterator[EpisodeRecord]:
        """Episodes as they end, until none is waiting."""
        everyone = np.ones(self.envs.num_envs, np.bool_)
        self._begin(everyone, waiting)
        while (active := self.numbers != NOBODY).any():
            over, late = self._step(active)
            ended = over | late
            if not ended.any():
                self.log.forget(self._oldest)
                continue
            lanes = np.flatnonzero(ended).tolist()
            yield from [self._record(lane, bool(late[lane])) for lane in lanes]
            self.numbers[ended] = NOBODY
            self._begin(ended, waiting)
            self.log.forget(self._oldest)

    def _begin(self, free: Array, waiting: deque[int]) -> None:
        """Give lanes that are free their next episodes."""
        lanes = np.flatnonzero(free)[: len(waiting)]
        if not len(lanes):
            return
        self.numbers[lanes] = [waiting.popleft() for _ in lanes]
        mask = np.zeros(self.envs.num_envs, np.bool_)
        mask[lanes] = True
        seeds = np.zeros(self.envs.num_envs, np.uint64)
        seeds[lanes] = self.course.seeds[self.numbers[lanes]]
        self.totals[lanes], self.lengths[lanes], self.starts[lanes] = 0.0, 0, self.log.row
        self.begun[lanes], self.last = 0, None
        self._reset(seeds, None if mask.all() else mask)
        for lane in lanes.tolist():
            self.faults.pop(lane, None)
            try:
                self.agent.begin(lane, int(self.course.agent_seeds[self.numbers[lane]]))
            except Exception as error:
                self.faults[lane] = Outcome.AGENT_FAILED, error

    def _reset(self, seeds: Any, mask: Array | None) -> None:
        options = None if mask is None else {"reset_mask": mask}
        try:
            self.observations, begun = self.envs.reset(seed=seeds, options=options)
        except Exception as error:
            raise _Broken(error) from error
        self.info = begun if mask is None else joined(info_of(self.info, ~mask), begun)
        if self.digest is not None:
            found = self.digest.of(self.observations)
            self.begun = found if mask is None else np.where(mask, found, self.begun)

    def _step(self, active: Array) -> tuple[Array, Array]:
        """One step of the active lanes: those that are over, and those that have to be cut."""
        envs = self.envs
        actions = self.last = self._actions(active)
        try:
            step = envs.step(actions) if active.all() else envs.step_masked(actions, active)
        except InvalidAction as error:
            if envs.num_envs > 1 or self.faults:  # it may be another lane's; doing nothing is no agent's
                raise _Broken(error) from error
            self.faults[0] = Outcome.INVALID_ACTION, error
            return self._step(active)
        except Exception as error:
            raise _Broken(error) from error
        self.observations, reward, self.terminated, self.truncated, self.info = step
        reward = np.asarray(reward, np.float64)
        if self.digest is not None:
            arrays, objects = self.acted.take(actions)
            self.log.put(arrays, objects, numbers=self.digest.of(self.observations), rewards=reward)
        self.totals[active] += reward[active]
        self.lengths[active] += 1
        over = active & (self.terminated | self.truncated)
        return over, active & ~over & (self.lengths >= self.course.max_steps)

    def _oldest(self) -> int:
        under_way = self.starts[self.numbers != NOBODY]
        return int(under_way.min()) if len(under_way) else self.log.row

    # --- actions ---

    def _actions(self, active: Array) -> object:
        if not self.one_by_one and not self.faults:
            try:
                return self._conformed(self.agent.act_batch(self.observations, self.info, active))
            except Exception as error:  # of a whole batch nobody can tell whose fault it is
                self.faults |= dict.fromkeys(np.flatnonzero(active).tolist(), (Outcome.AGENT_FAILED, error))
        elif not self.one_by_one:
            return self._mixed(active)
        seen = iterate(self.envs.observation_space, self.observations)
        return self._joined([self._action(lane, one, active) for lane, one in enumerate(seen)], active)

    def _mixed(self, active: Array) -> object:
        """The actions of an agent of whole batches, but for the lanes in which it has failed."""
        alone = active.copy()
        alone[list(self.faults)] = False
        actions: list[object] = [self.envs.single_action_space.default()] * len(active)
        if alone.any():
            try:
                batch = self._conformed(self.agent.act_batch(self.observations, self.info, alone))
                actions = list(iterate(self.envs.action_space, batch))
            except Exception as error:
                self.faults |= dict.fromkeys(np.flatnonzero(alone).tolist(), (Outcome.AGENT_FAILED, error))
        for lane in self.faults:
            actions[lane] = self.nop.act(None, lane_info(self.info, lane), lane)
        return self._joined(actions, active)

    def _action(self, lane: int, observation: object, active: Array) -> object:
        if not active[lane]:
            return self.envs.single_action_space.default()
        info = lane_info(self.info, lane) if self.info else {}
        if lane not in self.faults:
            try:
                return self.agent.act(observation, info, lane)
            except Exception as error:
                self.faults[lane] = Outcome.AGENT_FAILED, error
        return self.nop.act(observation, info, lane)

    def _joined(self, actions: list[object], active: Array) -> object:
        """Actions as one value; what does not even have the form of an action is the agent's fault."""
        space = self.envs.single_action_space
        try:
            return self._conformed(concatenate(space, actions))
        except Exception as error:
            wrong = [lane for lane, one in enumerate(actions) if active[lane] and not space.contains(one)]
            if not wrong:
                raise
            for lane in wrong:
                self.faults[lane] = Outcome.INVALID_ACTION, error
                actions[lane] = self.nop.act(None, lane_info(self.info, lane), lane)
            return self._conformed(concatenate(space, actions))

    def _conformed(self, batch: object) -> object:
        """Numbers in the dtype of the space, so that what is recorded is what was done."""
        space = self.envs.single_action_space
        if not isinstance(space, ArraySpace):
            return batch
        found = np.asarray(batch)
        alike = found.dtype.kind == space.dtype.kind or {found.dtype.kind, space.dtype.kind} <= {"i", "u"}
        return found.astype(space.dtype, copy=False) if alike else batch

    # --- what came of it ---

    def _record(self, lane: int, late: bool) -> EpisodeRecord:
        info = lane_info(self.info, lane) if self.info else {}
        fault = self.faults.get(lane)
        terminated, truncated = bool(self.terminated[lane]), bool(self.truncated[lane]) or late
        outcome = fault[0] if fault else _outcome(info) or Outcome.derived(terminated, truncated)
        result = EpisodeResult(
            number=int(self.numbers[lane]),
            seed=int(self.course.seeds[self.numbers[lane]]),
            total=float(self.totals[lane]),
            length=int(self.lengths[lane]),
            terminated=terminated,
            truncated=truncated,
            outcome=outcome,
        )
        return self._with_steps(lane, result, None if fault is None else _described(fault[1]))._replace(cut=late)

    def failed(self, error: Exception) -> EpisodeRecord:
        """The episode of the only lane, which the environment has ended."""
        lost = isinstance(error, WorkerFailure) and not error.worker_traceback
        number = int(self.numbers[0])
        result = EpisodeResult(
            number=number,
            seed=int(self.course.seeds[number]),
            total=float(self.totals[0]),
            length=int(self.lengths[0]),
            terminated=False,
            truncated=False,
            outcome=Outcome.INFRASTRUCTURE_FAILED if lost else Outcome.ENVIRONMENT_FAILED,
        )
        found = self._with_steps(0, result, _described(error))
        if self.digest is None or self.last is None:
            return found
        arrays, objects = self.acted.take(self.last)  # the action that it failed at, to be tried again
        return found._replace(
            arrays={name: np.concatenate([found.arrays.get(name, one[:0]), one]) for name, one in arrays.items()},
            objects={name: [*found.objects.get(name, []), one[0]] for name, one in objects.items()},
        )

    def _with_steps(self, lane: int, result: EpisodeResult, failure: tuple[str, str] | None) -> EpisodeRecord:
        if self.digest is None:
            return EpisodeRecord(result, {}, {}, np.zeros(0, np.uint64), np.zeros(0), failure)
        if not result.length:
            return EpisodeRecord(result, {}, {}, self.begun[lane : lane + 1], np.zeros(0), failure)
        arrays, objects = self.log.taken(lane, int(self.starts[lane]), self.log.row)
        numbers = np.concatenate([self.begun[lane : lane + 1], arrays.pop("")])
        return EpisodeRecord(result, arrays, objects, numbers, arrays.pop("reward"), failure)


def _described(error: Exception) -> tuple[str, str]:
    return type(error).__name__, str(error)


def _outcome(info: Info) -> Outcome | None:
    try:
        return Outcome.told(info.get("outcome"))
    except InvalidArgument as error:
        raise ContractViolation(f"info['outcome']: {error}") from error
