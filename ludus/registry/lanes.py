"""The lanes of a batch, as functions that make them: the whole lane, or the environment inside it alone."""

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, NamedTuple

from ludus.core import Env, EnvSpec
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.registry.arguments import LIMITS, NOTHING, Creator, Given
from ludus.registry.assembly import Created, create, finish
from ludus.registry.isolation import isolated
from ludus.registry.make import limited
from ludus.registry.resolution import ResolvedSpec, Target, resolve

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["LaneMaker", "Lanes"]

WrapLane = Callable[[AnyEnv], AnyEnv]


class LaneMaker(NamedTuple):
    """Makes one lane; goes to worker processes."""

    resolved: ResolvedSpec
    spec: EnvSpec
    """That of the lane, with its time limit."""
    given: Given
    wrappers: tuple[WrapLane, ...] = ()
    each: Mapping[str, object] = NOTHING
    """Arguments of this lane alone: those that the constructor does not take are parameters of its rules."""

    def __call__(self) -> AnyEnv:
        """The lane, with everything around it."""
        if self.resolved.sandbox is None:
            return self.around(self.bare())
        self.check_meant()
        spec = limited(self.spec, self.each.get(LIMITS[0]), self.each.get(LIMITS[1]))
        own = {name: value for name, value in self.each.items() if name not in LIMITS}
        return self._wrapped(isolated(spec, {**self.given.arguments, **own}, self.resolved.sandbox))

    def check_meant(self) -> None:
        """Raise InvalidArgument where an argument's owner is not clear, as far as code that is here tells."""
        if callable(self.spec.entry_point):
            Creator.of(self.spec.entry_point).check_meant(self.given, self.spec.id)

    def bare(self) -> Created:
        """The environment by itself."""
        creator = self.resolved.creator
        creator.check_meant(self.given, self.spec.id)
        if not self.each:
            return create(self.spec, self.given.arguments, creator)
        rest = {name: one for name, one in self.each.items() if name not in creator.parameters and name not in LIMITS}
        later = {} if creator.takes_any else rest
        taken = {name: one for name, one in self.each.items() if name not in later and name not in self._own_limits()}
        created = create(self.spec, {**self.given.arguments, **taken}, creator)
        self._set(created.env.unwrapped, later, creator)
        return created

    def around(self, created: Created) -> AnyEnv:
        """The lane around an environment: what its spec puts there, and then the wrappers of the batch."""
        return self._wrapped(finish(created, self.limited_spec))

    @property
    def limited_spec(self) -> EnvSpec:
        """The spec with the limits of this lane."""
        own = self._own_limits()
        return limited(self.spec, own.get(LIMITS[0]), own.get(LIMITS[1])) if own else self.spec

    def _own_limits(self) -> dict[str, object]:
        """Values for each lane that are `make`'s own, unless the constructor takes them."""
        known = self.resolved.creator.parameters
        return {name: self.each[name] for name in LIMITS if name in self.each and name not in known}

    def _set(self, bare: object, parameters: Mapping[str, object], creator: Creator) -> None:
        for name, value in parameters.items():
            if name not in getattr(getattr(bare, "params", None), "_fields", ()):
                raise InvalidArgument(
                    f"each[{name!r}]: expected an argument of {self.spec.id}, or a parameter of its rules; "
                    f"arguments are {listing(creator.parameters)}"
                )
            setattr(bare, name, value)

    def _wrapped(self, env: AnyEnv) -> AnyEnv:
        for wrap in self.wrappers:
            env = wrap(env)
            if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidType(f"wrappers: expected {shorten(wrap)} to return an Env, got {shorten(env)}")
        return env


class Lanes:
    """Every lane of a batch."""

    def __init__(
        self,
        id: Target | Sequence[Target],
        num_envs: int | None,
        given: Given,
        *,
        limits: Mapping[str, object],
        wrappers: tuple[WrapLane, ...],
        each: Mapping[str, Sequence[object]],
        isolation: "str | Sandbox | None",
    ) -> None:
        many = isinstance(id, Sequence) and not isinstance(id, str)
        targets: list[Target] = [*id] if isinstance(id, Sequence) and not isinstance(id, str) else [id]
        self.count = _count(num_envs, targets if many else None)
        for name, values in each.items():
            if isinstance(values, str | Mapping) or not hasattr(values, "__len__") or len(values) != self.count:
                raise InvalidArgument(
                    f"each[{name!r}]: expected {self.count} values, one for each lane, got {shorten(values)}"
                )
        found = [resolve(one, isolation, {**each, **given.arguments}) for one in targets]
        specs = [limited(one.spec, limits.get(LIMITS[0]), limits.get(LIMITS[1])) for one in found]
        self.alike = len(found) == 1 and not each
        self.isolated = any(one.sandbox is not None for one in found)
        self.makers = [
            LaneMaker(
                found[lane % len(found)],
                specs[lane % len(found)],
                given,
                wrappers,
                {name: _plain(values[lane]) for name, values in each.items()},
            )
            for lane in range(1 if self.alike else self.count)
        ]

    @property
    def first(self) -> LaneMaker:
        """The first lane."""
        return self.makers[0]

    @property
    def functions(self) -> list[Callable[[], AnyEnv]]:
        """One function for each lane."""
        return [*self.makers] * self.count if self.alike else [*self.makers]


def _count(num_envs: int | None, targets: Sequence[object] | None) -> int:
    if targets is not None and num_envs is None:
        num_envs = len(targets)
    try:
        number = 1 if num_envs is None else index(num_envs)
    except TypeError:
        number = 0
    if isinstance(num_envs, bool) or number < 1:
        raise InvalidArgument(f"num_envs: expected a positive integer, got {shorten(num_envs)}")
    if targets is not None and number != len(targets):
        raise InvalidArgument(f"num_envs: expected {len(targets)}, one for each environment given, got {number}")
    return number


def _plain(value: object) -> object:
    """A NumPy number as Python's own, as an argument given by itself would be."""
    item: object = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value
