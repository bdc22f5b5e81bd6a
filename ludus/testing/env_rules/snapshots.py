"""Rules about snapshots: going back means going back exactly, randomness included."""

import pickle
from io import BytesIO

from ludus.core.env import AnyEnv
from ludus.errors import SnapshotError
from ludus.testing.equality import difference
from ludus.testing.history import Player, first_difference
from ludus.testing.report import error, warning
from ludus.testing.rule import Found, Unchecked, raised
from ludus.testing.subject import Subject

__all__ = ["snapshot_can_be_pickled", "snapshot_can_be_taken", "snapshot_fits_a_fresh_instance", "snapshot_is_exact"]

FIX = "keep all state in attributes of the environment that deepcopy copies, or override `_capture` and `_reinstate`"


class _StatePickler(pickle.Pickler):
    """Leaves out the environment's own class: the spec names it, and where it is defined is not the state's fault."""

    def __init__(self, kind: type) -> None:
        super().__init__(BytesIO())
        self._kind = kind

    def persistent_id(self, obj: object) -> str | None:
        """A name instead of that class."""
        return "its own class" if obj is self._kind else None


def snapshot_can_be_taken(subject: Subject) -> Found:
    """`snapshot()` works in the middle of an episode, and `restore` takes it back."""
    env = _begun(subject, subject.env()).env
    try:
        env.restore(env.snapshot())
    except SnapshotError as refusal:
        message, _, fix = str(refusal).partition("; ")
        yield warning(message, fix or FIX)
    except Exception as failure:
        yield error(f"snapshot and restore: expected a copy of the state, got {raised(failure)}", FIX)


def snapshot_can_be_pickled(subject: Subject) -> Found:
    """A snapshot can be pickled, which a batch of worker processes and a file of one's own ask for."""
    env = _begun(subject, subject.env()).env
    try:
        _StatePickler(type(env.unwrapped)).dump(env.snapshot())
    except SnapshotError as elsewhere:
        raise Unchecked(f"state stays where the environment is: {elsewhere}") from elsewhere
    except Exception as refusal:  # whatever its state's own `__reduce__` raises
        message = f"pickle.dumps(snapshot()): expected the bytes of a pickle, got {type(refusal).__name__}: {refusal}"
        fix = "keep functions and classes that are found by name at the top of a module, or give them `__reduce__`"
        yield warning(message, fix)


def snapshot_is_exact(subject: Subject) -> Found:
    """After `restore`, however often, the same actions give the same future, and action_space the same samples.

    One step that is taken back at once counts, too: what is worked out late, at the next step, is not there yet.
    """
    env = subject.env()
    env.action_space.seed(subject.seed)
    player = _begun(subject, env)
    hasty, *twins = [player.fork() for _ in range(3)]
    snapshot = env.snapshot()
    first = hasty.future(1)
    env.restore(snapshot)
    future = player.future(_half(subject))
    parted = first_difference(first, future[: len(first)])
    if parted:
        yield error(f"restore after one step, then the same action: expected the same future, got {parted}", FIX)
        return
    samples = _samples(env)
    for time, twin in enumerate(twins, start=1):
        env.restore(snapshot)
        parted = first_difference(future, twin.future(_half(subject)))
        if parted:
            yield error(f"restore, time {time}, then the same actions: expected the same future, got {parted}", FIX)
            return
    found = difference(samples, _samples(env), "sample ")
    if found:
        yield error(
            f"action_space after restore: expected the same samples, got {found}",
            "capture the generators of the spaces too",
        )


def snapshot_fits_a_fresh_instance(subject: Subject) -> Found:
    """A snapshot restored into a fresh instance gives the same future there."""
    player = _begun(subject, subject.fresh())
    twin = player.fork()
    snapshot = player.env.snapshot()
    twin.env = subject.fresh()
    twin.env.restore(snapshot)
    parted = first_difference(player.future(_half(subject)), twin.future(_half(subject)))
    if parted:
        yield error(f"restore into a fresh instance: expected the same future, got {parted}", FIX)


def _half(subject: Subject) -> int:
    return max(1, subject.steps // 2)


def _begun(subject: Subject, env: AnyEnv) -> Player:
    """Partway through the history of the seed."""
    player = Player(env, 0)
    player.reset(subject.seed)
    return player.run(_half(subject))


def _samples(env: AnyEnv) -> list[object]:
    return [env.action_space.sample() for _ in range(4)]
