"""The three standard streams of a sandboxed process: what it gets, and what this side keeps."""

import contextlib
import os
import subprocess
from typing import BinaryIO

from ludus.errors import InvalidArgument

__all__ = ["Streams"]


class Streams:
    """Opened as `subprocess` would: PIPE, DEVNULL, STDOUT (for stderr), a descriptor; None is DEVNULL."""

    def __init__(self, stdin: int | None, stdout: int | None, stderr: int | None) -> None:
        self.descriptors: dict[int, int] = {}
        """Number there → number here."""
        self.files: list[BinaryIO | None] = [None, None, None]
        """This side's ends of the pipes."""
        self._owned: list[int] = []
        try:
            for number, stream in enumerate((stdin, stdout, stderr)):
                self.descriptors[number] = self._open(number, stream)
        except BaseException:
            self.release()
            self.close()
            raise

    def _open(self, number: int, stream: int | None) -> int:
        if stream == subprocess.PIPE:
            return self._pipe(number)
        if stream is None or stream == subprocess.DEVNULL:
            return self._own(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
        if stream == subprocess.STDOUT and number == 2:
            return self.descriptors[1]
        if stream < 0:
            raise InvalidArgument(f"stream {number}: expected PIPE, DEVNULL, a descriptor or None, got {stream}")
        return stream

    def _pipe(self, number: int) -> int:
        reading, writing = os.pipe()
        ours, theirs = (writing, reading) if number == 0 else (reading, writing)
        self.files[number] = open(ours, "wb" if number == 0 else "rb")  # noqa: SIM115  (closed with the process)
        return self._own(theirs)

    def _own(self, descriptor: int) -> int:
        self._owned.append(descriptor)
        return descriptor

    def release(self) -> None:
        """Close the other side's ends: the process has its own by now."""
        while self._owned:
            os.close(self._owned.pop())

    def close(self) -> None:
        """Close this side's ends."""
        for file in self.files:
            with contextlib.suppress(OSError):  # what was not written yet has nobody to read it
                if file is not None:
                    file.close()
