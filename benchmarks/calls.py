"""How many calls into Ludus it takes to make an environment, exactly: `python benchmarks/calls.py`.

Counted with `sys.setprofile` on the second making, when everything is imported: calls of Python functions whose code is
in the package, the files they are in, and how often the work passes from one package of Ludus to another.
"""

import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import ludus

HOME = f"{Path(ludus.__file__).parent}/"


def making() -> dict[str, Callable[[], Any]]:
    """What is counted, by the line that a user writes."""
    return {
        'make("CartPole-v1")': lambda: ludus.make("CartPole-v1"),
        'make_vec("CartPole-v1", 64)': lambda: ludus.make_vec("CartPole-v1", 64),
        'make_vec("GridWorld-v0", 4)': lambda: ludus.make_vec("GridWorld-v0", 4),
        'make("CartPole-v1", isolation="process")': lambda: ludus.make("CartPole-v1", isolation="process"),
    }


def called(work: Callable[[], Any]) -> list[str]:
    """The functions of Ludus that `work` calls, in order, as `package/file.py:function`."""
    found: list[str] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(HOME):
            found.append(f"{name.removeprefix(HOME)}:{frame.f_code.co_name}")

    sys.setprofile(watch)
    try:
        made = work()
    finally:
        sys.setprofile(None)
    made.close()
    return found


def main() -> None:
    """Print a line for each; with `--most` also the functions that are called most."""
    for name, work in making().items():
        work().close()
        calls = called(work)
        rooms = [one.partition("/")[0] for one in calls]
        changes = sum(one != other for one, other in pairwise(rooms))
        files = len({one.partition(":")[0] for one in calls})
        print(f"{name:44} {len(calls):5} calls, {files:3} files, {changes:4} changes of package")
        if "--most" in sys.argv:
            for one, times in Counter(calls).most_common(40):
                print(f"    {times:4} {one}")
        if "--all" in sys.argv:
            for one in calls:
                print(f"    {one}")


if __name__ == "__main__":
    main()
