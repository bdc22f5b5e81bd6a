"""`TaskWorkspace`: the folder and shell of one episode, in a sandbox, with a snapshot whenever one is asked for.

Everything of an episode lies below one folder: `work` (the agent's, mounted writable), `public` and `hidden` data,
`fixed` (originals of what is read-only), `store` (snapshots), `empty` (what hides our own tasks).
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

from ludus.errors import EnvError, InvalidArgument
from ludus.sandbox import (
    Backend,
    Change,
    CommandResult,
    Guarantees,
    Sandbox,
    ShellSession,
    ShellState,
    Usage,
    Workspace,
    WorkspaceLimits,
    give,
)
from ludus.sandbox.removal import remove_tree
from ludus.tasks.folder import check_links
from ludus.tasks.grading.data import TaskData, make_data
from ludus.tasks.sandboxes import agent_sandbox, grader_sandbox, grading_means, link_interpreter
from ludus.tasks.spec import TaskSpec
from ludus.tasks.step_usage import StepUsage

__all__ = ["TaskWorkspace"]

MAX_OUTPUT_BYTES = 32 << 10
"""Bytes of a command's output that are kept: the beginning and the end."""
MAX_NAMES = 200_000


class TaskWorkspace:
    """One episode's folder and shell."""

    def __init__(
        self, spec: TaskSpec, folder: Path | None, base: Path, *, backend: str | Backend | None = None
    ) -> None:
        self.spec, self.folder, self.base, self._backend = spec, folder, base, backend
        self.work = base / "work"
        self.session: ShellSession | None = None
        self._workspace: Workspace | None = None
        self._before = Usage()
        self.holds: dict[str, int] = {}
        """How many files the workspace has, and their bytes, as of the last snapshot."""

    # --- beginning ---

    def begin(self, seed: int, files: Mapping[str, bytes] | None = None) -> TaskData:
        """Make everything for an episode: data and shell at the same time. `files` are put beside the starter's."""
        self._check_here()
        for name in ("work", "fixed", "empty", "public"):
            (self.base / name).mkdir(parents=True)
        link_interpreter(self.base / "bin")
        (self.base / "public").chmod(0o755)  # mounted before there is anything in it
        found: list[TaskData | Exception] = []
        maker = Thread(target=self._make_data, args=(seed, found), name="task-data")
        maker.start()
        try:
            self._fill(files or {})
            self._versioned()
            self.open()
        finally:
            maker.join()
        [made] = found
        if isinstance(made, Exception):
            raise made
        return made

    def _make_data(self, seed: int, found: list[TaskData | Exception]) -> None:
        try:
            found.append(make_data(self.spec, self.folder, self.base, seed=seed, backend=self._backend))
        except Exception as error:
            found.append(error)

    def _check_here(self) -> None:
        if self.folder is not None:
            check_links(self.folder)
        if self.spec.resources.gpu:
            raise EnvError(
                f"{self.spec.id}, resources.gpu: expected 0, since sandboxes here give no GPU to an agent, got "
                f"{self.spec.resources.gpu}; set `gpu: 0` if the task can be done without"
            )

    def _fill(self, files: Mapping[str, bytes]) -> None:
        """The starter files, which are the agent's own, and places for what is mounted over the workspace."""
        spec, starter = (
            self.spec,
            None if self.folder is None or self.spec.starter is None else self.folder / self.spec.starter,
        )
        if starter is not None and starter.is_dir():
            shutil.copytree(starter, self.work, dirs_exist_ok=True)
        for path in spec.shared:
            self._share(path)
        (self.work / spec.data.folder).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (self.work / name).write_bytes(data)
        for path in spec.read_only:
            self._fix(path)
        for path in self.work.rglob("*"):
            path.chmod(path.stat().st_mode | 0o600)
        give(self.work)

    def _share(self, path: str) -> None:
        source, place = None if self.folder is None else self.folder / path, self.work / path
        if source is None or not source.is_file() or source.is_symlink():
            raise InvalidArgument(f"shared: expected files of the task's folder, got {path!r}")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place)

    def _fix(self, path: str) -> None:
        original = self.work / path
        if path == self.spec.data.folder:
            return
        if not original.exists():
            raise InvalidArgument(f"read_only: expected paths of the starter files, got {path!r}")
        place = self.base / "fixed" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if original.is_dir():
            shutil.copytree(original, place)
        else:
            shutil.copy2(original, place)
        for one in (place, *place.rglob("*")):
            one.chmod(0o755 if one.is_dir() else 0o644)

    def _versioned(self) -> Workspace:
        limits = WorkspaceLimits(files=MAX_NAMES, bytes=self.spec.resources.bytes_of("disk"))
        self._workspace = Workspace(self.work, store=self.base / "store", limits=limits, name="work")
        return self._workspace

    @property
    def places(self) -> dict[str, Path]:
        """The folders by name."""
        return {name: self.base / name for name in ("work", "public", "hidden", "fixed", "empty", "bin")}

    @property
    def sandbox(self) -> Sandbox:
        """The agent's."""
        return agent_sandbox(self.spec, self.places, self._backend)

    # --- the shell ---

    def open(self, state: ShellState | None = None) -> None:
        """Open the shell, where another left off if `state` is its."""
        timeout = self.spec.timeouts_known.of("short")
        self.session = self.sandbox.open_session(timeout=timeout, limit=MAX_OUTPUT_BYTES, restart=True, state=state)
        self._before = Usage()

    @property
    def shell(self) -> ShellSession:
        """The shell; EnvError where none is open."""
        if self.session is None:
            raise EnvError("task: expected reset() first, got no workspace")
        return self.session

    @property
    def guarantees(self) -> Guarantees:
        """What is in force around the agent."""
        return self.shell.guarantees

    @property
    def grading(self) -> dict[str, object]:
        """What is in force around the grader, and whether it is another user than the agent."""
        grader = grader_sandbox({}, seconds=self.spec.timeouts_known.of("grading"), backend=self._backend)
        return grading_means(self.sandbox, grader)

    def measure(self, measured: StepUsage) -> None:
        """Fill in what was used since this was asked last."""
        now, before = self.shell.usage(), self._before
        self._before = now
        measured.cpu_seconds = _difference(now.cpu, before.cpu)
        measured.read_bytes = _difference(now.read_bytes, before.read_bytes)
        measured.written_bytes = _difference(now.written_bytes, before.written_bytes)
        measured.peak_memory, measured.processes, measured.out_of_memory = now.peak_memory, now.processes, now.oom

    def run(self, command: str, seconds: float) -> CommandResult:
        """Run a command for at most so many seconds."""
        quiet = self.spec.timeouts_known.of("no_output")
        return self.shell.run(command, timeout=seconds, silence=quiet if quiet < seconds else None)

    def adopt(self) -> None:
        """Begin with data that are there already, and an empty workspace."""
        self.work.mkdir(parents=True)
        (self.work / self.spec.data.folder).mkdir(parents=True, exist_ok=True)
        give(self.work)
        self._versioned()

    def stop(self) -> ShellState | None:
        """Kill all that the agent runs; the state of its shell."""
        if self.session is None:
            return None
        state = self.session.state
        self.session.close()
        self.session = None
        return state

    # --- history ---

    @property
    def versioned(self) -> Workspace:
        """The workspace with its snapshots."""
        return self._workspace or self._versioned()

    def snapshot(self, label: str) -> str:
        """Keep the workspace as it is; the id of the snapshot."""
        taken = self.versioned.snapshot(label)
        self.holds = {"files": taken.files, "bytes": taken.size}
        return taken.id

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """The files that differ between two snapshots, small texts line by line."""
        if before is None or after is None or before == after:
            return ()
        found = self.versioned.diff(before, after, text=True)
        return (*found.added, *found.changed, *found.removed)

    def restore(self, snapshot: str, state: ShellState | None, store: Path | None = None) -> None:
        """Go back to a snapshot, of another episode's store as well; jobs that ran are killed."""
        self.stop()
        if store is not None and store != self.base / "store":
            limits = self.versioned.limits
            self._workspace = Workspace(self.work, store=store, limits=limits)
        self.versioned.restore(snapshot)
        self.open(state)

    def close(self) -> None:
        """Kill what runs; the folder stays."""
        self.stop()

    def remove(self) -> None:
        """Kill what runs, and remove everything."""
        self.close()
        remove_tree(self.base)


def _difference(now: float | None, before: float | None) -> float | None:
    return None if now is None else round(max(0, now - (before or 0)), 6)
