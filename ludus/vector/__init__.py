"""Many environments behind one: executors, each an `Env` with a leading lane axis.

Not here: the contract they keep, which is `ludus.core.VectorEnv`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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
_GYMNASIUM = {
    "SyncVectorEnv": "SerialVectorEnv([make, …]), or ludus.make_vec(id, num_envs, executor='serial')",
    "AsyncVectorEnv": "ProcessVectorEnv([make, …]), or ludus.make_vec(id, num_envs, executor='process')",
    "VectorEnv": "ludus.VectorEnv",
    "VectorWrapper": "ludus.Wrapper, which takes a batch as well",
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


def __getattr__(name: str) -> object:
    if name in _GYMNASIUM:
        # Not AttributeError, of which `from ludus.vector import …` would keep nothing but the name.
        raise ImportError(
            f"ludus.vector: expected a name of Ludus, got {name!r}, which is Gymnasium's; write {_GYMNASIUM[name]}"
        )
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
