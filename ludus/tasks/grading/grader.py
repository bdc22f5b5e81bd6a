"""`Grader`: one submission, one split, one score. What it starts, it ends.

Three processes take part. This one copies files, passes messages and believes numbers only. The grader, trusted code of
the task's author, runs in a sandbox with the hidden data. Code of the agent's runs in another one with its own files
alone, and is asked by the grader through this process: neither holds a descriptor of the other, and the score leaves
the grader on one that no code of the agent's ever held.
"""

import time
from pathlib import Path

import msgspec

from ludus.errors import ChannelError, shorten
from ludus.sandbox.backend import Backend
from ludus.sandbox.framed_process import FramedProcess, Late
from ludus.sandbox.leftovers import private_folder
from ludus.sandbox.removal import remove_tree
from ludus.tasks.grading.data import CODE, TaskData
from ludus.tasks.grading.program import SubmittedProgram
from ludus.tasks.grading.score import TaskScore, scored
from ludus.tasks.grading.stopwatch import MAX_TIMES, Stopwatch
from ludus.tasks.grading.submission import SubmissionError, copy_submission
from ludus.tasks.sandboxes import (
    DATA,
    HIDDEN,
    SUBMISSION,
    TASK,
    grader_command,
    grader_sandbox,
    link_interpreter,
    program_sandbox,
)
from ludus.tasks.spec import TaskSpec

__all__ = ["Grader"]

MAX_PROGRAMS = 256
SEND_S = 600.0
"""Seconds for an answer to reach the grader, which waits for it: trusted code, on a machine that may be busy."""


class _Message(msgspec.Struct):
    """What a grader may say."""

    do: str
    metrics: object = None
    reason: str = ""
    traceback: str = ""
    path: str = ""
    seconds: float = 60.0
    program: int = -1
    body: msgspec.Raw = msgspec.Raw(b"")


_MESSAGE = msgspec.json.Decoder(_Message)


class Grader:
    """Scores workspaces of one episode.

    >>> from ludus.tasks.spec import EvaluationSpec
    >>> spec = TaskSpec(id="Guess", name="Guess", description="…", evaluation=EvaluationSpec(metric="accuracy"))
    >>> Grader(spec, Path("."), TaskData(Path("a"), Path("b"), 0, "")).spec.name
    'Guess'
    """

    def __init__(self, spec: TaskSpec, folder: Path, data: TaskData, *, backend: str | Backend | None = None) -> None:
        self.spec, self.folder, self.data, self._backend = spec, folder, data, backend

    def grade(self, work: Path, split: str, *, keep: Path | None = None) -> TaskScore:
        """Score what is in a workspace; nothing of the agent's may run meanwhile. `keep`: where the files are left."""
        begun = time.monotonic()
        own = None if keep is not None else Path(private_folder("grading"))
        target = keep or Path(str(own), "submission")
        try:
            copy_submission(self.spec, work, target)
            return self.grade_files(target, split)
        except SubmissionError as error:
            return TaskScore(split=split, reason=str(error), seconds=time.monotonic() - begun)
        finally:
            if own is not None:
                remove_tree(own)

    def grade_files(self, submission: Path, split: str) -> TaskScore:
        """Score files that were copied out before."""
        begun = time.monotonic()
        seconds = self.spec.timeouts_known.of("grading")
        code = self.data.public.parent / CODE
        places = {
            "task": code if code.is_dir() else self.folder,
            "submission": submission,
            "hidden": self.data.hidden,
            "public": self.data.public,
        }
        sandbox = grader_sandbox(places, seconds=MAX_TIMES * seconds, backend=self._backend)
        with FramedProcess(sandbox, grader_command("grade")) as talk:
            message = self._talked(talk, submission, split, Stopwatch(talk.process, seconds))
        spent = time.monotonic() - begun
        if isinstance(message, str):
            return TaskScore(split=split, reason=shorten_lines(message), grader_failed=True, seconds=spent)
        if message.do == "score":
            return scored(self.spec.evaluation, split, message.metrics, spent)
        failed = message.do != "rejected"
        reason = f"the grader failed: {message.reason}\n{message.traceback}" if failed else message.reason
        return TaskScore(split=split, reason=shorten_lines(reason), grader_failed=failed, seconds=spent)

    def _talked(self, talk: FramedProcess, submission: Path, split: str, watch: Stopwatch) -> "_Message | str":
        """Pass messages until the grader has said its last; that, or why there is none."""
        programs: list[SubmittedProgram] = []
        request = {
            "grader": f"{TASK}/{self.spec.evaluation.grader}",
            "submission": SUBMISSION,
            "hidden": HIDDEN,
            "data": DATA,
            "split": split,
            "seed": self.data.seed,
            "metric": self.spec.evaluation.metric,
        }
        try:
            answer = msgspec.json.encode(request)
            while True:
                with watch.running():
                    talk.send(answer, time.monotonic() + SEND_S)
                message = _MESSAGE.decode(watch.wait(talk.receive))
                if message.do not in ("start", "ask", "stop", "used"):
                    return message
                answer = self._answer(message, programs, submission)
                watch.others = [one.watch for one in programs if one.watch is not None]
        except Late:
            return "grading: its time ran out"
        except ChannelError as error:
            return "; ".join(filter(None, (f"the grader ended without a score: {error}", talk.complaint())))
        except msgspec.MsgspecError as error:
            return f"grading: expected a message, got {shorten(str(error))}"
        finally:
            for program in programs:
                program.close()

    def _answer(self, message: _Message, programs: list[SubmittedProgram], submission: Path) -> bytes:
        if message.do == "start":
            return self._started(message, programs, submission)
        if not 0 <= message.program < len(programs):
            return b'{"error":"no such program"}'
        if message.do == "stop":
            programs[message.program].close()
            return b'{"value":null}'
        if message.do == "used":
            return programs[message.program].used()
        return programs[message.program].relay(bytes(message.body))

    def _started(self, message: _Message, programs: list[SubmittedProgram], submission: Path) -> bytes:
        if message.path not in {file.path for file in self.spec.submission} or len(programs) >= MAX_PROGRAMS:
            return b'{"error":"expected a file of the submission"}'
        links = link_interpreter(submission.parent / "bin")
        places = {"submission": submission, "empty": _empty(submission), "bin": links}
        program = SubmittedProgram(program_sandbox(self.spec, places, self._backend), message.path, message.seconds)
        programs.append(program)
        return program.start() or msgspec.json.encode({"value": len(programs) - 1})


def _empty(submission: Path) -> Path:
    """An empty folder beside the submission, for what is to be hidden."""
    empty = submission.parent / "empty"
    empty.mkdir(exist_ok=True)
    return empty


def shorten_lines(text: str, limit: int = 3000) -> str:
    """A text that is not longer than an agent should have to read."""
    return text if len(text) <= limit else f"{text[:limit]}…"
