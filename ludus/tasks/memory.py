"""Memory from run to run: a text that the agent finds in its workspace, may change, and finds again the next time."""

import os
from pathlib import Path

from ludus.errors import InvalidArgument
from ludus.tasks.grading.submission import SubmissionError, read_inside

__all__ = ["MEMORY", "keep_memory", "read_memory"]

MEMORY = "memory.md"
"""What it is called in the workspace."""
MAX_BYTES = 64 << 10
FIRST = b"# Memory\n\nWhat is written here is found again in later runs.\n"


def read_memory(file: Path) -> bytes:
    """What earlier runs left; a beginning where there is none."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return FIRST
    except OSError as error:
        raise InvalidArgument(f"memory: expected a file or none yet, got {file}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise InvalidArgument(f"memory: expected at most {MAX_BYTES} bytes, got {len(data)} in {file}")
    return data


def keep_memory(file: Path, work: Path) -> bool:
    """Keep what the agent left, whole or not at all; whether it could be: a link, a pipe or a huge file is not."""
    try:
        data = read_inside(work, MEMORY, MAX_BYTES)
        data.decode("utf8")
    except (SubmissionError, OSError, UnicodeDecodeError):
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.write_bytes(data)
    os.replace(draft, file)
    return True
