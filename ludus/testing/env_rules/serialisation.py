"""Rules about serialisation: spaces and their values travel as JSON and msgpack, never as pickles."""

from typing import Literal

from ludus.errors import LudusError
from ludus.spaces import Space, dumps, from_description, loads
from ludus.spaces import describe as describe_space
from ludus.testing.equality import difference
from ludus.testing.history import Player
from ludus.testing.report import error
from ludus.testing.rule import Found, raised
from ludus.testing.subject import Subject

__all__ = ["spaces_can_be_described", "values_travel_without_pickle"]

FORMATS: tuple[Literal["json", "msgpack"], ...] = ("json", "msgpack")


def spaces_can_be_described(subject: Subject) -> Found:
    """Both spaces can be written as plain data, and read back as equal spaces."""
    env = subject.env()
    for name in ("observation_space", "action_space"):
        space: Space[object] = getattr(env, name)
        try:
            back = from_description(describe_space(space))
        except LudusError as refusal:
            message, _, fix = str(refusal).partition("; ")
            yield error(f"{name}: {message}", fix or "see ludus.testing.check_space for what a custom space needs")
            continue
        if back != space:
            yield error(
                f"{name}: expected {space!r} back from its description, got {back!r}",
                "override `arguments` and `__eq__` of the space",
            )


def values_travel_without_pickle(subject: Subject) -> Found:
    """Observations and actions come back from JSON and msgpack with the same values."""
    env = subject.env()
    player = Player(env, 0)
    observations = [event.observation for event in subject.history if env.observation_space.contains(event.observation)]
    for name, space, values in (
        ("observation", env.observation_space, observations),
        ("action", env.action_space, [player.choose() for _ in range(8)]),
    ):
        for value in values:
            wrong = _changed(space, value, name)
            if wrong:
                yield error(
                    wrong, f"let `encode` and `decode` of the space keep all of the {name}; try check_space on it"
                )
                break


def _changed(space: Space[object], value: object, name: str) -> str:
    for form in FORMATS:
        try:
            back = loads(space, dumps(space, value, format=form), format=form, name=name)
        except Exception as failure:
            return f"{name} as {form}: expected it back, got {raised(failure)}"
        found = difference(value, back, name, exact=False)
        if found:
            return f"{name} as {form}: expected the same value back, got {found}"
    return ""
