"""Looking for what comes next before waiting for it: being woken takes longer than most steps.

A look in vain costs as much as it could have saved. So after one, what comes is waited for twice without a look, after
two in a row four times, and so on: `rest` counts these down. The loops are where messages are read, in a client and in
a server's thread, since a call more is what a step could be spared.
"""

import os
import time
from collections.abc import Callable

__all__ = ["LOOK_SECONDS", "MOST_MISSES", "yield_core"]

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
LOOK_SECONDS = 100e-6 if CORES > 1 else 0.0
"""How long to look: about what being woken costs. With one core, whoever looks keeps the other side from answering."""
MOST_MISSES = 10
"""Looks in vain, after which there are no fewer: one for a thousand messages."""

yield_core: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0.0))
"""Between two looks: on a machine that has no core to spare, the other side is let run, and answers all the sooner."""
