"""Rules about what one episode leaves for the next: nothing that is seen in it, and nothing that lies about."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import TypeGuard

from ludus.core.env import AnyEnv
from ludus.errors import listing, shorten
from ludus.testing.equality import data_equal
from ludus.testing.global_random import global_random
from ludus.testing.history import Player, first_difference
from ludus.testing.report import ReportNote, error, warning
from ludus.testing.rule import Found
from ludus.testing.subject import Subject

__all__ = ["episodes_leave_nothing_behind", "episodes_see_nothing_of_others"]

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
DATA = (bool, int, float, complex, str, bytes, list, dict, set, tuple, type(None))
"""Module globals of these types are looked at; functions, classes and modules are no state."""
UNSEEN = ("/dev/", "/proc/", "/sys/", "__pycache__")


def episodes_see_nothing_of_others(subject: Subject) -> Found:
    """An episode is the same after another one with another seed and other actions, whatever that one left."""
    env = subject.env()
    before = subject.play(env)
    _other_episodes(subject, env)
    parted = first_difference(before, subject.play(env))
    if parted:
        message = f"reset(seed={subject.seed}) after an episode of another seed: expected its history, got {parted}"
        yield error(
            message,
            "begin each episode from nothing: what the last one wrote to files, globals, environment variables or a "
            "client (cookies, sessions, storage) has to be put back in reset",
        )


def episodes_leave_nothing_behind(subject: Subject) -> Found:
    """After an episode there are no new files, environment variables or other working folder; globals are noted."""
    env = subject.env()
    variables, folder, state = dict(os.environ), _folder(), _module_state(env)
    with written_files() as files:
        _other_episodes(subject, env)
    with written_files() as new:
        env.reset(seed=subject.seed)
    yield from _left(files - new, "after an episode")
    changed = sorted(key for key in {*variables, *os.environ} if variables.get(key) != os.environ.get(key))
    if changed:
        message = f"after an episode: expected the environment variables as they were, got others: {listing(changed)}"
        yield warning(message, "hand settings over as arguments; a variable is seen by every environment here")
    if _folder() != folder:
        yield warning("after an episode: expected the working folder it was in, got another", "use whole paths")
    names = [name for name, value in _module_state(env).items() if name in state and not data_equal(state[name], value)]
    if names:
        yield ReportNote(f"an episode changed {listing(sorted(names), 4)}, which all environments of the process share")
    if subject.instance is None:
        subject.tidy()  # an episode under way may have files until it is closed
    yield from _left(new, "after close" if subject.instance is None else "after an episode")


def _left(files: set[str], when: str) -> Found:
    left = sorted(path for path in files if os.path.lexists(path))
    if left:
        message = f"{when}: expected no new files, got {listing(map(shorten, left), 4)}"
        yield warning(message, "delete them in reset and close, or write to a folder that the caller chooses")


def _other_episodes(subject: Subject, env: AnyEnv) -> None:
    with global_random(1):
        player = Player(env, subject.seed + 1)
        player.reset(subject.seed + 1)
        player.run(subject.steps)


def _folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""


def _module_state(env: AnyEnv) -> dict[str, object]:
    """The data that the modules of an environment's classes hold, and the classes themselves, by name."""
    found: dict[str, object] = {}
    for kind in type(env.unwrapped).__mro__:
        if kind.__module__.startswith("ludus.core") or kind is object:
            continue
        owners = {kind.__module__: sys.modules.get(kind.__module__), f"{kind.__module__}.{kind.__qualname__}": kind}
        for owner, holder in owners.items():
            for name, value in dict(vars(holder) if holder is not None else {}).items():
                if type(value) in DATA and not name.startswith("__"):
                    found[f"{owner}.{name}"] = _copied(value)
    return found


def _copied(value: object) -> object:
    try:
        return deepcopy(value)
    except Exception:  # what cannot be copied cannot be compared either
        return None


# --- files: the interpreter says which are opened to be written, so that other processes' do not count ---

_watching: list[set[str]] = []
_hooked: list[bool] = []


@contextmanager
def written_files() -> Generator[set[str]]:
    """The paths that this process opens for writing, makes or moves to inside the block."""
    if not _hooked:
        sys.addaudithook(_audit)  # it stays; outside of blocks it looks at one list
        _hooked.append(True)
    found: set[str] = set()
    _watching.append(found)
    try:
        yield found
    finally:
        _watching.remove(found)


def _is_path(value: object) -> TypeGuard[str | bytes | os.PathLike[str]]:
    return isinstance(value, str | bytes | os.PathLike)


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not _watching:
        return
    path: object = None
    if event == "open":
        path = args[0] if isinstance(args[2], int) and args[2] & WRITING else None
    elif event in ("os.mkdir", "os.symlink", "os.link", "os.rename"):
        path = args[0] if event == "os.mkdir" else args[1]
    if _is_path(path):
        whole = os.path.abspath(os.fsdecode(path))
        if not any(part in whole for part in UNSEEN):
            for found in _watching:
                found.add(whole)
