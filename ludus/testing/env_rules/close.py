"""Rules about closing: it always works, and twice is harmless."""

from contextlib import suppress

from ludus.testing.history import Player
from ludus.testing.report import error
from ludus.testing.rule import Found, raised
from ludus.testing.subject import Subject

__all__ = ["close_runs", "close_twice_is_harmless"]


def close_runs(subject: Subject) -> Found:
    """`close` raises nothing, neither after an episode nor before the first reset."""
    for when in ("after an episode", "before the first reset"):
        env = subject.fresh()
        if when == "after an episode":
            with suppress(Exception):  # other rules say what is wrong with it
                player = Player(env, 0)
                player.reset(subject.seed)
                player.run(min(5, subject.steps))
        try:
            env.close()
        except Exception as failure:
            message = f"close() {when}: expected no exception, got {raised(failure)}"
            yield error(message, "release in close only what there is: set it to None in __init__ and ask for it first")
            return


def close_twice_is_harmless(subject: Subject) -> Found:
    """A second `close` raises nothing."""
    env = subject.fresh()
    env.reset(seed=subject.seed)
    env.close()
    try:
        env.close()
    except Exception as failure:
        yield error(
            f"close() a second time: expected no exception, got {raised(failure)}",
            "forget in close what was released: set it to None",
        )
