"""Compiled files against their sources, in a sandbox: reading compiled code that somebody forged can crash Python."""

import importlib.util
import marshal
import os
import struct
from types import CodeType

import msgspec

__all__ = ["main"]

HEADER = 16
LEVELS = {"": 0, "opt-1": 1, "opt-2": 2}


def main(question: bytes, answer: int) -> None:
    """Answer, a line each, with the compiled files that Python would run and whose sources say something else."""
    for cache, source in msgspec.json.decode(question, type=list[tuple[str, str]]):
        try:
            told = "" if _agrees(cache, source) else "forged"
        except OSError:
            told = "unread"
        except Exception:  # forged or broken alike
            told = "forged"
        if told:
            os.write(answer, msgspec.json.encode([told, cache]) + b"\n")
    os.write(answer, b'["end",""]\n')


def _agrees(cache: str, source: str) -> bool:
    with open(cache, "rb") as file:
        compiled = file.read()
    with open(source, "rb") as file:
        text = file.read()
    if not _is_current(compiled, source, text):
        return True  # Python compiles the source anew
    found: object = marshal.loads(compiled[HEADER:])  # noqa: S302  (the reason for isolation)
    if not isinstance(found, CodeType):
        return False
    level = LEVELS[cache.removesuffix(".pyc").rpartition(".")[2] if ".opt-" in cache else ""]
    return found == compile(text, found.co_filename, "exec", dont_inherit=True, optimize=level)


def _is_current(compiled: bytes, source: str, text: bytes) -> bool:
    """Whether Python takes the compiled file for that of the source."""
    if compiled[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags, first, second = struct.unpack("<III", compiled[4:HEADER])
    if flags & 1:  # by hash, which need not be checked
        return not flags & 2 or compiled[8:HEADER] == importlib.util.source_hash(text)
    known = os.stat(source)
    return (first, second) == (int(known.st_mtime) & 0xFFFFFFFF, known.st_size & 0xFFFFFFFF)
