"""Waiting for the thing itself: what comes is waited for as long as a slow machine takes, and what never does fails."""

import inspect
import time
from collections.abc import Callable

PATIENCE_S = 120.0
"""Far more than anything takes; only a test that fails waits for so long."""


def until(condition: Callable[[], object], what: str) -> None:
    """Come back when the condition holds; AssertionError with what is missing otherwise."""
    ends = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < ends, what
        time.sleep(0.005)


def wait_for_replies() -> None:
    """Have clients wait as long where a test says nothing else: their own few seconds are over on a busy machine."""
    import httpx  # late, since attacks are patient too, in processes that ask nobody
    from websockets.sync.client import connect

    limits: httpx.Timeout = inspect.signature(httpx.get).parameters["timeout"].default
    limits.connect = limits.read = limits.write = limits.pool = PATIENCE_S
    connect.__kwdefaults__ |= {"open_timeout": PATIENCE_S, "ping_timeout": PATIENCE_S}
