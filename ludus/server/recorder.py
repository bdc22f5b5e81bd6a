"""`SessionRecorder`: what happens in a session, in a file of its own; nobody who uses the session can reach it.

It is a `Recorder` that whoever asks over the wire does not see: attributes, snapshots and forks are those of the
environment. It stops by itself at a number of bytes, or where the disk fails, and the session goes on.
"""

import re
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ludus.core import Episode, Info, Snapshot, Step
from ludus.core.env import ActT, Env, Metadata, ObsT
from ludus.core.fork import Lanes
from ludus.core.options import Options
from ludus.errors import InvalidArgument, LudusError, ServerBusy, TrajectoryError
from ludus.remote.plans import EpisodePlans
from ludus.seeding import Seed
from ludus.server.config import ServerConfig
from ludus.trajectory import LimitReached, Recorder
from ludus.trajectory.planned_lanes import PlannedLanes

__all__ = ["RememberedPlans", "SessionRecorder", "new_file", "open_folder"]

UNSAFE = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
MAX_NAME_CHARS = 60
PRIVATE_MODE = 0o700


def open_folder(path: str) -> Path:
    """The folder for recordings, made where there is none; raises InvalidArgument where it cannot be written to."""
    folder = Path(path).absolute()
    try:
        folder.mkdir(mode=PRIVATE_MODE, parents=True, exist_ok=True)
        probe = folder / f".{secrets.token_hex(8)}"
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise InvalidArgument(f"record: expected a folder that can be written to, got {error}") from error
    return folder


def new_file(folder: Path, name: str, most: int) -> Path:
    """A path for one more recording; raises ServerBusy where there are `most`, since none is lost or left out silently.

    The environment's name is what the operator gave, and still no part of it leads out of the folder. The session's id
    is a secret, and not in it.

    >>> new_file(Path("/tmp"), "../../etc/passwd", 10**6).parent
    PosixPath('/tmp')
    """
    if sum(one.suffix == ".ludus" for one in folder.iterdir()) >= most:
        raise ServerBusy(f"record: expected fewer than {most} recordings in the server's folder, got as many", 60.0)
    plain = UNSAFE.sub("-", name).strip("-")[:MAX_NAME_CHARS]
    return folder / f"{plain or 'env'}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(6)}.ludus"


class RememberedPlans:
    """What `EpisodePlans` said last of each lane: it says that once, and the recorder asks again.

    >>> plans = EpisodePlans()
    >>> plans.take([(0, 7, None)])
    >>> remembered = RememberedPlans(plans)
    >>> remembered(0, 1) == remembered.again(0, 1) == Episode(seed=7)
    True
    """

    def __init__(self, plans: EpisodePlans) -> None:
        self._plans = plans
        self._last: dict[int, Episode] = {}

    def __call__(self, lane: int, number: int) -> Episode:
        """As the plan says."""
        self._last[lane] = found = self._plans(lane, number)
        return found

    def again(self, lane: int, number: int) -> Episode:
        """What was said last of a lane."""
        del number
        return self._last.get(lane, Episode())


class SessionRecorder(Recorder[ObsT, ActT]):
    """Records until `config.record_bytes` are written; `on_stop` is told once why no more is."""

    def __init__(
        self,
        env: Env[ObsT, ActT],
        path: Path,
        config: ServerConfig,
        *,
        plans: RememberedPlans | None = None,
        on_stop: Callable[[str], None] = lambda _: None,
        metadata: Metadata | None = None,
    ) -> None:
        super().__init__(env, path, config.record_level, metadata=metadata)
        self._most, self._on_stop, self._recording = config.record_bytes, on_stop, True
        if plans is not None:
            self._plans = PlannedLanes(plans.again, self._lanes)

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset below."""
        self._check()
        return (
            super().reset(seed=seed, options=options) if self._recording else self.env.reset(seed=seed, options=options)
        )

    def step(self, action: ActT) -> Step[ObsT]:
        """Step below."""
        if not self._recording:
            return self.env.step(action)
        step = super().step(action)
        self._check()
        return step

    def _take_reset(self, observation: ObsT, info: Info, asked: tuple[object, Options | None], *, begins: bool) -> None:
        with self._stopping():
            super()._take_reset(observation, info, asked, begins=begins)

    def _take_step(self, action: ActT, step: Step[ObsT]) -> None:
        with self._stopping():
            super()._take_step(action, step)

    def close(self) -> None:
        """Close the environment, and the file."""
        try:
            self.env.close()
        finally:
            self._stop("")

    # --- the end of the recording ---

    @contextmanager
    def _stopping(self) -> Generator[None]:
        """What cannot be written down, or not on this disk, ends the recording; whoever plays gets the step."""
        try:
            yield
        except LudusError as error:
            self._stop(str(error))

    def _check(self) -> None:
        writer = self._writer
        if not self._recording or (not writer.failed and writer.size <= self._most):
            return
        with self._stopping():
            self.record(LimitReached("bytes", self._most, writer.size))
            self._stop(f"expected at most {self._most} bytes, got {writer.size}")

    def _stop(self, why: str) -> None:
        if not self._recording:
            return
        self._recording = False
        try:
            self._writer.close()
        except TrajectoryError as error:
            why = str(error)
        if why:
            self._on_stop(why)

    # --- whoever asks sees the environment ---

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or "env" not in self.__dict__:
            return super().__getattr__(name)
        return getattr(self.env, name)

    def has_wrapper_attr(self, name: str) -> bool:
        """Of the environment."""
        return self.env.has_wrapper_attr(name)

    def get_wrapper_attr(self, name: str) -> object:
        """Of the environment."""
        return self.env.get_wrapper_attr(name)

    def set_wrapper_attr(self, name: str, value: object, *, force: bool = True) -> bool:
        """Of the environment."""
        return self.env.set_wrapper_attr(name, value, force=force)

    def snapshot(self) -> Snapshot:
        """Of the environment: a recording has no past to go back to."""
        return self.env.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """The environment goes on from a snapshot, and the file says so."""
        self.env.restore(snapshot)
        self._say_restored()

    def import_state(self, state: object) -> None:
        """As `restore`, from the state of another session."""
        self.env.get_wrapper_attr("import_state")(state)
        self._say_restored()

    def _say_restored(self) -> None:
        if self._recording:
            with self._stopping():
                self._restored()

    def fork(self, lanes: Lanes | None = None) -> Any:
        """A fork of the batch, which is not recorded."""
        return self.env.get_wrapper_attr("fork")(lanes)
