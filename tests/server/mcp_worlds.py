"""Environments of tools for the tests of `/mcp`; in a module of their own, which a worker loads quickly."""

import threading

import numpy as np

from ludus.core import Step
from ludus.spaces import Box
from ludus.tools import ToolCancelled, ToolEnv, ToolError, ToolOutcome, progress, tool

HOLD = threading.Event()
"""What `Dial.hang` waits for."""


class Dial(ToolEnv):
    """A dial, to be turned to the right number.

    The rest of what is said here is for people.
    """

    def __init__(self, steps: int = 3) -> None:
        super().__init__()
        self.left = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.left, self.code = 2, 7 if seed is None else int(self.np_random.integers(100))
        return ToolOutcome(result="a door with a dial"), {}

    @tool
    def turn(self, number: int) -> dict[str, bool]:
        """Turn it."""
        self.left -= 1
        return {"open": number == self.code}

    @tool
    async def listen(self, seconds: float = 0.0) -> list[int]:
        """Hear how far it is."""
        return [self.code, self.left]

    @tool
    def refuse(self) -> str:
        """Be refused."""
        raise ToolError("it does not move")

    @tool
    def fault(self) -> str:
        """Meet a fault."""
        raise ZeroDivisionError("of its own")

    @tool
    def hang(self) -> str:
        """Wait for what does not come."""
        HOLD.wait(600)
        return "late"

    def judge(self, call, result):
        right = result == {"open": True}
        return float(right), right or self.left == 0


class Faulty(ToolEnv):
    """Observations are arrays, which a call may ask to be wrong; so may the seed 13 of the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        return np.array([np.nan if seed == 13 else 0, 0], np.float32), {}

    @tool
    def go(self, fault: str) -> None:
        """Do something wrong, or nothing."""

    def step(self, action):
        fault = action.arguments["fault"]
        number = {"outside": 5.0, "nan": np.nan}.get(fault, 0.5)
        reward = {"nan reward": np.nan, "infinite reward": -np.inf}.get(fault, 1.0)
        return Step(np.array([number, 0], np.float32), reward, False, False, {})


class Kiln(ToolEnv):
    """Says how far it is, and why it stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.why = ""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        return ToolOutcome(result="a kiln"), {}

    @tool
    def bake(self, loaves: int) -> int:
        """Bake loaves."""
        for loaf in range(loaves):
            progress(loaf + 1, loaves, f"loaf {loaf + 1}")
        return loaves

    @tool
    def glow(self) -> str:
        """Glow until nobody waits."""
        try:
            while True:
                progress(1)
        except ToolCancelled as error:
            self.why = str(error)
            raise

    @tool
    def ended(self) -> str:
        """Why it stopped glowing."""
        return self.why
