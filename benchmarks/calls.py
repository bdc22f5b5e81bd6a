"""How many calls into Ludus the work takes, exactly.

    python benchmarks/calls.py [--most | --all] [--only TEXT] [--json FILE]

Counted by a profile function once everything is imported: calls of Python functions whose code is in the package (a
generator or a coroutine that goes on counts again), the files they are in, and how often the work passes from one
package of Ludus to another. Of a remote step, the client's calls and the server's, which is in threads of this process,
are counted by themselves, and added. Counted so, the step of `open/Echo-v0` took 169 calls and 40 changes at first.
"""

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import ludus

HOME = f"{Path(ludus.__file__).parent}/"
STRANGERS = Path(__file__).parent / "strangers"
BAR = {"calls": 90, "changes": 16}
"""Of a typed remote step."""
ECHO = 'connect(url).step(EchoAction("hello"))'
OWN = 'connect(url).step(Move(1, "on"))'
AFTERWARDS_SECONDS = 0.002
"""In which a server ends what it has to do for a step."""
REPEATS = 200
"""Steps, of which the usual one counts: a server has work of its own now and then, which falls into some."""


@dataclass
class Count:
    """The calls of a piece of work: one list for each side, in order, as `package/file.py:function`."""

    name: str
    sides: dict[str, list[str]]

    @property
    def calls(self) -> list[str]:
        """Those of all sides."""
        return [one for side in self.sides.values() for one in side]

    @property
    def changes(self) -> int:
        """How often the work passes from one package to another; the way to the server and back are two."""
        within = (package(one) != package(other) for side in self.sides.values() for one, other in pairwise(side))
        return sum(within) + 2 * (len(self.sides) - 1)

    @property
    def files(self) -> int:
        """How many files are opened to follow it."""
        return len({one.partition(":")[0] for one in self.calls})

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        sides = {side: len(calls) for side, calls in self.sides.items()}
        met = len(self.calls) <= BAR["calls"] and self.changes <= BAR["changes"]
        plain = {"work": self.name, "calls": len(self.calls), "files": self.files, "changes": self.changes}
        return {**plain, "sides": sides, "bar": BAR if self.is_remote else None, "met": met if self.is_remote else None}

    @property
    def is_remote(self) -> bool:
        """Whether it has a server."""
        return len(self.sides) > 1


def package(call: str) -> str:
    """Where a call is."""
    return call.partition("/")[0]


class Recorder:
    """A profile function that notes the calls into Ludus, thread by thread, while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.found: dict[int, list[str]] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note one."""
        name = frame.f_code.co_filename
        if self.on and event == "call" and name.startswith(HOME):
            here = self.found.setdefault(threading.get_ident(), [])
            here.append(f"{name.removeprefix(HOME)}:{frame.f_code.co_name}")

    @contextmanager
    def recording(self) -> Generator[None]:
        """Note what is called until the end of the block, in this thread and all that it started."""
        self.found = {}
        sys.setprofile(self)
        self.on = True
        try:
            yield
        finally:
            self.on = False
            sys.setprofile(None)


def count_making(name: str, work: Callable[[], Any]) -> Count:
    """The second making, when everything is imported."""
    work().close()
    recorder = Recorder()
    with recorder.recording():
        made = work()
    made.close()
    return Count(name, {"here": recorder.found[threading.get_ident()]})


def count_stepping(name: str, make: Callable[[], Any], act: Callable[[Any], Any]) -> Count:
    """A step after others; of one in another process, what is called on this side."""
    env = make()
    try:
        env.reset(seed=0)
        action = act(env)
        for _ in range(5):
            env.step(action)
        recorder = Recorder()
        with recorder.recording():
            env.step(action)
    finally:
        env.close()
    return Count(name, {"here": recorder.found[threading.get_ident()]})


def count_remote(name: str, target: str, action: Any) -> Count:
    """A step at a server: the usual one of some, once both sides have seen many."""
    recorder = Recorder()
    threading.setprofile(recorder)  # for the server's threads, which start now
    server = ludus.serve(target, port=0, block=False)
    try:
        with ludus.connect(server.url) as env:
            env.reset(seed=0)
            for _ in range(500):
                env.step(action)
            counts = [count_step(name, recorder, lambda: env.step(action)) for _ in range(REPEATS)]
    finally:
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]
        server.close()
    usual, _ = Counter(tuple(one.calls) for one in counts).most_common(1)[0]
    return next(one for one in counts if tuple(one.calls) == usual)


def count_step(name: str, recorder: Recorder, step: Callable[[], Any]) -> Count:
    """One of them, and a moment in which the server ends what it has to do for it."""
    here = threading.get_ident()
    with recorder.recording():
        step()
        sys.setprofile(None)
        time.sleep(AFTERWARDS_SECONDS)
    found = {**recorder.found}
    return Count(name, {"client": found.pop(here, []), "server": [one for side in found.values() for one in side]})


def works() -> dict[str, Callable[[], Count]]:
    """What is counted, by the line that a user writes."""
    sys.path.insert(0, str(STRANGERS))
    from mine import Move  # here: the folder is on the path now

    from ludus.envs.open.echo import EchoAction  # here: it is loaded where it is counted

    making: dict[str, Callable[[], Any]] = {
        'make("CartPole-v1")': lambda: ludus.make("CartPole-v1"),
        'make_vec("CartPole-v1", 64)': lambda: ludus.make_vec("CartPole-v1", 64),
        'make_vec("GridWorld-v0", 4)': lambda: ludus.make_vec("GridWorld-v0", 4),
        'make("CartPole-v1", isolation="process")': lambda: ludus.make("CartPole-v1", isolation="process"),
        'make("CartPole-v1", isolation="sandbox")': lambda: ludus.make("CartPole-v1", isolation="sandbox"),
    }
    actions: dict[str, Callable[[Any], Any]] = {name: lambda _: 1 for name in making}
    actions |= {name: lambda envs: envs.action_space.sample() for name in making if name.startswith("make_vec")}
    return {
        **{name: lambda name=name, work=work: count_making(name, work) for name, work in making.items()},
        **{
            f"{name}.step": lambda name=f"{name}.step", make=make, act=actions[name]: count_stepping(name, make, act)
            for name, make in making.items()
        },
        ECHO: lambda: count_remote(ECHO, "open/Echo-v0", EchoAction("hello")),
        OWN: lambda: count_remote(OWN, "mine:Count", Move(1, "on")),
    }


def show(count: Count, *, most: bool, chain: bool) -> None:
    """A line, and what was asked for beside it."""
    sides = " + ".join(f"{len(calls)} {side}" for side, calls in count.sides.items()) if count.is_remote else ""
    bar = f" (bar {BAR['calls']} and {BAR['changes']})" if count.is_remote else ""
    print(
        f"{count.name:46} {len(count.calls):5} calls, {count.files:3} files, {count.changes:4} changes of package"
        + (f" = {sides}{bar}" if sides else "")
    )
    if most:
        for one, times in Counter(count.calls).most_common(40):
            print(f"    {times:4} {one}")
    for side, calls in count.sides.items() if chain else ():
        print(f"  {side}")
        for before, one in zip([None, *calls], calls, strict=False):
            print(f"    {'│' if before and package(before) == package(one) else '├'} {one}")


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", action="store_true", help="also the functions that are called most")
    parser.add_argument("--all", action="store_true", help="also every call in its order")
    parser.add_argument("--only", default="", metavar="TEXT", help="the works whose line has this text")
    parser.add_argument("--json", type=Path, help="write the counts here as well")
    given = parser.parse_args()
    counts = [count() for name, count in works().items() if given.only in name]
    for one in counts:
        show(one, most=given.most, chain=given.all)
    if given.json:
        given.json.write_text(json.dumps([one.to_json() for one in counts], indent=1))


if __name__ == "__main__":
    main()
