"""`Judge`: a score that somebody else gives in words: a language model, or anything that answers a prompt."""

import inspect
import re
from collections.abc import Awaitable, Callable
from string import Formatter

from ludus.core.snapshot import Memo
from ludus.errors import EnvError, InvalidArgument, InvalidType, listing, shorten
from ludus.rubrics.rubric import Rubric, Transition
from ludus.tools.loop import within

__all__ = ["Judge"]

NUMBER = r"-?\d+(?:\.\d+)?"
JUDGE_TIMEOUT_S = 60.0
BRACES = "write {{ and }} for braces that are meant, or pass a function of the transition"


class Judge(Rubric):
    """The first number in the answer to a prompt, kept within `bounds`.

    `prompt` has `{action}` and `{observation}`, or is a function of the transition. `complete` takes the prompt and
    gives the answer, at once or as a coroutine: a method of any client of a model. An answer without a number is an
    EnvError, so that a fault of the judge is no reward of 0, unless `default` says what it is.

    >>> judge = Judge("Rate {action} from 0 to 1.", lambda prompt: "I would say 0.8." if "hello" in prompt else "0")
    >>> judge(Transition("hello", None))
    0.8
    """

    def __init__(
        self,
        prompt: str | Callable[[Transition], str],
        complete: Callable[[str], object],
        *,
        pattern: str = NUMBER,
        bounds: tuple[float, float] | None = (0.0, 1.0),
        default: float | None = None,
        seconds: float = JUDGE_TIMEOUT_S,
    ) -> None:
        if not callable(complete):
            raise InvalidType(f"Judge complete: expected a function of a prompt, got {shorten(complete)}")
        if bounds is not None and not bounds[0] <= bounds[1]:
            raise InvalidArgument(f"Judge bounds: expected the least first, got {bounds}")
        try:
            self.pattern = re.compile(pattern)
        except re.error as error:
            raise InvalidArgument(f"Judge pattern: expected a regular expression, got {pattern!r}: {error}") from error
        if isinstance(prompt, str):
            _check_fields(prompt)
        self.prompt, self.complete, self.bounds, self.default = prompt, complete, bounds, default
        self.seconds, self.answer = seconds, ""
        """The last answer, as it came."""

    def score(self, transition: Transition) -> float | Awaitable[float]:
        """Ask, and read the number."""
        given = self.prompt
        text = given(transition) if callable(given) else given.format(**transition._asdict())
        found = self.complete(text)
        return self._read_later(found) if inspect.isawaitable(found) else self._read(str(found))

    async def _read_later(self, found: Awaitable[object]) -> float:
        return self._read(str(await within(found, self.seconds)))

    def _read(self, answer: str) -> float:
        self.answer = answer
        match = self.pattern.search(answer)
        try:
            number = None if match is None else float(match.group(match.lastindex or 0))
        except ValueError:
            number = None
        if number is None:
            if self.default is None:
                raise EnvError(
                    f"{self.name}: expected an answer with a number, got {shorten(answer)}; or pass default="
                )
            return self.default
        return number if self.bounds is None else min(max(number, self.bounds[0]), self.bounds[1])

    def __deepcopy__(self, memo: Memo) -> "Judge":
        """Whoever is asked is asked by all copies: a client of a model holds connections and locks."""
        twin = object.__new__(type(self))
        vars(twin).update(self.__getstate__())
        return twin


def _check_fields(prompt: str) -> None:
    """That a prompt names fields of a transition only: found when the judge is made, and not by the first step."""
    try:
        named = [name for _, name, _, _ in Formatter().parse(prompt) if name is not None]
    except ValueError as error:
        raise InvalidArgument(f"Judge prompt: {error} in {shorten(prompt)}; {BRACES}") from error
    unknown = [name for name in named if re.split(r"[.\[]", name)[0] not in Transition._fields]
    if unknown:
        known = listing([f"{{{name}}}" for name in Transition._fields])
        raise InvalidArgument(f"Judge prompt: expected {known} in it, got {{{unknown[0]}}}; {BRACES}")
