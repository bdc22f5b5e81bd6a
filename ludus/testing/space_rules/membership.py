"""Rules about membership: what is in a space, and that both ways of asking agree."""

import numpy as np

from ludus.errors import shorten
from ludus.spaces import Space, Violation
from ludus.spaces.kinds import class_of
from ludus.testing.report import error
from ludus.testing.rule import Found, raised
from ludus.testing.space_subject import GARBAGE, SpaceSubject

__all__ = ["contains_agrees_with_validate", "contains_survives_anything", "makes_a_space", "samples_are_in_the_space"]


def makes_a_space(subject: SpaceSubject) -> Found:
    """What is checked is, or makes, a `ludus.spaces.Space`, and it can be copied and seeded."""
    try:
        subject.fresh()
    except Exception as failure:
        message = f"{subject.name}: expected a space that can be made, copied and seeded, got {raised(failure)}"
        yield error(message, "derive it from ludus.spaces.Space, and call super().__init__(shape, dtype, seed)")


def samples_are_in_the_space(subject: SpaceSubject) -> Found:
    """Every sample is in the space."""
    space = subject.fresh()
    for value in subject.samples:
        if not space.contains(value):
            reasons = (
                "; ".join(map(str, space.validate(value, "sample"))) or f"contains() is false for {shorten(value)}"
            )
            yield error(
                f"sample(): expected a value of {space!r}, got {reasons}", "let contains accept what sample draws"
            )
            return


def contains_survives_anything(subject: SpaceSubject) -> Found:
    """`contains` answers True or False for any value of any type, and raises nothing."""
    space = subject.fresh()
    for value in (*GARBAGE, *subject.samples):
        try:
            found = space.contains(value)
        except Exception as failure:
            yield error(
                f"contains({shorten(value)}): expected True or False, got {raised(failure)}", _look_first(space)
            )
            return
        if class_of(found) not in (bool, np.bool_):
            message = (
                f"contains({shorten(value)}): expected True or False, got {shorten(found)} ({type(found).__name__})"
            )
            yield error(message, "return `bool(…)`")
            return


def _look_first(space: Space[object]) -> str:
    return f"ask for the type first, as in `isinstance(x, np.ndarray) and …`, in {type(space).__name__}.contains"


def contains_agrees_with_validate(subject: SpaceSubject) -> Found:
    """`validate` gives violations, each with its path, for exactly the values that `contains` refuses."""
    space = subject.fresh()
    for value in (*GARBAGE, *subject.samples):
        try:
            violations = space.validate(value, "here")
        except Exception as failure:
            yield error(
                f"validate({shorten(value)}): expected a list, got {raised(failure)}", "let validate accept any value"
            )
            return
        if space.contains(value) != (violations == []):
            got = f"{space.contains(value)} and {shorten(violations)}"
            message = f"{shorten(value)}: expected contains and validate to agree, got {got}"
            yield error(message, "define one of contains and validate, or make both say the same")
            return
        wrong = [
            one for one in violations if not issubclass(class_of(one), Violation) or not one.path.startswith("here")
        ]
        if wrong:
            message = f"validate({shorten(value)}, 'here'): expected paths that begin by 'here', got {shorten(wrong)}"
            yield error(message, "pass the path on to the parts, and begin each violation's path with it")
            return
