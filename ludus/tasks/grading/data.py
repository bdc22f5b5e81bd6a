"""The data of an episode: written by the task's generator in a sandbox, from a seed, and told by a checksum."""

import hashlib
import os
import shutil
import time
from pathlib import Path

import msgspec

from ludus.errors import ChannelError, EnvError, shorten
from ludus.sandbox import give
from ludus.sandbox.backend import Backend
from ludus.sandbox.framed_process import FramedProcess
from ludus.spaces.kinds import is_dict
from ludus.tasks.folder import check_links
from ludus.tasks.grading.stopwatch import MAX_TIMES, Stopwatch
from ludus.tasks.run_folder import MAX_LEVELS, is_too_deep
from ludus.tasks.sandboxes import (
    DATA,
    GRADER_USER,
    HIDDEN,
    TASK,
    grader_command,
    grader_sandbox,
    keep_from_agent,
)
from ludus.tasks.spec import TaskSpec

__all__ = ["CODE", "TaskData", "checksum_of", "make_data"]

GENERATION_TIMEOUT_S = 300.0
CODE = "task"
"""The folder beside the data with the code of generator and grader."""


class TaskData(msgspec.Struct, frozen=True):
    """Where the data of an episode are, and what they are.

    >>> TaskData(Path("/run/public"), Path("/run/hidden"), 7, "0f…").seed
    7
    """

    public: Path
    hidden: Path
    seed: int
    checksum: str


def make_data(
    spec: TaskSpec, folder: Path | None, target: Path, *, seed: int, backend: str | Backend | None = None
) -> TaskData:
    """Write the data of a seed below `target`, in `public` and `hidden`; an EnvError where the generator fails.

    Where the task has one seed for all, that is taken, and what it writes must have the checksum of the task file.
    """
    if folder is not None:
        check_links(folder)
    used = seed if spec.data.seed == "run" else spec.data.seed
    public, hidden = target / "public", target / "hidden"
    for place, ready in ((public, spec.data.public), (hidden, spec.data.hidden)):
        place.mkdir(parents=True, exist_ok=True)
        if ready is not None and folder is not None:
            shutil.copytree(folder / ready, place, dirs_exist_ok=True)
    if folder is not None:
        _copy_code(spec, folder, target / CODE)
    if folder is not None:
        _generate(spec, target / CODE, {"public": public, "hidden": hidden}, seed=used, backend=backend)
    keep_from_agent(hidden)
    found = checksum_of(public, hidden)
    if spec.data.checksum is not None and spec.data.seed != "run" and found != spec.data.checksum:
        raise EnvError(f"{spec.id}, data.checksum: expected {spec.data.checksum}, got {found}; the data have changed")
    return TaskData(public, hidden, used, found)


def _copy_code(spec: TaskSpec, folder: Path, target: Path) -> None:
    """Generator and grader, as this episode has them: readable where they run alone, wherever the folder lies."""
    left_out = {spec.starter, spec.data.public, spec.data.hidden, "__pycache__", "cheats"}
    left_out |= {spec.solution("baseline").folder, spec.solution("reference").folder}
    shutil.copytree(folder, target, ignore=lambda _, names: [one for one in names if one in left_out])
    keep_from_agent(target)


def _generate(
    spec: TaskSpec, folder: Path, places: dict[str, Path], *, seed: int, backend: str | Backend | None
) -> None:
    """Run the generator, where there is one, and import the grader: an agent's work is not lost on a broken one."""
    written = places if spec.data.generator is not None else {}
    for place in written.values():
        give(place, GRADER_USER)
    sandbox = grader_sandbox({"task": folder, **written}, seconds=MAX_TIMES * GENERATION_TIMEOUT_S, backend=backend)
    asked: dict[str, object] = {"seed": seed, "public": DATA, "hidden": HIDDEN}
    asked["generator"] = None if spec.data.generator is None else f"{TASK}/{spec.data.generator}"
    grader = spec.evaluation.grader if (folder / spec.evaluation.grader).is_file() else None
    asked["grader"] = None if grader is None else f"{TASK}/{grader}"
    with FramedProcess(sandbox, grader_command("generate")) as talk:
        try:
            talk.send(msgspec.json.encode(asked), time.monotonic() + GENERATION_TIMEOUT_S)
            answer = Stopwatch(talk.process, GENERATION_TIMEOUT_S).wait(lambda until: talk.read(until, object))
        except ChannelError as error:
            raise EnvError(f"{spec.id}: expected its generator to end, got: {error}; {talk.complaint()}") from error
    said = answer if is_dict(answer) else {"do": answer}
    if said.get("do") == "no grader":
        expected = f"expected a file {grader!r} that can be imported"
        raise EnvError(f"{spec.id}, evaluation.grader: {expected}, got {str(said.get('reason'))[:500]}; mend the file")
    if said.get("do") != "done":
        raise EnvError(f"{spec.id}: expected its generator to write data, got {shorten(answer, 2000)}")
    for place in written.values():
        _take_back(place)


def _take_back(place: Path) -> None:
    """Files that sandboxed code wrote are ours again, and readable by every sandboxed user they are mounted for."""
    if is_too_deep(place):
        raise EnvError(f"generator: expected at most {MAX_LEVELS} folders one in the other, got more in {place.name}")
    for path in [place, *sorted(place.rglob("*"))]:
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise EnvError(f"generator: expected files and folders, got {path.name}")
        if os.geteuid() == 0:
            os.chown(path, 0, 0, follow_symlinks=False)
        path.chmod(0o755 if path.is_dir() else 0o644)


def checksum_of(*folders: Path) -> str:
    """SHA-256 over the names and bytes of all files, in order.

    >>> checksum_of()[:8]
    'e3b0c442'
    """
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            data = path.read_bytes()
            digest.update(f"{folder.name}/{path.relative_to(folder)}\0{len(data)}\0".encode())
            digest.update(data)
    return digest.hexdigest()
