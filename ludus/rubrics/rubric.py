"""`Rubric`: what gives a step a score, alone or made of parts that have names."""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Generic, NamedTuple, cast

from ludus.core import Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import REWARD_COMPONENTS
from ludus.errors import ContractViolation, InvalidArgument, InvalidType, listing, shorten
from ludus.spaces.kinds import is_dict, is_list_or_tuple, is_mapping
from ludus.tools.loop import Loop

__all__ = [
    "RUBRIC",
    "STEP_REWARDS",
    "Function",
    "Graded",
    "Rubric",
    "RubricLike",
    "Transition",
    "named_parts",
    "rubric_of",
]

RUBRIC = "rubric"
"""The entry of `info` with every score of a step, by the path of its part."""
STEP_REWARDS = "step_rewards"
"""The entry of the last step's `info` with what each step of the episode deserves."""


class Transition(NamedTuple, Generic[ObsT, ActT]):
    """One step as a rubric sees it.

    >>> Transition("hi", "hello").done
    False
    """

    action: ActT
    observation: ObsT
    reward: float = 0.0
    """The environment's own."""
    terminated: bool = False
    truncated: bool = False
    info: Info = {}  # noqa: RUF012  (nobody writes to it)

    @property
    def done(self) -> bool:
        """Whether the episode ends with it."""
        return bool(self.terminated or self.truncated)

    @classmethod
    def of(cls, action: ActT, step: Step[ObsT]) -> "Transition[ObsT, ActT]":
        """An action and what came of it."""
        return cls(action, step.observation, step.reward, step.terminated, step.truncated, step.info)


class Graded(NamedTuple):
    """What a rubric says of a step.

    >>> sorted(Graded(1.0, {"right": 1.0}, {"right": 1.0}).info)
    ['reward_components', 'rubric']
    """

    reward: float
    scores: dict[str, float]
    """Of each part that was asked, by its path; the whole is under its own name."""
    components: dict[str, float]
    """What the reward is the sum of."""
    step_rewards: list[float] | None = None
    """At the end of an episode that was scored as a whole: what each of its steps deserves."""

    @property
    def info(self) -> Info:
        """The same as entries of a step's `info`."""
        info: Info = {REWARD_COMPONENTS: self.components, RUBRIC: self.scores}
        return info if self.step_rewards is None else {**info, STEP_REWARDS: self.step_rewards}


class Rubric(ABC):
    """Gives a transition a score. A subclass defines `score`; rubrics among its attributes are its parts.

    `score` may be a coroutine function, which asks its parts by `await part.ask(transition)`. A score is a finite
    number, usually from 0 to 1; anything else is a ContractViolation, never a reward of 0.

    >>> class Brief(Rubric):
    ...     def score(self, transition):
    ...         return 1.0 if len(transition.action) < 5 else 0.0
    >>> Brief().grade(Transition("hi", None)).info
    {'reward_components': {'brief': 1.0}, 'rubric': {'brief': 1.0}}
    """

    last: float | None = None
    """The score of the last transition; None where it was not asked."""
    _loop: Loop | None = None

    @abstractmethod
    def score(self, transition: Transition) -> float | Awaitable[float]:
        """The score of a transition; parts are asked by calling them."""

    @property
    def name(self) -> str:
        """What it is called where nobody names it."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def parts(self) -> Mapping[str, "Rubric"]:
        """The rubrics that it asks, by name: its attributes, and what stands in a list or dictionary among them.

        They begin each episode with it, and their scores are reported.

        >>> class Polite(Rubric):
        ...     def __init__(self):
        ...         self.brief, self.others = Function(lambda action: len(action) < 9), [Function(lambda action: 1.0)]
        ...     def score(self, transition):
        ...         return self.brief(transition) * self.others[0](transition)
        >>> Polite().grade(Transition("please", None)).scores
        {'polite': 1.0, 'polite.brief': 1.0, 'polite.others.0': 1.0}
        """
        return {name: one for attribute, value in vars(self).items() for name, one in _rubrics_in(attribute, value)}

    def components(self) -> dict[str, float]:
        """What the last score is the sum of."""
        return {self.name: self.last or 0.0}

    def step_rewards(self) -> list[float] | None:
        """What each step deserves of the score of an episode that has ended; None where steps are scored singly."""
        return None

    def reset(self) -> None:
        """An episode begins."""
        self.last = None
        for part in self.parts.values():
            part.reset()

    def close(self) -> None:
        """Release what it holds, the loop that coroutines ran in, too."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        for part in self.parts.values():
            part.close()

    def __getstate__(self) -> dict[str, object]:
        """A copy has a loop of its own."""
        return {name: one for name, one in vars(self).items() if name != "_loop"}

    def __call__(self, transition: Transition) -> float:
        """The score, checked and kept; one that is to be awaited runs in a loop of its own."""
        found = self.asked(transition)
        if not isinstance(found, Awaitable):
            return found
        if self._loop is None:
            self._loop = Loop()
        return self._loop.run(_awaited(found), None)

    async def ask(self, transition: Transition) -> float:
        """The same, where somebody awaits it."""
        found = self.asked(transition)
        return await found if isinstance(found, Awaitable) else found

    def asked(self, transition: Transition) -> float | Awaitable[float]:
        """The score, checked and kept, or what gives it once it is awaited: for rubrics that ask several at once."""
        found = self.score(transition)
        return self._later(found) if inspect.isawaitable(found) else self._kept(found)

    async def _later(self, found: Awaitable[float]) -> float:
        return self._kept(await found)

    def _kept(self, found: float) -> float:
        try:
            number = float(found)
        except (TypeError, ValueError) as error:
            raise ContractViolation(f"{self.name}: expected a score that is a number, got {shorten(found)}") from error
        if not isfinite(number):
            raise ContractViolation(f"{self.name}: expected a finite score, got {number}")
        self.last = number
        return number

    def grade(self, transition: Transition) -> Graded:
        """The score with those of its parts; ones that were not asked are left out."""
        for _, one in self._tree(self.name):
            one.last = None
        reward = self(transition)
        scores = {path: one.last for path, one in self._tree(self.name) if one.last is not None}
        return Graded(reward, scores, self.components(), self.step_rewards() if transition.done else None)

    def _tree(self, path: str) -> Iterator[tuple[str, "Rubric"]]:
        """This one and those below, with their paths."""
        yield path, self
        for name, part in self.parts.items():
            yield from part._tree(f"{path}.{name}")


class Function(Rubric):
    """A function as a rubric: it takes whichever it names of a transition's fields, or `transition` itself.

    >>> Function(lambda action, info: info["bonus"] * action, name="bonus")(Transition(2, None, info={"bonus": 0.5}))
    1.0
    """

    def __init__(self, function: Callable[..., float], name: str | None = None) -> None:
        known = (*Transition._fields, "transition")
        parameters = inspect.signature(function).parameters
        unknown = [one for one in parameters if one not in known]
        if unknown:
            raise InvalidArgument(
                f"rubric: expected a function of {listing(known)}, got one of {listing(unknown)}; wrap it in a lambda"
            )
        self.function, self._takes = function, tuple(parameters)
        given = getattr(function, "__name__", "function")
        self._name = name or ("function" if given == "<lambda>" else given)

    @property
    def name(self) -> str:
        """The function's, unless another was given."""
        return self._name

    def score(self, transition: Transition) -> float | Awaitable[float]:
        """Call it; a coroutine function will do."""
        named = {one: transition if one == "transition" else getattr(transition, one) for one in self._takes}
        return self.function(**named)


async def _awaited(found: Awaitable[float]) -> float:
    return await found


def _rubrics_in(name: str, value: object) -> Iterator[tuple[str, Rubric]]:
    """Rubrics that an attribute is or holds; a name that begins with `_` is as good as any."""
    if isinstance(value, Rubric):
        yield name.removeprefix("_"), value
        return
    held: Iterable[tuple[object, object]] = ()
    if is_list_or_tuple(value):
        held = enumerate(value)
    elif is_dict(value):
        held = value.items()
    for key, one in held:
        if isinstance(one, Rubric):
            yield f"{name.removeprefix('_')}.{key}", one


RubricLike = Rubric | Callable[..., float]
"""A rubric, or a function that is taken as one."""


def rubric_of(given: RubricLike) -> Rubric:
    """A rubric as it is; a function as one."""
    if isinstance(given, Rubric):
        return given
    if callable(given) and not isinstance(given, type):
        return Function(given)
    raise InvalidType(f"rubric: expected a Rubric or a function, got {shorten(given)}")


def named_parts(given: Mapping[str, Any] | Iterable[Any]) -> dict[str, Rubric]:
    """Parts by their names: those given, else their own, counted where two have the same."""
    if is_mapping(given):
        return {name: rubric_of(one) for name, one in cast(Mapping[str, RubricLike], given).items()}
    found: dict[str, Rubric] = {}
    for one in map(rubric_of, given):
        count, name = 1, one.name
        while name in found:
            count += 1
            name = f"{one.name}_{count}"
        found[name] = one
    return found
