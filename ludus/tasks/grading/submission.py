"""Files out of a workspace of hostile code: opened one folder below the other, no link followed, sizes held.

What comes out is a copy: whatever the agent left behind can change its own files, not these.
"""

import ast
import os
import re
import stat
from pathlib import Path

from ludus.errors import InvalidArgument
from ludus.tasks.quantity import byte_count, shown_bytes
from ludus.tasks.spec import SubmissionFile, TaskSpec

__all__ = ["SubmissionError", "copy_submission", "read_inside"]

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
PICKLE = re.compile(rb"\x80[\x02-\x05]")
NPY = b"\x93NUMPY"
TEXTS = ("csv", "json", "text", "python")


class SubmissionError(InvalidArgument):
    """A submission that cannot be taken: missing, too large, a link, a pickle, not of its format.

    >>> issubclass(SubmissionError, ValueError)
    True
    """


def copy_submission(spec: TaskSpec, work: Path, target: Path) -> list[str]:
    """Copy the files that a task asks for into an empty folder; their paths. SubmissionError says what is wrong."""
    target.mkdir(mode=0o755, parents=True, exist_ok=True)
    copied: list[str] = []
    for file in spec.submission:
        data = _checked(work, file)
        if data is None:
            continue
        place = target / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o644)
        copied.append(file.path)
    if not copied:
        raise SubmissionError("submission: expected at least one file, got none")
    return copied


def _checked(work: Path, file: SubmissionFile) -> bytes | None:
    most = byte_count(file.size, f"submission {file.path}")
    try:
        data = read_inside(work, file.path, most)
    except FileNotFoundError:
        if not file.required:
            return None
        raise SubmissionError(f"{file.path}: expected this file in the workspace, got none") from None
    _check_format(file, data)
    return data


def read_inside(work: Path, path: str, most: int) -> bytes:
    """A regular file below a folder, no link on the way; FileNotFoundError where there is none."""
    *folders, name = Path(path).parts
    descriptor = os.open(work, FOLDER)
    try:
        for folder in folders:
            inner = _opened(folder, FOLDER, descriptor, path)
            os.close(descriptor)
            descriptor = inner
        file = _opened(name, FILE, descriptor, path)
    finally:
        os.close(descriptor)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise SubmissionError(f"{path}: expected a regular file, got a pipe, device or folder")
        if found.st_nlink > 1:
            raise SubmissionError(f"{path}: expected a file with one name, got {found.st_nlink} hard links to it")
        with open(file, "rb", closefd=False) as opened:
            data = opened.read(most + 1)
    finally:
        os.close(file)
    if len(data) > most:
        raise SubmissionError(f"{path}: expected at most {shown_bytes(most)}, got more")
    return data


def _opened(name: str, flags: int, folder: int, path: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SubmissionError(f"{path}: expected a plain file, got a link or {error.strerror}") from None


def _check_format(file: SubmissionFile, data: bytes) -> None:
    if PICKLE.match(data):
        raise SubmissionError(f"{file.path}: expected {file.format}, got a pickle, which is never opened")
    if data[:2] == b"PK" and file.format != "any":
        raise SubmissionError(f"{file.path}: expected {file.format}, got an archive")
    if file.format in TEXTS:
        if not data.strip():
            raise SubmissionError(f"{file.path}: expected {file.format}, got an empty file")
        try:
            text = data.decode("utf8")
        except UnicodeDecodeError:
            raise SubmissionError(f"{file.path}: expected UTF-8 text, got other bytes") from None
        if "\0" in text:
            raise SubmissionError(f"{file.path}: expected text, got zero bytes in it")
    if file.format == "npy":
        _check_npy(file.path, data)


def _check_npy(path: str, data: bytes) -> None:
    """The head of an array: of numbers, not of objects, which are pickled."""
    if not data.startswith(NPY) or len(data) < 12:
        raise SubmissionError(f"{path}: expected an array as numpy.save writes it, got something else")
    size, begin = (
        (int.from_bytes(data[8:10], "little"), 10)
        if data[6] == 1
        else (
            int.from_bytes(data[8:12], "little"),
            12,
        )
    )
    try:
        head = ast.literal_eval(data[begin : begin + min(size, 10_000)].decode("latin1").strip())
        kind = str(head["descr"])
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise SubmissionError(f"{path}: expected the head of an array, got something else") from None
    if "O" in kind or "V" in kind:
        raise SubmissionError(f"{path}: expected an array of numbers, got one of objects, which would be pickled")
