"""The tools of a task: shell, files, background jobs, validation, budget and submission."""

import math
from typing import Annotated

from ludus.core import Info
from ludus.errors import LimitExceeded, SandboxError
from ludus.sandbox import CommandResult, JobStatus
from ludus.spaces import Text
from ludus.tasks.budget import Budget
from ludus.tasks.grading import TaskScore
from ludus.tasks.ladder import Ladder
from ludus.tasks.spec import TaskSpec
from ludus.tasks.step_usage import StepUsage
from ludus.tasks.workspace import TaskWorkspace
from ludus.tools import ToolEnv, ToolError, tool

__all__ = ["TaskTools"]

Words = Annotated[str, Text(1 << 18, min_length=0, charset=None)]
Path = Annotated[str, Text(4096, min_length=0, charset=None)]
LONGEST_READ = 256 << 10
LINES = 400
FOUND = 200


class TaskTools(ToolEnv):
    """Everything an agent can do; the environment gives the workspace, the budget and the scores."""

    _spec: TaskSpec
    _budget: Budget
    _ladder: Ladder
    _command: Info
    _submitted: bool
    measured: StepUsage

    def _placed(self) -> TaskWorkspace:
        raise NotImplementedError

    def _validated(self) -> TaskScore:
        raise NotImplementedError

    @tool
    def text(self, message: Words) -> str:
        """Say it in words: the call that the text has in a code block, in JSON or as a line is carried out.

        Args:
            message: What to do.
        """
        raise ToolError(f"expected a call in the text, got {message[:80]!r}")

    @tool
    def shell(self, command: Words, seconds: float = 0.0) -> str:
        """Run a command in bash. Folder, variables and functions last to the next; stdin is empty.

        Args:
            command: One or more lines of bash.
            seconds: How long it may run; 0: as long as is usual.
        """
        spec = self._spec.timeouts_known
        asked = spec.of("short") if not seconds > 0 else min(seconds, spec.of("long"))
        allowed = max(0.1, min(asked, self._budget.seconds_left))
        try:
            result = self._placed().run(command, allowed)
        except SandboxError as error:
            raise ToolError(str(error)) from error
        self._budget.commands += 1
        self._budget.output_bytes += len(result.stdout) + len(result.stderr) + result.dropped
        self.measured.command_seconds = result.seconds
        self._command |= _plain(result)
        return _shown(result, allowed)

    @tool
    def read(self, path: Path, line: int = 1, lines: int = LINES) -> str:
        """Read a text file, with the numbers of its lines.

        Args:
            path: The file.
            line: The first line to show.
            lines: How many.
        """
        text = _decoded(self._read(path)).splitlines()
        first = max(1, line)
        some = text[first - 1 : first - 1 + max(0, min(lines, 2000))]
        head = f"{path}, {len(text)} lines\n"
        return head + "".join(f"{number:6}  {one}\n" for number, one in enumerate(some, first))

    @tool
    def write(self, path: Path, content: Words) -> str:
        """Write a file, with the folders above it; what was there is replaced.

        Args:
            path: The file.
            content: All of its text.
        """
        self._write(path, content)
        return f"{path}: {len(content.encode())} bytes written"

    @tool
    def edit(self, path: Path, old: Words, new: Words) -> str:
        """Replace a piece of a file that occurs in it exactly once.

        Args:
            path: The file.
            old: The piece, as it stands.
            new: What to put in its place.
        """
        text = _decoded(self._read(path))
        count = text.count(old) if old else 0
        if count != 1:
            raise ToolError(f"edit {path}: expected the piece once in the file, got it {count} times")
        self._write(path, text.replace(old, new))
        return f"{path}: 1 piece replaced"

    @tool(name="list")
    def list_folder(self, path: Path = ".") -> str:
        """List a folder.

        Args:
            path: The folder.
        """
        try:
            entries = self._placed().shell.list_files(path or ".", limit=2000)
        except (OSError, LimitExceeded) as error:
            raise ToolError(_said(error)) from error
        return "".join(f"{one.kind:6} {one.size:>10}  {one.name}\n" for one in entries) or "(empty)\n"

    @tool
    def search(self, pattern: Words, path: Path = ".") -> str:
        """Search files for a regular expression.

        Args:
            pattern: As grep -E takes it.
            path: The file or folder to search.
        """
        if "\0" in pattern + path:
            raise ToolError("search: expected text without zero bytes, got one")
        quoted = [_quoted(one) for one in (pattern, path or ".")]
        command = f"grep -rnIE -m 50 -e {quoted[0]} -- {quoted[1]} | head -n {FOUND}"
        try:
            result = self._placed().run(f"({command})", 30.0)
        except SandboxError as error:
            raise ToolError(str(error)) from error
        return result.output or "nothing found\n"

    @tool
    def start(self, command: Words) -> str:
        """Start a command in the background; it goes on while you do other things.

        Args:
            command: One or more lines of bash.
        """
        try:
            job = self._placed().shell.start(command)
        except SandboxError as error:
            raise ToolError(str(error)) from error
        self._command |= {"job": job.number}
        return f"job {job.number} started"

    @tool
    def poll(self, job: int, seconds: float = 0.0) -> str:
        """See how a background job stands, and the end of what it printed.

        Args:
            job: Its number.
            seconds: How long to wait for its end.
        """
        wait = max(0.0, min(seconds, self._spec.timeouts_known.of("long"), self._budget.seconds_left))
        try:
            known = self._placed().shell.job(job)
            status = known.wait(wait) if wait else known.poll()
            said = known.tail(4096) + known.tail(4096, stderr=True)
        except (SandboxError, ValueError) as error:
            raise ToolError(str(error)) from error
        return f"{_job(status)}\n{_decoded(said)}"

    @tool
    def kill(self, job: int) -> str:
        """Kill a background job with all that it started.

        Args:
            job: Its number.
        """
        try:
            status = self._placed().shell.job(job).kill()
        except (SandboxError, ValueError) as error:
            raise ToolError(str(error)) from error
        return _job(status)

    @tool
    def validate(self) -> str:
        """Score what you would hand in on the public split; you learn coarsely how good it is. Only so many times."""
        if self._budget.validations >= self._budget.max_validations:
            raise ToolError(f"validate: expected at most {self._budget.max_validations} validations, got one more")
        before = self._ladder.best
        score = self._validated()
        left = self._budget.max_validations - self._budget.validations
        if score.failed:
            return f"not valid: {score.reason}\n{left} validations left"
        verdict = "better than before" if self._ladder.best > before else "no step better than the best so far"
        scale = "0 is worth nothing, 1 is the reference solution"
        return f"valid, {verdict}: {self._ladder.best:.2f} normalised ({scale})\n{left} validations left"

    @tool
    def budget(self) -> str:
        """What is left of steps, time and validations."""
        return self._budget.text()

    @tool
    def submit(self) -> str:
        """Hand in what is in the workspace: it is scored on hidden data, and the task ends."""
        self._submitted = True
        return "submitted"

    def _read(self, path: str) -> bytes:
        try:
            return self._placed().shell.read_file(path, LONGEST_READ)
        except (OSError, LimitExceeded) as error:
            raise ToolError(_said(error)) from error

    def _write(self, path: str, content: str) -> None:
        try:
            self._placed().shell.write_file(path, content.encode("utf8", "surrogateescape"))
        except (OSError, LimitExceeded) as error:
            raise ToolError(_said(error)) from error


def _said(error: Exception) -> str:
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)


def _decoded(data: bytes) -> str:
    return data.decode("utf8", "replace")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _plain(result: CommandResult) -> Info:
    fields: Info = {"exit_code": result.code, "cwd": result.cwd}
    for name in ("timed_out", "interrupted", "lost", "limit", "job", "signal", "dropped"):
        value = getattr(result, name)
        if value:
            fields[name] = value
    return fields


def _shown(result: CommandResult, allowed: float) -> str:
    """What the agent sees of a command: its output, and a line for whatever is unusual."""
    lines: list[str] = []
    if result.timed_out:
        lines.append(f"[stopped after {allowed:g} seconds, with all that it started; ask for more with `seconds`]")
    if result.code not in (0, None) and not result.timed_out:
        lines.append(f"[exit code {result.code}]")
    if result.job is not None:
        lines.append(f"[job {result.job} goes on in the background]")
    if result.note:
        lines.append(f"[{result.note}]")
    text = result.output
    end = "" if not text or text.endswith("\n") or not lines else "\n"
    return text + end + "\n".join(lines)


def _job(status: JobStatus) -> str:
    how = "running" if status.running else f"ended with {status.code}" if not math.isnan(status.seconds) else ""
    return f"job {status.number} {how} after {status.seconds:.1f} s, {status.stdout + status.stderr} bytes printed"
