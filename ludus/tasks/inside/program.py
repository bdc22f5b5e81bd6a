"""The side of a submitted program: it loads a file of the submission and calls functions of it, as it is asked.

The text of this file, after that of `frames`, is what is started in the sandbox. Whatever it says is the word of the
code that it runs; it knows nothing of scores, and the other side believes nothing but plain values.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from ludus.tasks.inside.frames import CHANNEL, receive, send

__all__ = ["main"]

LONGEST_ERROR = 500


def main() -> None:
    """Answer until the other side goes."""
    os.set_inheritable(CHANNEL, False)
    module: ModuleType | None = None
    made: list[object] = []
    while True:
        try:
            asked = receive()
        except EOFError:
            os._exit(0)
        try:
            if asked["do"] == "load":
                module = load(asked["path"])
                answer: object = None
            elif asked["do"] == "make":
                made.append(getattr(module, asked["name"])(*asked["arguments"]))
                answer = len(made) - 1
            else:
                on, each = asked["on"], asked["each"]
                numbers: list[int | None] = [on] * len(each) if on is None or isinstance(on, int) else on
                owners = [module if one is None else made[one] for one in numbers]
                answer = [getattr(one, asked["name"])(*given) for one, given in zip(owners, each, strict=True)]
            send({"value": answer})
        except BaseException as error:
            send({"error": f"{type(error).__name__}: {error}"[:LONGEST_ERROR]})


def load(path: str) -> ModuleType:
    """A module of the submission, by its file."""
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"expected a Python file, got {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
