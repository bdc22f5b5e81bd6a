"""The process executor: lanes in worker processes, values in memory that they share with the batch."""

import os
from collections.abc import Mapping, Sequence
from multiprocessing.util import Finalize
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, EpisodePlan, Info, Step
from ludus.core.env import ActT, ObsT_co
from ludus.core.fork import Lanes
from ludus.core.options import Options
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import ClosedEnvironment, InvalidArgument, InvalidSpace, OutOfTurn, ResetNeeded, shorten
from ludus.seeding import Seed, lane_seeds
from ludus.spaces import Space
from ludus.spaces.array_space import Array
from ludus.vector.checks import MAX_RESTARTS, TIMEOUT_SECONDS, OnFailure, count
from ludus.vector.failure import error_of
from ludus.vector.lane import Maker
from ludus.vector.lanes import LaneVectorEnv
from ludus.vector.split import available_cores, spans
from ludus.vector.work import PoolWork
from ludus.vector.worker_options import WorkerOptions
from ludus.vector.worker_pool import CLOSE_DEADLINE_S, WorkerPool

__all__ = ["ProcessVectorEnv"]

Flags = npt.NDArray[np.bool_]
Columns = tuple[list[object], list[int | None], npt.NDArray[np.float64], Flags, Flags, Flags, Flags]
"""The last observations and seeds of lanes, rewards, terminated, truncated, and which have begun and ended."""
ProcessState = tuple[list[object], Columns, tuple[Space[object], Space[object]]]
"""A snapshot of each lane, as its worker made it, the batch's own part, and the spaces."""


class ProcessVectorEnv(LaneVectorEnv[ObsT_co, ActT]):
    """A batch whose lanes run in worker processes, several in each; histories are those of the serial executor.

    `timeout` is for how many seconds a worker may make no progress. A worker that dies or hangs is a `WorkerFailure`,
    and its lanes are gone until `reset`; with `on_failure="restart"` they are made anew, at most `max_restarts` times,
    and the broken episodes end as truncated, with `info["worker_failure"]`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> with ProcessVectorEnv([GridWorld] * 4, num_workers=2) as envs:
    ...     observations, infos = envs.reset(seed=0)
    ...     envs.step([1, 3, 0, 1]).observation.tolist()
    [[1, 0], [0, 1], [0, 0], [1, 0]]
    """

    executor = "process"

    def __init__(
        self,
        env_fns: Sequence[Maker],
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_workers: int | None = None,
        batch_size: int | None = None,
        context: str | None = None,
        timeout: float | None = TIMEOUT_SECONDS,
        on_failure: OnFailure = "raise",
        max_restarts: int = MAX_RESTARTS,
        copy: bool = True,
        episodes: EpisodePlan | None = None,
    ) -> None:
        self._accept(env_fns, autoreset_mode, copy, episodes)
        self.num_envs = len(self._makers)
        self.num_workers = min(self.num_envs, count("num_workers", num_workers, available_cores()))
        self.batch_size = count("batch_size", batch_size, self.num_envs)
        if self.batch_size > self.num_envs:
            raise InvalidArgument(
                f"batch_size: expected at most {self.num_envs}, the number of lanes, got {batch_size}"
            )
        self._worker_options = WorkerOptions(self._mode, episodes, context or "fork", timeout, on_failure, max_restarts)
        self._home = os.getpid()
        self._open()

    def _open(self) -> None:
        """Start workers, and share memory with them."""
        pool = WorkerPool(self._makers, spans(self.num_envs, self.num_workers), self._worker_options)
        self._end = Finalize(self, pool.end, exitpriority=10)
        try:
            metadata, render_mode, found = pool.descriptions[0]
            self._describe(metadata, render_mode, found[0][1:])
            self._require_equal_spaces([one for _, _, spaces in pool.descriptions for one in spaces])
            self._block = pool.share(self.single_observation_space, self.single_action_space)
        except BaseException:
            self._end()
            raise
        self._pool, self._work, n = pool, PoolWork(pool, self._block, self._worker_options), self.num_envs
        self._begun, self._ended = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._ripe: dict[int, Info] = {}
        self._batches: dict[int, Space[object]] = {n: self.action_space}
        self._steady = False
        """Whether every lane is begun and has its worker: then a step need not ask."""

    def _require_equal_spaces(self, found: list[tuple[int, Space[object], Space[object]]]) -> None:
        for lane, *both in found:
            for name, space in zip(("observation_space", "action_space"), both, strict=True):
                expected = getattr(self, f"single_{name}")
                if expected != space:
                    raise InvalidSpace(f"lane {lane}: expected the {name} of lane 0, {expected!r}, got {space!r}")

    # --- what is refused ---

    def _check_open(self, call: str) -> None:
        super()._check_open(call)
        if self._home != os.getpid():
            raise ClosedEnvironment(
                f"{call}: expected the process that made the batch, since its workers are there, got a fork of it; "
                "make a new batch here"
            )
        if self._work.undrained:
            self._drain()

    def _check_idle(self, call: str) -> None:
        """Lanes that were sent have to be received before the whole batch is asked for something."""
        self._check_open(call)
        if self._work.flying or self._ripe:
            busy = sorted(self._work.flying | self._ripe.keys())
            raise OutOfTurn(f"{call}: expected no lanes under way, got {busy}; recv() them first")

    def _check_steady(self, call: str, lanes: Lanes | None = None) -> None:
        lost = self._work.lost_lanes if self._worker_options.on_failure == "raise" else []
        gone = [lane for lane in lost if lanes is None or lane in lanes]
        if gone:
            raise ResetNeeded(
                f"{call}: expected lanes under way, got lanes {gone}, whose worker failed; reset() starts it anew"
            )
        self._check_begun(call, lanes)

    def _drain(self) -> None:
        """After a call that was interrupted: wait for what is under way; which lanes have moved is not known."""
        self._begun[:], self._interrupted, self._steady = False, True, False
        self._work.drain()
        self._ripe.clear()

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
    ) -> tuple[ObsT_co, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`.

        A worker that was lost is started anew if a lane of its own is reset. When all lanes are reset, those under way
        are waited for and forgotten.
        """
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        if mask.all() and (self._work.flying or self._ripe):
            self._drain()
        self._check_idle("reset")
        seeds, lanes = lane_seeds(seed, self.num_envs), [int(lane) for lane in np.flatnonzero(mask)]
        for lane in lanes:
            self._work.seeds[lane] = self._work.seeds[lane] if seeds[lane] is None else seeds[lane]
        infos = self._work.reset(lanes, seeds, rest)
        self._ended[mask] = False
        self._begun |= mask
        self._check_all_begun()
        self._steady = not self._work.lost_lanes
        return self._block.observations.batch(copy=self.copy), self._merged(infos)

    def step(self, action: ActT) -> Step[ObsT_co]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        self._check_idle("step")
        if not self._steady:
            self._check_steady("step")
        if self._mode is AutoresetMode.DISABLED:
            self._check_under_way("step", np.flatnonzero(self._ended))
        block, work = self._block, self._work
        if block.actions.put(action):
            self._check_choices(action, self.action_space)
            work.in_memory(range(self.num_envs))
        else:
            work.hand_out(dict(enumerate(self._actions(action))))
        self._steady = False
        infos = work.step()
        self._steady = True
        terminated, truncated = block.terminated.copy(), block.truncated.copy()
        if self._mode is AutoresetMode.DISABLED:
            self._ended = terminated | truncated
        observation, merged = block.observations.batch(copy=self.copy), self._merged(infos) if infos else {}
        return Step(observation, block.rewards.copy(), terminated, truncated, merged)

    def step_masked(self, action: ActT, mask: npt.NDArray[np.bool_]) -> Step[ObsT_co]:
        """Advance the lanes of the mask; the others stay as they are."""
        if self.lane_mask(mask).all():
            return self.step(action)
        self._check_idle("step_masked")
        if not self._steady:
            self._check_steady("step_masked")
        if self._mode is AutoresetMode.DISABLED:
            self._check_under_way("step_masked", np.flatnonzero(self._ended & mask))
        block, work, held = self._block, self._work, ~mask
        if (not self._chooses or self._plainly_chosen(action)) and block.actions.put(action):
            work.in_memory(range(self.num_envs))
        else:
            work.hand_out(self._masked_actions(action, mask))
        block.rewards[held], block.terminated[held], block.truncated[held], block.mask[:] = 0.0, False, False, mask
        self._steady = False
        infos = work.step(work.some(mask))
        self._steady = True
        terminated, truncated = block.terminated.copy(), block.truncated.copy()
        if self._mode is AutoresetMode.DISABLED:
            self._ended = np.where(mask, terminated | truncated, self._ended)
        return Step(
            block.observations.batch(copy=self.copy), block.rewards.copy(), terminated, truncated, self._merged(infos)
        )

    def autoreset(self, mask: npt.NDArray[np.bool_]) -> tuple[ObsT_co, Info]:
        """Begin the next episode in the lanes of the mask, as planned."""
        self.lane_mask(mask)
        self._check_idle("autoreset")
        if not self._steady:
            self._check_steady("autoreset")
        self._steady = False
        infos = self._work.begin(np.flatnonzero(mask).tolist())
        self._steady = True
        self._ended[mask] = False
        return self._block.observations.batch(copy=self.copy), self._merged(infos)

    def _merged(self, infos: dict[int, Info]) -> Info:
        merged: Info = {}
        for lane in sorted(infos):
            self._add_info(merged, infos[lane], lane)
        return merged

    # --- some lanes at a time ---

    def send(self, actions: object, lanes: Sequence[int] | Array | None = None) -> None:
        """Have lanes, all of them if nothing else is said, make a step; they go on while you do something else."""
        self._check_open("send")
        chosen = np.arange(self.num_envs) if lanes is None else self._chosen(lanes)
        places: list[int] = chosen.tolist()
        busy = sorted((self._work.flying | self._ripe.keys()) & set(places))
        if busy:
            raise OutOfTurn(f"send: expected lanes that wait for an action, got {busy} under way; recv() them first")
        if not self._steady:
            self._check_steady("send", chosen)
        if self._mode is AutoresetMode.DISABLED:
            self._check_under_way("send", chosen[self._ended[chosen]])
        if len(places) not in self._batches:
            self._batches[len(places)] = self.single_action_space.batch(len(places))
        space = self._batches[len(places)]
        if self._block.actions.put(actions, chosen):
            self._check_choices(actions, space)
            self._work.in_memory(places)
        else:
            each = self._actions(actions, space, len(places))
            self._work.hand_out(dict(zip(places, each, strict=True)), singly=True)
        self._work.send(places)

    def recv(self) -> tuple[npt.NDArray[np.intp], Step[ObsT_co]]:
        """The first `batch_size` lanes to make the step they were sent on, in order of lanes, and what it gave them."""
        self._check_open("recv")
        while len(self._ripe) < self.batch_size:
            under_way = len(self._ripe) + len(self._work.flying)
            if under_way < self.batch_size:
                raise OutOfTurn(
                    f"recv: expected batch_size={self.batch_size} lanes under way, got {under_way}; send() them first"
                )
            self._work.gather(self._ripe)
        lanes = np.array(sorted(list(self._ripe)[: self.batch_size]))
        part = AnyVectorEnv()  # whose infos have a column for each of these lanes
        part.num_envs, merged = len(lanes), Info()
        for place, lane in enumerate(lanes.tolist()):
            part._add_info(merged, self._ripe.pop(lane), place)
        block = self._block
        terminated, truncated = block.terminated[lanes], block.truncated[lanes]
        if self._mode is AutoresetMode.DISABLED:
            self._ended[lanes] = terminated | truncated
        return lanes, Step(block.observations.batch(lanes), block.rewards[lanes], terminated, truncated, merged)

    def _chosen(self, lanes: object) -> npt.NDArray[np.intp]:
        chosen = np.asarray(lanes)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or not 0 < chosen.size == len(set(chosen.tolist())):
            raise InvalidArgument(f"lanes: expected a sequence of different lanes, got {shorten(lanes)}")
        if chosen.min() < 0 or chosen.max() >= self.num_envs:
            raise InvalidArgument(f"lanes: expected lanes from 0 to {self.num_envs - 1}, got {shorten(lanes)}")
        return chosen.astype(np.intp)

    # --- lanes from outside ---

    def _query(
        self, verb: str, *arguments: object, each: Mapping[int, tuple[object, ...]] | None = None
    ) -> list[list[object]]:
        """What each worker answers; values are copies of what is in the worker."""
        self._check_idle(verb)
        self._steady = False  # a worker may be lost on the way
        found = self._work.request(verb, each or dict.fromkeys(range(self.num_workers), arguments))
        self._steady = bool(self._begun.all()) and not self._work.lost_lanes
        return found

    def call(self, name: str, /, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """The attribute `name` of each lane, called with these arguments if it can be; what is given is a copy."""
        return tuple(one for share in self._query("call", name, args, kwargs) for one in share)

    def set_attr(self, name: str, values: object) -> None:
        """Set the attribute on each lane: one value for all, or a list or tuple with one for each."""
        each = self._one_for_each(name, values)
        self._query("set", each={number: (name, each[slice(*span)]) for number, span in enumerate(self._pool.spans)})

    def render(self) -> tuple[Any, ...]:
        """The picture of each lane."""
        return tuple(one for share in self._query("render") for one in share)

    # --- snapshots: made in the workers, and kept here as they are ---

    def _capture(self, memo: dict[int, object]) -> ProcessState:
        del memo
        snapshots = [one for share in self._query("snapshot") for one in share]
        return snapshots, self._columns(range(self.num_envs)), self._space_state()

    def _reinstate(self, state: ProcessState, memo: dict[int, object]) -> None:
        del memo
        snapshots, columns, spaces = state
        self._take(snapshots, columns)
        self._take_spaces(spaces)

    def _columns(self, lanes: Sequence[int] | range) -> Columns:
        """The parent's part of the state of these lanes."""
        chosen, block = list(lanes), self._block
        last, seeds = [block.observations.read(lane) for lane in chosen], [self._work.seeds[lane] for lane in chosen]
        flags = block.terminated[chosen], block.truncated[chosen], self._begun[chosen], self._ended[chosen]
        return last, seeds, block.rewards[chosen], *flags

    def _take(self, snapshots: list[object], columns: Columns) -> None:
        shares = {
            number: ({lane: snapshots[lane] for lane in range(*span)},) for number, span in enumerate(self._pool.spans)
        }
        self._query("restore", each=shares)
        last, seeds, rewards, terminated, truncated, begun, ended = columns
        block = self._block
        block.rewards[:], block.terminated[:], block.truncated[:] = rewards, terminated, truncated
        self._begun, self._ended, self._work.seeds = begun.copy(), ended.copy(), list(seeds)
        for lane in np.flatnonzero(begun).tolist():
            block.observations.write(lane, last[lane], [])
        self._steady = bool(begun.all()) and not self._work.lost_lanes

    def fork(self, lanes: Sequence[int] | Array) -> "ProcessVectorEnv[ObsT_co, ActT]":
        """A new batch, with workers of its own, whose lane `j` goes on from where lane `lanes[j]` is."""
        self._check_idle("fork")
        chosen = [int(lane) for lane in self._forked_lanes(lanes)]
        snapshots = [one for share in self._query("snapshot") for one in share]
        twin = ProcessVectorEnv(
            [self._makers[lane] for lane in chosen],
            autoreset_mode=self._mode,
            num_workers=self.num_workers,
            batch_size=min(self.batch_size, len(chosen)),
            context=self._worker_options.context,
            timeout=self._worker_options.timeout,
            on_failure=self._worker_options.on_failure,
            max_restarts=self._worker_options.max_restarts,
            copy=self.copy,
            episodes=self.episodes,
        )
        try:
            twin._take([snapshots[lane] for lane in chosen], self._columns(chosen))
        except BaseException:
            twin.close()
            raise
        twin.spec = self.spec
        return twin

    # --- the end ---

    def close_extras(self, *, timeout: float | None = None, terminate: bool = False, **kwargs: object) -> None:
        """End every worker: it has `timeout` seconds to close its lanes, and none with `terminate`."""
        del kwargs
        if self._home != os.getpid():
            return
        self._end.cancel()
        failures = self._pool.end(0.0 if terminate else CLOSE_DEADLINE_S if timeout is None else timeout)
        del self._block, self._work  # the memory goes with the last view of it
        if failures:
            self.closed = True
            raise error_of(failures[0], "a lane that closes")
