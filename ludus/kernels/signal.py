"""Signals between threads without the interpreter lock: a word in memory, waited for first by looking, then asleep.

Being woken takes a thread as long as stepping two thousand lanes. So a thread that waits for work looks for a while
first, in machine code and for a bounded time, and then sleeps in the kernel until it is woken. Compiled by LLVM from a
few lines, as Numba has no atomics for processors; the call through ctypes lets the interpreter lock go.
"""

import ctypes
import platform
import sys
from functools import cache
from time import perf_counter
from typing import Any

__all__ = ["Signal", "can_signal"]

FUTEX = {"x86_64": 202, "aarch64": 98}
"""The number of the system call that sleeps until a word changes."""
WAIT, WAKE = 128, 129  # within one process
PAUSE = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32 1)"}
DECLARED = {"x86_64": "@llvm.x86.sse2.pause()", "aarch64": "@llvm.aarch64.hint(i32)"}
TRIES = 2000
TICKET, DONE, ASLEEP = range(3)
NEVER = -1

SOURCE = """
declare i64 @syscall(i64, ...)
declare void <DECLARED>

define i64 @await_ticket(i64* %words, i64 %seen, i64 %done, i64 %looks, i64 %pauses) {
begin:
  %done_at = getelementptr i64, i64* %words, i64 1
  %asleep_at = getelementptr i64, i64* %words, i64 2
  %tells = icmp sge i64 %done, 0
  br i1 %tells, label %tell, label %look
tell:
  store atomic i64 %done, i64* %done_at release, align 8
  br label %look
look:
  %count = phi i64 [0, %begin], [0, %tell], [%more, %again]
  %found = load atomic i64, i64* %words acquire, align 8
  %is_new = icmp ne i64 %found, %seen
  br i1 %is_new, label %hold, label %again
again:
  call void <PAUSE>
  %more = add i64 %count, 1
  %enough = icmp sge i64 %more, %looks
  br i1 %enough, label %sleep, label %look
sleep:
  %before = atomicrmw add i64* %asleep_at, i64 1 seq_cst
  %checked = load atomic i64, i64* %words seq_cst, align 8
  %still = icmp eq i64 %checked, %seen
  br i1 %still, label %sleep_now, label %awake
sleep_now:
  %low = trunc i64 %seen to i32
  %slept = call i64 (i64, ...) @syscall(i64 <FUTEX>, i64* %words, i32 <WAIT>, i32 %low, i8* null, i8* null, i32 0)
  br label %awake
awake:
  %after = atomicrmw sub i64* %asleep_at, i64 1 seq_cst
  %now = load atomic i64, i64* %words acquire, align 8
  %woken = icmp ne i64 %now, %seen
  br i1 %woken, label %end, label %sleep
hold:
  %held = phi i64 [0, %look], [%longer, %hold_on]
  %over = icmp sge i64 %held, %pauses
  br i1 %over, label %end, label %hold_on
hold_on:
  call void <PAUSE>
  %longer = add i64 %held, 1
  br label %hold
end:
  %ticket = phi i64 [%now, %awake], [%found, %hold]
  ret i64 %ticket
}

define i64 @post(i64* %words, i64 %ticket) {
begin:
  %asleep_at = getelementptr i64, i64* %words, i64 2
  store atomic i64 %ticket, i64* %words seq_cst, align 8
  %asleep = load atomic i64, i64* %asleep_at seq_cst, align 8
  %any = icmp sgt i64 %asleep, 0
  br i1 %any, label %wake, label %end
wake:
  %woken = call i64 (i64, ...) @syscall(i64 <FUTEX>, i64* %words, i32 <WAKE>, i32 2147483647)
  br label %end
end:
  ret i64 %asleep
}

define i64 @await_done(i64* %words, i64 %ticket, i64 %looks) {
begin:
  %done_at = getelementptr i64, i64* %words, i64 1
  br label %look
look:
  %count = phi i64 [0, %begin], [%more, %again]
  %found = load atomic i64, i64* %done_at acquire, align 8
  %is_done = icmp eq i64 %found, %ticket
  br i1 %is_done, label %end, label %again
again:
  call void <PAUSE>
  %more = add i64 %count, 1
  %enough = icmp sge i64 %more, %looks
  br i1 %enough, label %end, label %look
end:
  %result = phi i64 [1, %look], [0, %again]
  ret i64 %result
}
"""


def can_signal() -> bool:
    """Whether this machine has what a signal needs; elsewhere steps are not split."""
    return sys.platform == "linux" and platform.machine() in FUTEX


class Signal:
    """A number that one thread posts and others wait for.

    >>> import threading
    >>> signal, found = Signal(), []
    >>> waiting = threading.Thread(target=lambda: found.append(signal.await_ticket(0)))
    >>> waiting.start()
    >>> signal.post(7)
    >>> waiting.join()
    >>> found
    [7]
    """

    def __init__(self, *, look_seconds: float = 0.0, hold_seconds: float = 0.0) -> None:
        functions = _functions()
        self._words = (ctypes.c_int64 * 8)(0, NEVER)
        self._address = ctypes.addressof(self._words)
        self._await_ticket, self._post, self._await_done = functions.await_ticket, functions.post, functions.await_done
        self._looks, self._holds = int(look_seconds * functions.rate) + 1, int(hold_seconds * functions.rate)
        self.rate = functions.rate

    def await_ticket(self, seen: int, done: int = NEVER) -> int:
        """Say that `done` is, and wait for another ticket than the one `seen`: looking for a while, then asleep.

        Who sees it at once holds for a moment: by then the poster has let the interpreter lock go.
        """
        return self._await_ticket(self._address, seen, done, self._looks, self._holds)

    def post(self, ticket: int) -> None:
        """Give out a ticket, and wake who sleeps."""
        self._post(self._address, ticket)

    def await_done(self, ticket: int, seconds: float) -> bool:
        """Look for the end of a ticket; whether it came in time."""
        return self._await_done(self._address, ticket, int(seconds * self.rate) + 1) == 1

    @property
    def asleep(self) -> int:
        """How many threads sleep."""
        return self._words[ASLEEP]


class _Functions:
    """The machine code, and how many looks it takes a second."""

    def __init__(self) -> None:
        from numba.core import codegen  # which is loaded where there are kernels, and has LLVM with it

        llvm: Any = vars(codegen)["ll"]
        machine = platform.machine()
        text = SOURCE.replace("<PAUSE>", PAUSE[machine]).replace("<FUTEX>", str(FUTEX[machine]))
        text = text.replace("<DECLARED>", DECLARED[machine])
        text = text.replace("<WAIT>", str(WAIT)).replace("<WAKE>", str(WAKE))
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        try:
            module: Any = llvm.parse_assembly(text)
        except RuntimeError:  # pointers have no types any more
            module = llvm.parse_assembly(text.replace("i64*", "ptr").replace("i8*", "ptr"))
        target: Any = llvm.Target.from_default_triple().create_target_machine()
        self._engine: Any = llvm.create_mcjit_compiler(module, target)  # owns the code: lives as long as it
        self._engine.finalize_object()
        number, place = ctypes.c_int64, ctypes.c_void_p
        free, held = ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE  # without and with the interpreter lock
        self.await_ticket: Any = free(number, place, number, number, number, number)(self._at("await_ticket"))
        self.await_done: Any = free(number, place, number, number)(self._at("await_done"))
        self.post: Any = held(number, place, number)(self._at("post"))
        self.rate = max(self._measured() for _ in range(3))

    def _at(self, name: str) -> int:
        return self._engine.get_function_address(name)

    def _measured(self) -> float:
        words = (ctypes.c_int64 * 8)(0, NEVER)
        start = perf_counter()
        self.await_done(ctypes.addressof(words), 1, TRIES)
        return TRIES / (perf_counter() - start)


@cache
def _functions() -> _Functions:
    return _Functions()
