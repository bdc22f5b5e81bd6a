"""Rubrics of rubrics: one that must be met, a weighted sum, and one after the other."""

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from itertools import zip_longest
from math import isfinite

from ludus.errors import InvalidArgument, listing, shorten
from ludus.rubrics.rubric import Rubric, RubricLike, Transition, named_parts, rubric_of
from ludus.spaces.kinds import is_mapping

__all__ = ["Gate", "Sequential", "WeightedSum"]


class Gate(Rubric):
    """The score of a rubric where it reaches `threshold`, else 0.

    >>> Gate(lambda reward: reward, threshold=0.5)(Transition("a", "b", reward=0.4))
    0.0
    """

    def __init__(self, rubric: RubricLike, threshold: float = 1.0) -> None:
        self.rubric, self.threshold = rubric_of(rubric), _number("threshold", threshold)

    @property
    def parts(self) -> Mapping[str, Rubric]:
        """What is behind the gate."""
        return {self.rubric.name: self.rubric}

    def score(self, transition: Transition) -> float | Awaitable[float]:
        """Ask, and compare."""
        found = self.rubric.asked(transition)
        return self._passed_later(found) if isinstance(found, Awaitable) else self._passed(found)

    def _passed(self, found: float) -> float:
        return found if found >= self.threshold else 0.0

    async def _passed_later(self, found: Awaitable[float]) -> float:
        return self._passed(await found)

    def components(self) -> dict[str, float]:
        """Those behind it; a closed gate gives 0."""
        return self.rubric.components() if self.last else {self.rubric.name: 0.0}

    def step_rewards(self) -> list[float] | None:
        """Those behind it; nothing is deserved at a closed gate."""
        found = self.rubric.step_rewards()
        return found if self.last or found is None else [0.0] * len(found)


class WeightedSum(Rubric):
    """The sum of scores times their weights, by name or in order; without weights, their mean.

    Weights need not add up to 1, and may be below 0, for penalties. Parts to be awaited are asked side by side.

    >>> rubric = WeightedSum({"right": lambda reward: reward, "long": lambda action: len(action)},
    ...                      {"right": 1.0, "long": -0.1})
    >>> rubric.grade(Transition("abc", None, reward=1.0)).components
    {'right': 1.0, 'long': -0.30000000000000004}
    """

    def __init__(
        self,
        parts: Mapping[str, RubricLike] | Iterable[RubricLike],
        weights: Mapping[str, float] | Iterable[float] | None = None,
    ) -> None:
        self._parts = named_parts(parts)
        if not self._parts:
            raise InvalidArgument("WeightedSum: expected at least one rubric, got none")
        self.weights = _weights(list(self._parts), weights)

    @property
    def parts(self) -> Mapping[str, Rubric]:
        """What is added."""
        return self._parts

    def score(self, transition: Transition) -> float | Awaitable[float]:
        """Ask each, and add."""
        found: list[float | Awaitable[float]] = []
        for part in self._parts.values():
            try:
                found.append(part.asked(transition))
            except Exception as error:
                if not any(isinstance(one, Awaitable) for one in found):
                    raise
                found.append(_raised(error))  # where it is awaited beside the others, which are ended then
                break
        scores = [one for one in found if not isinstance(one, Awaitable)]
        return self._sum(scores) if len(scores) == len(found) else self._sum_later(found)

    def _sum(self, scores: Iterable[float]) -> float:
        total = 0.0
        for one, weight in zip(scores, self.weights.values(), strict=True):
            total += one * weight
        return total

    async def _sum_later(self, found: list[float | Awaitable[float]]) -> float:
        tasks = {place: asyncio.ensure_future(one) for place, one in enumerate(found) if isinstance(one, Awaitable)}
        try:
            await asyncio.gather(*tasks.values())
        finally:  # where one has failed, nobody waits for the others
            for task in tasks.values():
                task.cancel()
        return self._sum(
            tasks[place].result() if isinstance(one, Awaitable) else one for place, one in enumerate(found)
        )

    def components(self) -> dict[str, float]:
        """Each with its weight; those of a sum inside stand under its name."""
        found: dict[str, float] = {}
        for name, part in self._parts.items():
            inner = part.components() if isinstance(part, WeightedSum) else {"": part.last or 0.0}
            for path, one in inner.items():
                found[f"{name}.{path}" if path else name] = one * self.weights[name]
        return found

    def step_rewards(self) -> list[float] | None:
        """Those of the parts that score an episode as a whole, each with its weight, from the last step backwards."""
        weighted = [(part.step_rewards(), self.weights[name]) for name, part in self._parts.items()]
        shares = [[one * weight for one in reversed(found)] for found, weight in weighted if found]
        return [sum(step) for step in zip_longest(*shares, fillvalue=0.0)][::-1] if shares else None


class Sequential(Rubric):
    """Rubrics in order: the first that gives 0 ends it with 0, and those after it are not asked; else the last counts.

    >>> rubric = Sequential({"parses": lambda action: float(action.isdigit()), "right": lambda action: int(action)})
    >>> rubric.grade(Transition("five", None)).scores
    {'sequential': 0.0, 'sequential.parses': 0.0}
    >>> rubric(Transition("5", None))
    5.0
    """

    def __init__(self, *parts: RubricLike | Mapping[str, RubricLike]) -> None:
        several = parts[0] if len(parts) == 1 and is_mapping(parts[0]) else parts
        self._parts = named_parts(several)

    @property
    def parts(self) -> Mapping[str, Rubric]:
        """What is asked, in this order."""
        return self._parts

    def score(self, transition: Transition) -> float | Awaitable[float]:
        """Ask until one gives 0."""
        score, parts = 1.0, iter(self._parts.values())
        for part in parts:
            found = part.asked(transition)
            if isinstance(found, Awaitable):
                return self._rest(found, parts, transition)
            score = found
            if score == 0.0:
                break
        return score

    async def _rest(self, found: Awaitable[float], parts: Iterator[Rubric], transition: Transition) -> float:
        score = await found
        for part in parts:
            if score == 0.0:
                break
            score = await part.ask(transition)
        return score

    def components(self) -> dict[str, float]:
        """Those of the last that was asked."""
        scored = [(name, one) for name, one in self._parts.items() if one.last is not None]
        if not scored:
            return super().components()
        name, part = scored[-1]
        return {name: 0.0} if not self.last else part.components() if part.parts else {name: self.last}

    def step_rewards(self) -> list[float] | None:
        """Those of the last, where it was asked."""
        return (list(self._parts.values())[-1].step_rewards() or None) if self._parts else None


async def _raised(error: Exception) -> float:
    raise error


def _weights(names: list[str], given: Mapping[str, object] | Iterable[object] | None) -> dict[str, float]:
    if given is None:
        return dict.fromkeys(names, 1.0 / len(names))
    if is_mapping(given):
        if set(given) != set(names):
            raise InvalidArgument(f"weights: expected one for each of {listing(names)}, got {listing(given)}")
        return {name: _number(f"weights[{name!r}]", given[name]) for name in names}
    listed = list(given)
    if len(listed) != len(names):
        raise InvalidArgument(f"weights: expected {len(names)}, one for each rubric, got {len(listed)}")
    return {name: _number(f"weights[{name!r}]", one) for name, one in zip(names, listed, strict=True)}


def _number(name: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not isfinite(given):
        raise InvalidArgument(f"{name}: expected a finite number, got {shorten(given)}")
    return float(given)
