"""CartPole as a plain loop in C, compiled when asked for and called through ctypes: what one core can do."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__: list[str] = []

COMPILER = ("gcc", "-O2", "-ffp-contract=off", "-shared", "-fPIC")
SOURCE = "cartpole.c"


class TimedBatch:
    """The same rules, streams and autoreset as `CartPole-v1` of `seed=0`, on one thread, into the same buffers."""

    turns = 1

    def __init__(self, id: str, lanes: int, ring: int) -> None:
        if id != "CartPole-v1":
            raise LookupError(f"there is no C loop for {id}")
        self._step = compiled().step_lanes
        rng = np.random.default_rng(0)
        self._batches = [rng.integers(0, 2, lanes) for _ in range(ring)]
        self.held = sum(one.nbytes for one in self._batches)
        self.actions = [one.ctypes.data for one in self._batches]
        self.about = {"compiler": _version(), "flags": " ".join(COMPILER[1:])}
        self.streams = np.array([_stream(seed) for seed in range(lanes)], dtype=np.uint64)
        self.state, self.elapsed, self.ended = np.zeros((4, lanes)), np.zeros(lanes, np.int32), np.ones(lanes, np.uint8)
        self.observations, self.rewards = np.zeros((lanes, 4), np.float32), np.zeros(lanes)
        self.terminated, self.truncated = np.zeros(lanes, np.uint8), np.zeros(lanes, np.uint8)
        kept = (self.state, self.streams, self.elapsed, self.ended)
        given = (self.observations, self.rewards, self.terminated, self.truncated)
        places = [one.ctypes.data for one in (*kept, *given)]
        self._step.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * 9]
        self._step.restype = None
        self.step: Callable[[int], object] = lambda action: self._step(lanes, action, *places)
        self.step(self.actions[0])  # every lane has ended, and begins

    def close(self) -> None:
        """Nothing is held."""


def compiled() -> ctypes.CDLL:
    """The library, built in a folder that is gone once it is loaded."""
    if shutil.which(COMPILER[0]) is None:
        raise LookupError(f"no {COMPILER[0]} to compile the C loop with")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "cartpole.so")
        source = Path(__file__).with_name(SOURCE)
        subprocess.run([*COMPILER, "-o", library, source, "-lm"], check=True, capture_output=True)
        return ctypes.CDLL(str(library))


def _version() -> str:
    done = subprocess.run([COMPILER[0], "-dumpfullversion"], check=True, capture_output=True, text=True)
    return f"{COMPILER[0]} {done.stdout.strip()}"


def _stream(seed: int) -> tuple[int, int, int, int]:
    """The PCG64 stream of a seed as four words: halves of its state and of its increment."""
    state = np.random.PCG64(seed).state["state"]
    low = (1 << 64) - 1
    return state["state"] >> 64, state["state"] & low, state["inc"] >> 64, state["inc"] & low
