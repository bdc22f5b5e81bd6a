"""The side of the grader in its sandbox: it loads a task's `grader.py`, and says what it found on descriptor 3.

Trusted code of the task's author alone runs in this process; submitted code never does.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from ludus.tasks.inside.case import Case, Rejected, plain_metrics
from ludus.tasks.inside.frames import CHANNEL, receive, send

__all__ = ["generate", "grade"]


def grade() -> None:
    """Grade one submission, as the first frame asks for it."""
    os.set_inheritable(CHANNEL, False)
    asked = receive()
    case = Case(
        Path(asked["submission"]),
        Path(asked["hidden"]),
        Path(asked["data"]),
        split=asked["split"],
        seed=asked["seed"],
    )
    try:
        result = module_at(asked["grader"]).grade(case)
        metrics = {name: repr(value) for name, value in plain_metrics(result, asked["metric"]).items()}
        send({"do": "score", "metrics": metrics})
    except Rejected as error:
        send({"do": "rejected", "reason": _plain_text(str(error))})
    except BaseException as error:  # `sys.exit` too: whatever it is, it is no score
        told = _plain_text(traceback.format_exc(limit=-4))
        send({"do": "failed", "reason": _plain_text(f"{type(error).__name__}: {error}"), "traceback": told[-4000:]})


def _plain_text(text: str) -> str:
    """A text that any reader can read: names of files and values of an agent's may have halves of characters."""
    return text.encode("utf8", "replace").decode("utf8")


def generate() -> None:
    """Write a task's data, where it has a generator, and import its grader, as the first frame asks for it."""
    asked = receive()
    doing = "failed"
    try:
        if asked["generator"] is not None:
            module_at(asked["generator"]).generate(int(asked["seed"]), Path(asked["public"]), Path(asked["hidden"]))
        doing = "no grader"
        if asked["grader"] is not None and not callable(module_at(asked["grader"]).grade):
            raise TypeError("grade is no function")
        send({"do": "done"})
    except Exception as error:
        told = traceback.format_exc(limit=-4)
        send({"do": doing, "reason": f"{type(error).__name__}: {error}", "traceback": told[-4000:]})


def module_at(path: str) -> ModuleType:
    """A module of the task's folder, by its file; it may import its neighbours there."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location(f"task_{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"expected a Python file, got {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
