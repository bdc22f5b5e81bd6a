"""Parameters of a game, tried in a process of their own: some end OpenSpiel's by a signal, or fill its memory."""

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ludus.errors import InvalidArgument

__all__ = ["try_parameters"]

PROGRAM = Path(__file__).with_name("trial_program.py")
MAX_SECONDS = 60.0
"""Of the clock; the program has a limit of its own of the processor's time."""


def try_parameters(name: str, parameters: Mapping[str, object]) -> None:
    """Raise InvalidArgument unless a process that plays some games with them comes to its end; each is tried once."""
    problem = _tried(name, json.dumps(parameters, sort_keys=True))
    if problem:
        raise InvalidArgument(f"OpenSpiel {name}: expected parameters that it can be played with, got {problem}")


@cache
def _tried(name: str, parameters: str) -> str:
    """What is wrong with them; nothing where nothing is."""
    command = [sys.executable, "-I", str(PROGRAM), name, parameters]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{parameters}, with which it takes more than {MAX_SECONDS:.0f} seconds to play"
    except OSError as error:
        return f"{parameters}, which no process could try ({error})"
    if done.returncode < 0:
        return f"{parameters}, which end its process by signal {-done.returncode}"
    return done.stdout.strip()[:300] or ("" if done.returncode == 0 else f"{parameters}, which it cannot load")
