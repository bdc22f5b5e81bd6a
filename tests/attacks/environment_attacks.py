"""Attacks of environments on the channel, and on whoever waits for them."""

from tests.attacks.attack import Account, Attack, Judge
from tests.attacks.hostile.environment import DEEDS

__all__ = ["ENVIRONMENT_ATTACKS", "HANGING"]

REFUSED, ANSWERED, ENDED, IN_TIME, CLOSED = "refused", "answered", "cut", "cut: deadline", "closed"
TITLES = {
    "malformed": ("a frame that is no msgpack", REFUSED),
    "huge": ("a frame of four gigabytes, as it says", REFUSED),
    "empty": ("a frame of no bytes", REFUSED),
    "nested": ("a frame of two million levels", REFUSED),
    "many": ("a frame of two million values", REFUSED),
    "announced": ("maps that say they have four billion entries", REFUSED),
    "text": ("text in the place of a frame", REFUSED),
    "twice": ("two replies to one request", REFUSED),
    "other-kind": ("a reply to something else", REFUSED),
    "unknown-kind": ("a message that does not exist", REFUSED),
    "field-missing": ("a message without its fields", REFUSED),
    "truncated": ("half a frame, and then nothing", IN_TIME),
    "broken-off": ("half a frame, and the end", ENDED),
    "dribbled": ("a frame of 60 MiB, byte by byte", IN_TIME),
    "pushed": ("megabytes after the reply, unasked", f"{REFUSED}, or {ANSWERED}"),
    "descriptors": ("open files beside the reply", f"{ANSWERED}, or refused inside"),
    "pickle-frame": ("a pickle in the place of a frame", REFUSED),
    "pickle-inside": ("a pickle, and the name of a function, in an info", REFUSED),
    "reward-nan": ("a reward that is not a number", REFUSED),
    "reward-infinite": ("an infinite reward", REFUSED),
    "reward-text": ("a reward that is text", REFUSED),
    "reward-array": ("a reward that is an array", REFUSED),
    "flag-number": ("a flag that is a number", REFUSED),
    "observation-shape": ("an observation of another shape", REFUSED),
    "observation-outside": ("an observation outside its bounds", REFUSED),
    "observation-nan": ("an observation that is not a number", REFUSED),
    "observation-type": ("an observation of another dtype", REFUSED),
    "observation-none": ("no observation", REFUSED),
    "info-nested": ("an info of too many levels", REFUSED),
    "info-forged": ("an info in the words of the sandbox", REFUSED),
    "info-colliding": ("a set of numbers that have one hash", ANSWERED),
    "info-number": ("a whole number of 240 000 bits", ANSWERED),
    "error-exit": ("an error that would end the program", REFUSED),
    "error-interrupt": ("an error that says the user interrupted", REFUSED),
    "error-of-ours": ("an error in the name of the sandbox", REFUSED),
    "error-long": ("an error of megabytes that writes on the terminal", REFUSED),
    "hang": ("hang in a step", IN_TIME),
    "spin": ("use the processor in a step, deaf to signals", IN_TIME),
    "stop": ("stop its own process in a step", IN_TIME),
    "exit": ("exit in a step", ENDED),
    "leave": ("raise SystemExit in a step", ENDED),
    "interrupt": ("raise KeyboardInterrupt in a step", ENDED),
    "kill": ("kill its own process in a step", ENDED),
    "fault": ("crash in a step", ENDED),
    "orphan": ("end, and leave a child behind that holds the channel", ENDED),
    "half-close": ("close the channel, and stay", ENDED),
    "memory": ("take more memory than there is, in a step", "cut: memory, or refused inside"),
    "processes": ("start processes without end in a step", ENDED),
    "outputs": ("flood both outputs in a step", ANSWERED),
    "signals": ("a storm of signals in a step", f"{ANSWERED}, or {ENDED}"),
    "threads": ("start threads that never end", ANSWERED),
}
"""By deed: what it is, and what must happen to the step."""
MOMENTS = {
    "space-vast": ("a space of 10¹² numbers", REFUSED),
    "space-heavy": ("a space of 16 million numbers, in sixty bytes", REFUSED),
    "space-code": ("a space that names a function", REFUSED),
    "space-nested": ("spaces inside one another, too many", REFUSED),
    "metadata-lie": ("metadata that are not what they are to be", REFUSED),
    "import-hang": ("hang while it is imported", REFUSED),
    "import-exit": ("exit while it is imported", REFUSED),
    "make-hang": ("hang while it is made", REFUSED),
    "make-exit": ("exit while it is made", REFUSED),
    "reset-hang": ("hang in reset", REFUSED),
    "reset-exit": ("exit in reset", REFUSED),
    "close-hang": ("hang in close", CLOSED),
    "close-exit": ("exit in close", CLOSED),
}
"""By deed: what it is, and what must happen to whoever makes, resets or closes it."""
HARMLESS = {
    "signals": "it is aimed at the process that looks after it, and there is none",
    "threads": "it is aimed at limits, and there are none",
}
"""Deeds that harm nobody who has neither keeper nor limits, and why."""
HANGING = (*(name for name, (_, expects) in TITLES.items() if expects == IN_TIME), "processes")
"""Deeds that never answer: whoever waits sets a short deadline."""


def _as_expected(expects: str) -> Judge:
    allowed = tuple(expects.split(", or "))

    def judge(scene: object, account: Account) -> str:
        del scene
        expected = any(account.did == word or account.did.startswith(f"{word}: ") for word in allowed)
        return account.seen or ("" if expected else f"it was {account.did} ({account.error})")

    return judge


def _attack(deed: str, title: str, expects: str, kind: str) -> Attack:
    return Attack(
        name=f"channel-{deed}",
        title=title,
        expects=expects,
        guarantee="channel",
        program=deed,
        judge=_as_expected(expects),
        kind="step" if kind == "step" else "moment",
        bare=HARMLESS.get(deed, ""),
    )


ENVIRONMENT_ATTACKS = (
    *(_attack(deed, *TITLES[deed], "step") for deed in DEEDS),
    *(_attack(deed, *MOMENTS[deed], "moment") for deed in MOMENTS),
)
