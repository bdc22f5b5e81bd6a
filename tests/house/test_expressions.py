"""No expression over what somebody else wrote takes quadratic time: a page, a model or a peer would hold a process."""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ludus
from ludus.core.id import _PATTERN as ENV_ID
from ludus.envs.open.browsergym.actions import FENCE, PLAIN
from ludus.envs.open.chat.scenarios import ACT
from ludus.envs.open.chat.tokenizer import WORD
from ludus.envs.open.coding.review import style_score
from ludus.envs.open.textarena.game import BRACKETED
from ludus.registry.provenance import LOADED, NAMED, PLACE
from ludus.tasks.actions import BLOCK, WORDS
from ludus.tasks.quantity import SIZE
from ludus.tasks.spec import ID, RELATIVE
from ludus.tasks.step_usage import JOB_TIME, TIME_LEFT
from ludus.trajectory.archive import NAME

MANY = 100_000
SECONDS_OF_CPU = 2.0
"""Linear ones take milliseconds; those that this found would have taken minutes."""
BLANKS = " " * MANY
PAGES = Path(ludus.__file__).parent / "web" / "static"
LITERAL = re.compile(r"(?:\(|= )/((?:[^/\\\n\[*]|\\.|\[(?:[^\]\\]|\\.)*\]|(?<!/)\*)+)/([dgimsuvy]*)[^\w ]")
"""An expression of JavaScript, as an argument or a value; what is used here means the same in Python."""
FOREIGN = (f"{BLANKS}x", "\n" * MANY + "x", "\n " * MANY + "x", "a" * MANY, "-" * MANY, "\x1b[" * MANY, '"a":"' * MANY)


def searched(pattern: re.Pattern[str] | str) -> Callable[[str], object]:
    return lambda text: re.findall(pattern, text)


def whole(pattern: re.Pattern[str]) -> Callable[[str], object]:
    return pattern.fullmatch


EXPRESSIONS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "id of an environment": (whole(ENV_ID), ("a" * MANY + "!", "a/" * MANY + "!", "a-v1" * MANY + "!")),
    "id of a task": (whole(ID), ("a-a" * MANY + "!", "a-v1" * MANY + "!")),
    "path of a task": (whole(RELATIVE), ("../" * MANY, "a/" * MANY + "\0")),
    "size of a task": (whole(SIZE), ("1" * MANY + BLANKS + "x",)),
    "code block of a model": (searched(BLOCK), (f"```{BLANKS}x", "```a\n" * MANY, "`" * MANY, f"```\n{BLANKS}")),
    "words of a model": (whole(WORDS), ("a" * MANY + BLANKS + "\n",)),
    "act in a chat": (searched(ACT), ("\n" * MANY, f"ACT {BLANKS}", f"{BLANKS}ACT", "ACT a\n" * MANY)),
    "tokens of a chat": (searched(WORD), (BLANKS, "a" * MANY + BLANKS, "_ " * MANY)),
    "style of code": (style_score, ("def a:" + "\n" * MANY + "x", "def " * MANY, "def " * MANY + ":" * MANY)),
    "fence of an action": (searched(FENCE), ("`" * MANY, f"```{BLANKS}x", "```a" * MANY)),
    "move in a game": (searched(BRACKETED), ("[" * MANY, "[a" * MANY)),
    "code that arguments name": (searched(NAMED), ("a" * MANY, "a." * MANY, " a" * MANY)),
    "code that arguments load": (searched(LOADED), ("a" * MANY, "a." * MANY, " a" * MANY)),
    "place that arguments name": (PLACE.match, ("a" * MANY, BLANKS, "." * MANY, "a:" * MANY, "a\n" * MANY)),
    "time that a tool told": (searched(TIME_LEFT), ("time: " + "1 of 1 " * MANY, "time: " + "1" * MANY)),
    "job that a tool told of": (searched(JOB_TIME), ("job 1 " + " after 1" * MANY, "job " + "1" * MANY)),
    "name in an archive": (whole(NAME), ("a" * MANY + "!", "a/" * MANY, "a-" * MANY)),
} | {
    f"action of a page {pattern.pattern[:12]}": (
        whole(pattern),
        tuple(
            f"{name.partition('_')[0]} {text}"
            for text in (f"[css={BLANKS}x", f"[{BLANKS}x", f"[a={BLANKS}x", f"[1]{BLANKS}a b", "[css=" + "[a" * MANY)
        ),
    )
    for pattern, name in PLAIN
}  # fmt: skip


@contextmanager
def time_of_the_processor(seconds: float) -> Iterator[None]:
    """The engine of expressions looks for signals: one comes once so much was used, however busy the machine is."""

    def over(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} seconds of the processor")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def test_no_expression_over_foreign_text_is_quadratic():
    offenders: list[str] = []
    for name, (used, texts) in EXPRESSIONS.items():
        try:
            with time_of_the_processor(SECONDS_OF_CPU):
                for text in texts:
                    used(text)
        except TimeoutError:
            offenders.append(name)
    assert offenders == []


def test_no_expression_of_a_page_is_quadratic():
    """`/\\s*\\n\\s*/g` over a description of 80,000 blanks held a tab for eight seconds."""
    found = [
        (path.name, source, flags)
        for path in sorted(PAGES.glob("*.js"))
        for source, flags in LITERAL.findall(path.read_text(encoding="utf8"))
    ]
    assert len(found) > 10
    offenders: list[str] = []
    for name, source, flags in found:
        pattern = re.compile(source, re.MULTILINE if "m" in flags else 0)
        try:
            with time_of_the_processor(SECONDS_OF_CPU):
                for text in FOREIGN:
                    pattern.findall(text)
        except TimeoutError:
            offenders.append(f"{name}: /{source}/{flags}")
    assert offenders == []


def test_one_that_is_quadratic_is_noticed():
    with pytest.raises(TimeoutError), time_of_the_processor(0.1):
        re.findall(r"[ ]*[ ]*x", BLANKS)
