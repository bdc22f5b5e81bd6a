"""Many environments behind one: executors, each an `Env` with a leading lane axis.

Not here: the contract they keep, which is `ludus.core.VectorEnv`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ludus.vector.serial import SerialVectorEnv

if TYPE_CHECKING:
    from ludus.vector.executor import Executor, Kernel, Process, Serial, Thread
    from ludus.vector.process import ProcessVectorEnv
    from ludus.vector.thread import ThreadVectorEnv

_HOME = {
    **dict.fromkeys(("Executor", "Kernel", "Process", "Serial", "Thread"), "executor"),
    "ProcessVectorEnv": "process",
    "ThreadVectorEnv": "thread",
}

__all__ = [
    "Executor",
    "Kernel",
    "Process",
    "ProcessVectorEnv",
    "Serial",
    "SerialVectorEnv",
    "Thread",
    "ThreadVectorEnv",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
