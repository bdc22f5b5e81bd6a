"""Calls of a loop over lanes: from Python in a tenth of a microsecond, on one thread or by a team of threads.

A call is a block of words: what to run, over how many lanes, and what the loop reads. Python hands over four arrays,
whose addresses are read from the objects themselves; the interpreter lock is let go while lanes are stepped.

A team is a block of words as well. The caller puts up a number of pieces; the caller takes them from the front, the
threads of the team from behind, so that each finds in its cache the lanes that it stepped last. Each takes a share of
what is left, so that shares begin long, which saves asking, and end short, which saves waiting. Fronts, ends and a
ticket are one word: taking pieces is one atomic instruction, and a thread that comes late finds nothing to take. A
thread without work looks for some for a bounded time, and then sleeps in the kernel until it is woken. No thread of a
team ever holds the interpreter lock.
"""

import ctypes
import platform
import re
import sys
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import TypeAlias

import llvmlite.binding as llvm
import numpy as np

from ludus.kernels.call_text import ARRAY, CALLING, SHARING
from ludus.kernels.disk_cache import MachineCode, read_code, text_path, write_code
from ludus.kernels.machine import Machine, object_of
from ludus.spaces.array_space import Array

__all__ = ["FAULT", "KernelCall", "Team", "can_split"]

Run: TypeAlias = Callable[[Array, Array, Array, Array], int]
"""Runs a loop with actions, observations, rewards and flags."""
LOOP, LANES, TEAM, FOUND, PIECES, SIZE, PATIENCE, PART = range(8)
HEAD = 16
"""Where in a call the words of the loop begin."""
ACTIONS = 7
"""Where among them the addresses of the four arrays lie."""
NEXT, DONE, ASLEEP, JOB, BUSY = (8 * place for place in range(5))
"""The words of a team, each on a cache line of its own."""
SHARE = JOB + 1
"""Which part of what is left is taken at once: beside the job, since one is read with the other."""
RESULT = 8
"""Words for the result of pieces that were taken together: what the loop counted, its error, its status and how many
they were; the rest keeps them apart."""
FAULT = -2
"""What a call gives where the rules failed; what they raised is then known."""
FUTEX, NANOSLEEP = {"x86_64": 202, "aarch64": 98}, {"x86_64": 35, "aarch64": 101}
"""The numbers of the system calls that sleep until a word changes, and for some time."""
WAIT, WAKE = 128, 129  # within one process
PAUSE = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32 1)"}
DECLARED = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32)"}
NAP_NANOSECONDS = 20_000
TRIES = 2000
ALIGNMENT = 64


def can_split() -> bool:
    """Whether this machine has what a team needs; elsewhere one thread steps all lanes."""
    return sys.platform == "linux" and platform.machine() in FUTEX


class KernelCall:
    """A loop, and the block of words that it reads; to be called with actions, observations, rewards and flags.

    `address` is the loop's, `words` are what it reads but for the arrays' addresses. Nothing is checked: the arrays
    have to be what the loop takes them for, and contiguous.
    """

    def __init__(self, address: int, lanes: int, words: list[int]) -> None:
        self._block = np.zeros(HEAD + len(words) + len(ARRAYS), np.int64)
        self._found = _aligned(RESULT)
        head = self._block
        head[[LOOP, LANES, FOUND]] = address, lanes, self._found.ctypes.data
        head[HEAD : HEAD + ACTIONS] = words[:ACTIONS]
        head[HEAD + ACTIONS + len(ARRAYS) :] = words[ACTIONS:]
        self.alone: Run = _function("run_alone", head.ctypes.data)
        """Runs the loop on this thread; how many lanes ended, -1 where it refused, or FAULT."""
        self.together: Run | None = None
        """The same with a team, once there is one."""
        self.team: Team | None = None

    def join(self, team: "Team", pieces: int, size: int, patience: float, threads: int = 2) -> None:
        """Have a team take part, by pieces of so many lanes; of what is left, each thread takes half of its share."""
        self.team, self._found = team, _aligned(RESULT * pieces)
        places = [TEAM, FOUND, PIECES, SIZE, PATIENCE, PART]
        looks = int(patience * _code().rate) + 1
        part = (2 * threads - 1).bit_length()
        self._block[places] = team.address, self._found.ctypes.data, pieces, size, looks, part
        if self.together is None:
            self.together = _function("run_together", self._block.ctypes.data)

    @property
    def error(self) -> int:
        """Where the loop left what the rules raised."""
        return int(self._found[1])


ARRAYS = ("actions", "out", "rewards", "flags")


class Team:
    """Words that threads share; `serve` is what each of its threads does, without end."""

    def __init__(self, look_seconds: float) -> None:
        self._words = _aligned(8 * 5)
        self.address = self._words.ctypes.data
        self._looks = int(look_seconds * _code().rate) + 1

    def serve(self) -> None:
        """Take pieces of whatever is put up, looking and sleeping in between; never returns."""
        _code().serve(self.address, self._looks)

    @property
    def asleep(self) -> int:
        """How many threads sleep."""
        return int(self._words[ASLEEP])

    @property
    def idle(self) -> bool:
        """Whether nobody's call is under way."""
        return not self._words[BUSY]


def _aligned(words: int) -> Array:
    """Zeros that begin on a cache line."""
    spare = ALIGNMENT // 8
    block = np.zeros(words + spare, np.int64)
    skip = -block.ctypes.data % ALIGNMENT // 8
    return block[skip : skip + words]


# --- the machine code ---


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


FASTCALL = 0x0080


class _Code:
    """The machine code, and how many looks it takes a second."""

    def __init__(self) -> None:
        api = ctypes.pythonapi
        symbols = {
            "ludus_save_thread": api.PyEval_SaveThread,
            "ludus_restore_thread": api.PyEval_RestoreThread,
            "ludus_long_from": api.PyLong_FromLongLong,
            "ludus_long_as": api.PyLong_AsLongLong,
        }
        for name, function in symbols.items():
            llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
        self._machine = _linked(_text())
        names = ("run_alone", "run_together") if can_split() else ("run_alone",)
        self.methods = {name: _MethodDefinition(name.encode(), self._at(name), FASTCALL, None) for name in names}
        self.rate = 0.0
        if can_split():
            number = ctypes.c_int64
            free = ctypes.CFUNCTYPE  # lets the interpreter lock go
            self.serve: Callable[[int, int], None] = free(None, number, number)(self._at("serve"))
            self._look_on: Callable[[int], None] = free(None, number)(self._at("look_on"))
            self.rate = max(self._measured() for _ in range(3))

    def _at(self, name: str) -> int:
        return self._machine.address(name)

    def _measured(self) -> float:
        start = perf_counter()
        self._look_on(TRIES)
        return TRIES / (perf_counter() - start)


@cache
def _code() -> _Code:
    return _Code()


def _function(name: str, address: int) -> Run:
    """A function of Python's that runs machine code with the call at an address."""
    new = ctypes.pythonapi.PyCFunction_NewEx  # gives what it is told to give: `py_object`
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.addressof(_code().methods[name]), address, None)


def _linked(text: str) -> Machine:
    """The code of a text, from disk where a process has compiled it before: that takes longer than all the rest."""
    path = text_path("call", text)
    code = None if path is None else read_code(path)
    if code is None:
        code = MachineCode("run_alone", _compiled(text))
        if path is not None:
            write_code(path, code)
    return Machine.of_object(code.data)


def _compiled(text: str) -> bytes:
    try:
        return object_of(re.sub(r"i64\*", "ptr", text.replace("<LOOP>", "ptr")))
    except RuntimeError:  # an LLVM whose pointers still have types
        return object_of(text.replace("<LOOP>", "i32 (i64*, i64*, i64, i64, i64*)*"))


def _text() -> str:
    machine = platform.machine()
    arrays = "".join(
        ARRAY.replace("<N>", str(place)).replace("<PLACE>", str(HEAD + ACTIONS + place)) for place in range(len(ARRAYS))
    )
    known: dict[str, object] = {
        "ARRAYS": arrays,
        "DATA": _data_offset(),
        "HEAD": HEAD,
        "FAULT": FAULT,
        "RESULT": RESULT,
    }
    known |= {"LANES": LANES, "TEAM": TEAM, "FOUND": FOUND, "PIECES": PIECES, "SIZE": SIZE, "PATIENCE": PATIENCE}
    known |= {"PART": PART, "SHARE": SHARE}
    text = CALLING
    if can_split():
        text += SHARING
        known |= {"DONE": DONE, "ASLEEP": ASLEEP, "JOB": JOB, "BUSY": BUSY, "WAIT": WAIT, "WAKE": WAKE}
        known |= {"PAUSE": PAUSE[machine], "DECLARED": DECLARED[machine], "NAP": NAP_NANOSECONDS}
        known |= {"FUTEX": FUTEX[machine], "NANOSLEEP": NANOSLEEP[machine]}
    for name, value in known.items():
        text = text.replace(f"<{name}>", str(value))
    return text


def _data_offset() -> int:
    """Where an array object has the address of its elements: after what every object begins with."""
    array = np.zeros(1)
    offset = object.__basicsize__
    if ctypes.c_size_t.from_address(id(array) + offset).value != array.ctypes.data:
        raise RuntimeError(f"arrays: expected the address of their elements {offset} bytes into them, got another")
    return offset
