"""Rules about ownership: what `reset` and `step` return is the caller's, a new object each time."""

from ludus.testing.history import Interrupted, first_difference
from ludus.testing.report import Finding, error, warning
from ludus.testing.returned import Part, writable_arrays
from ludus.testing.rule import Found
from ludus.testing.subject import Subject

__all__ = ["actions_are_the_callers", "infos_are_the_callers", "observations_are_the_callers"]


def observations_are_the_callers(subject: Subject) -> Found:
    """An observation is a new object: later calls do not change it, and changing it does not change the environment."""
    kept = subject.played.observations
    changed = kept.changed or kept.shared or _written(subject, "observation")
    if changed:
        yield error(changed, "return a copy: `return self.state.copy(), …`")


def infos_are_the_callers(subject: Subject) -> Found:
    """An info is a new dictionary: later calls do not change it, and changing its arrays does not change later ones."""
    kept = subject.played.infos
    if kept.changed:
        yield error(kept.changed, "return a new dictionary each time, with copies of the arrays in it")
        return
    yield from _harmless(kept.shared or _written(subject, "info"))


def actions_are_the_callers(subject: Subject) -> Found:
    """An action stays as it was given: a step writes nothing into it."""
    written = subject.played.written
    if written:
        yield error(f"a step wrote into its action: expected it unchanged, got {written}", "copy it first")


def _harmless(message: str) -> list[Finding]:
    return [warning(message, "return copies of the arrays in info, or make them read-only")] if message else []


def _written(subject: Subject, part: Part) -> str:
    """What happens when the caller writes into what it got; nothing where there is nothing to be written into."""
    if not (subject.played.observations if part == "observation" else subject.played.infos).writable:
        return ""

    def write(observation: object, info: object) -> None:
        for array in writable_arrays(observation if part == "observation" else info):
            array[...] = array == 0  # zeros and ones: within most bounds, and always other than before

    env = subject.env()
    expected = subject.play(env)
    try:
        if first_difference(expected, subject.play(env)):
            return ""  # a history that differs by itself tells nothing; another rule says so
        parted = first_difference(expected, subject.play(env, watch=write))
    except Interrupted as failure:
        parted = str(failure)
    return f"writing into the {part} it returned: expected no effect on the environment, got {parted}" if parted else ""
