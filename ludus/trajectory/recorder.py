"""`Recorder`: a wrapper that writes down what happens, for one environment or for a batch."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, NoReturn, SupportsInt, cast

import numpy as np

from ludus.core import AutoresetMode, Env, EnvSpec, Info, Outcome, Step, Wrapper
from ludus.core.env import ActT, Metadata, ObsT
from ludus.core.fork import Lanes
from ludus.core.options import Options
from ludus.core.wrapper import SomeLanes
from ludus.errors import (
    InvalidAction,
    InvalidArgument,
    InvalidType,
    LudusError,
    ResetNeeded,
    TrajectoryError,
    WorkerFailure,
    listing,
    shorten,
)
from ludus.seeding import Seed, as_seed, np_random
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array, is_iterable
from ludus.spaces.plain import encode_value
from ludus.trajectory.block import AUTORESET, RESET, RESTORE, STEP, StepRow
from ludus.trajectory.digest import RowDigest
from ludus.trajectory.event import EventValue, Failure, stored
from ludus.trajectory.header import LEVELS, Level, header_of
from ludus.trajectory.planned_lanes import PlannedLanes
from ludus.trajectory.tracker import EpisodeTracker
from ludus.trajectory.values import ValueColumns
from ludus.trajectory.writer import RunWriter
from ludus.wire.infos import write_infos

if TYPE_CHECKING:
    from ludus.trajectory.tally import CompiledTally

__all__ = ["Recorder"]

FINAL = ("final_obs", "_final_obs")


class Recorder(Wrapper[ObsT, ActT, ObsT, ActT]):
    """Records an environment or a batch into a new file; `close` finishes it, and a kill loses at most a second.

    `level` is how much is kept: "seeds" is enough to compute everything again, "steps" adds rewards, flags and the
    `info` keys named, "full" adds observations and whole infos. Steps are the same with and without it. Rewards may be
    edited and observations changed by who gets them: rows are copied.

    >>> import ludus, tempfile
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("GridWorld-v0"), path) as env:
    ...     _ = env.reset(seed=7)
    ...     for action in (0, 1, 1):
    ...         _ = env.step(action)
    >>> from ludus.trajectory import Run
    >>> Run.open(path)[0].actions.tolist()
    [0, 1, 1]
    """

    snapshot_shared: ClassVar[tuple[str, ...]] = (
        "_writer",
        "_tracker",
        "_digest",
        "_tally",
        "_observed",
        "_acted",
        "_plans",
    )

    def __init__(
        self,
        env: Env[ObsT, ActT],
        path: str | os.PathLike[str],
        level: Level = "seeds",
        *,
        info: Sequence[str] | None = None,
        metadata: Metadata | None = None,
    ) -> None:
        super().__init__(env)
        if level not in LEVELS:
            raise InvalidArgument(f"level: expected one of {listing(LEVELS)}, got {shorten(level)}")
        batched = bool(env.batch_shape)
        self.level: Level = level
        self._batched = batched
        self._lanes: int = env.batch_shape[0] if batched else 1
        mode = self.autoreset_mode if batched else AutoresetMode.DISABLED
        lanes = self._lanes if batched else None
        seen = self.single_observation_space if batched else env.observation_space
        self._observed = ValueColumns(seen, "observation", lanes)
        self._acted = ValueColumns(self.single_action_space if batched else env.action_space, "action", lanes)
        self._info_keys = tuple(info or ())
        self._whole_infos = level == "full" and info is None
        if level == "seeds" and self._info_keys:
            raise InvalidArgument("info: expected level 'steps' or 'full', got 'seeds', which keeps no infos")
        objects = (*self._acted.object_names, *(self._observed.object_names if level == "full" else ()))
        header = header_of(env, level, info=self._info_keys, metadata=metadata)
        self._tracker, self._digest = EpisodeTracker(self._lanes, mode), RowDigest()
        objects += ("info",) if self._whole_infos else ()
        self._writer = RunWriter(path, header, objects, at_end=self._abort)
        self._seeded = False
        self._plans = PlannedLanes(env.unwrapped.episodes, self._lanes) if header.planned else None  # type: ignore[attr-defined]
        self._tally = self._compiled()

    def _compiled(self) -> "CompiledTally | None":
        """What takes the steps of a compiled batch in one pass, where it can."""
        if (
            self.level == "full"
            or self._info_keys
            or self._plans is not None
            or getattr(self.env.unwrapped, "executor", "") != "kernel"
        ):
            return None
        from ludus.trajectory.tally import CompiledTally  # with the compiler, which a compiled batch has loaded already

        return CompiledTally(self._tracker, self._writer, self._acted.space, steps=self.level == "steps")

    @property
    def path(self) -> Path:
        """The file."""
        return self._writer.path

    @property
    def spec(self) -> EnvSpec | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the environment below: being recorded is no part of what an environment is."""
        return self.env.spec

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset below. The first reset is seeded, from the system where the caller does not: it has to be replayed."""
        self._writer.check()
        begins = isinstance(self.env, SomeLanes) and self.env.begins
        if seed is None and not self._seeded and not begins:
            seed = np_random()[1]
        try:
            observation, info = self.env.reset(seed=seed, options=options)
        except Exception as error:
            self._failed(error)
            raise
        self._seeded = True
        self._take_reset(observation, info, (seed, options), begins=begins)
        return observation, info

    def _take_reset(
        self, observation: ObsT, info: Info, request: tuple[object, Options | None], *, begins: bool
    ) -> None:
        seed, options = request
        mask: Array | None = None if options is None else options.get("reset_mask")
        arrays, objects = self._seen(observation, info)
        arrays |= self._acted.zeros()
        if self.level != "seeds":
            none = np.zeros(self._lanes, np.bool_)
            arrays |= {"reward": self._tracker.returns * 0.0, "terminated": none, "truncated": none}
        written = None if begins else (_plain_seed(seed), _plain_options(options))
        lanes = None if mask is None or mask.all() else mask.copy()
        plans = () if self._plans is None else self._plans.reset(lanes, planned=begins)
        self._writer.put(StepRow(AUTORESET if begins else RESET, arrays, objects, lanes, written, None, plans))
        self._tracker.begin(self._writer.row - 1, lanes, self._writer.ended)

    def step(self, action: ActT) -> Step[ObsT]:
        """Step below, and take the row."""
        try:
            step = self.env.step(action)
        except Exception as error:
            self._failed(error)
            raise
        if self._tally is None or not self._tally.take(action, step, self.stepped):
            self._take_step(action, step)
        return step

    def _take_step(self, action: ActT, step: Step[ObsT]) -> None:
        observation, reward, terminated, truncated, info = step
        arrays, objects = self._seen(observation, info)
        acted, acted_objects = self._acted.take(action)
        arrays.update(acted)
        objects.update(acted_objects)
        if not self._batched:
            reward, terminated, truncated = np.asarray(reward, np.float64)[None], _flag(terminated), _flag(truncated)
            info = {"outcome": [info["outcome"]]} if "outcome" in info else {}
        if self.level != "seeds":
            arrays["reward"], arrays["terminated"], arrays["truncated"] = reward, terminated, truncated
        mask, writer = self.stepped, self._writer
        final = self._finals(info) if self.level == "full" else None
        plans = () if self._plans is None else self._plans.step(terminated | truncated, self._tracker.mode, mask)
        writer.put(StepRow(STEP, arrays, objects, None if mask is None else mask.copy(), None, final, plans))
        self._tracker.advance(writer.row - 1, (reward, terminated, truncated, info), mask, writer.ended)

    def close(self) -> None:
        """Close the environment below, and finish the file."""
        try:
            super().close()
        finally:
            self._writer.close()

    def flush(self) -> None:
        """Write what there is, and wait until it is in the file; otherwise that happens twice a second."""
        self._writer.flush()

    # --- what is beside the steps ---

    def record(self, event: EventValue, *, lane: int = 0) -> None:
        """Write an event, which belongs to the step that `lane` made last."""
        if not 0 <= lane < self._lanes:
            raise InvalidArgument(f"lane: expected 0 to {self._lanes - 1}, got {shorten(lane)}")
        writer = self._writer
        writer.add_event(stored(event, writer.row - 1, lane, monotonic() - writer.began))

    def add_blob(self, data: bytes) -> str:
        """Write bytes (a screenshot, token ids, a long output) and give the name for events to refer to them by."""
        if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"blob: expected bytes, got {shorten(data)}")
        return self._writer.add_blob(bytes(data))

    # --- snapshots and forks ---

    def _reinstate(self, state: object, memo: dict[int, object]) -> None:
        super()._reinstate(state, memo)
        self._restored()

    def _restored(self) -> None:
        """The state is one from elsewhere: a row says so, and what was under way is aborted."""
        writer = self._writer
        if writer.row:
            writer.put(StepRow(RESTORE, self._acted.zeros(), {}))
            self._tracker.begin(writer.row - 1, None, writer.ended)

    def fork(self, lanes: Lanes | None = None) -> NoReturn:
        """Refused: two batches cannot write one file."""
        raise InvalidType(
            "fork: expected a batch that is not recorded, got a Recorder; fork `env.env`, record that anew"
        )

    # --- rows ---

    def _seen(self, observation: ObsT, info: Info) -> tuple[dict[str, Array | np.generic], dict[str, object]]:
        """What a row has of the observation and the info, as the level asks for it."""
        taken, plain = self._observed.take(observation)
        arrays, objects = dict[str, Array | np.generic](taken), dict[str, object](plain)
        if self.level != "full":
            seen = np.uint64(self._digest.of(self._observed.parts(taken, plain)))
            arrays, objects = dict[str, Array | np.generic](seen=seen), dict[str, object]()
        if self.level == "seeds":
            return arrays, objects
        for place, key in enumerate(self._info_keys):
            if key in info:
                arrays[f"info.{place}"] = np.asarray(info[key]) if self._batched else np.asarray(info[key])[None]
        if self._whole_infos:
            objects["info"] = self._plain_info(info)
        return arrays, objects

    def _plain_info(self, info: Info) -> object:
        try:
            if self._batched:
                return write_infos({key: one for key, one in info.items() if key not in FINAL}, encode_value)
            return encode_value(info, "info")
        except LudusError as error:
            raise TrajectoryError(f"{error}; name the keys to keep: Recorder(…, info=['key'])") from error

    def _finals(self, info: Info) -> tuple[Array, list[Array]] | None:
        if self._tracker.mode is not AutoresetMode.SAME_STEP or "final_obs" not in info:
            return None
        lanes = np.flatnonzero(info["_final_obs"])
        leaves = self._observed.final([info["final_obs"][lane] for lane in lanes.tolist()])
        return None if leaves is None else (lanes, leaves)

    def _abort(self) -> None:
        """End what is under way when the recording ends."""
        self._tracker.abort(self._writer.row, np.ones(self._lanes, np.bool_), Outcome.ABORTED, self._writer.ended)

    def _failed(self, error: Exception) -> None:
        """What a failure ends: the episodes of its lanes, with an outcome that is no result of the agent's."""
        writer = self._writer
        if isinstance(error, InvalidAction | ResetNeeded | TrajectoryError) or writer.closed or not writer.row:
            return
        lanes = np.ones(self._lanes, np.bool_)
        if isinstance(error, WorkerFailure) and error.lanes and self._tracker.mode is AutoresetMode.DISABLED:
            lanes = np.isin(np.arange(self._lanes), error.lanes)
        self._tracker.abort(writer.row, lanes, Outcome.after(error), writer.ended)
        self.record(Failure(type(error).__name__, str(error)), lane=int(np.argmax(lanes)))


def _flag(value: object) -> Array:
    return np.array([value], np.bool_)


def _plain_seed(seed: object) -> object:
    """The seed of a reset as plain data: a number, or one for each lane."""
    if is_array(seed) or (is_iterable(seed) and isinstance(seed, Sequence) and not isinstance(seed, str | bytes)):
        return [None if one is None else encode_value(int(one)) for one in cast(Iterable[int | None], seed)]
    return None if seed is None else encode_value(int(seed) if isinstance(seed, SupportsInt) else as_seed(seed))


def _plain_options(options: Options | None) -> object:
    """The options of a reset, its mask left out, as plain data; raises CodecError for what is none."""
    rest = {key: one for key, one in (options or {}).items() if key != "reset_mask"}
    return encode_value(rest, "options") if rest else None
