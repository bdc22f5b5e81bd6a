"""`Suite`: environments that are evaluated together, with seeds that nobody chooses."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from ludus.errors import InvalidArgument, LudusError, listing
from ludus.evaluate.declaration import Declaration
from ludus.evaluate.result import Result
from ludus.registry.shared import registry

__all__ = ["Suite", "suite_findings", "suite_named", "suites"]

PREFIX = "suite:"


class Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which environments, how many episodes of each, and from which seed.

    >>> suite_named("suite:classic").ids[0]
    'CartPole-v1'
    """

    name: str
    version: int
    ids: tuple[str, ...]
    episodes: int
    seed: int = 0
    max_steps: int = 100_000
    description: str = ""

    def declaration(self, id: str, agent: str) -> Declaration:
        """What the evaluation of one of its environments declares."""
        return Declaration(
            id=id,
            agent=agent,
            seed=self.seed,
            episodes=self.episodes,
            max_steps=self.max_steps,
            suite=self.name,
            suite_version=self.version,
        )


@cache
def suites() -> dict[str, Suite]:
    """All suites, by name."""
    data: dict[str, dict[str, object]] = msgspec.toml.decode(
        files(__name__.rpartition(".")[0]).joinpath("suites.toml").read_bytes()
    )
    return {name: msgspec.convert({"name": name, **one}, Suite) for name, one in data.items()}


def suite_named(name: str) -> Suite:
    """A suite by its name, with or without `suite:` in front."""
    known = suites()
    found = known.get(name.removeprefix(PREFIX))
    if found is None:
        raise InvalidArgument(f"suite: expected {listing(known)}, got {name.removeprefix(PREFIX)!r}")
    return found


def suite_findings(result: Result) -> list[str]:
    """What a result of a suite says that the suite does not."""
    declared = result.declaration
    if not declared.suite:
        return []
    suite = suites().get(declared.suite)
    if suite is None:
        return [f"expected {listing(suites())}, got {declared.suite!r}"]
    if suite.version != declared.suite_version:
        return [f"{suite.name}: expected version {suite.version}, got {declared.suite_version}"]
    if declared.id not in suite.ids:
        return [f"{suite.name}: expected {listing(suite.ids)}, got {declared.id!r}"]
    right = suite.declaration(declared.id, declared.agent)
    found = [
        f"{suite.name}: {name}: expected {getattr(right, name)}, got {getattr(declared, name)}"
        for name in ("seed", "seeds", "episodes", "max_steps")
        if getattr(right, name) != getattr(declared, name)
    ]
    return [*found, *_changed(result, declared.id)]


def _changed(result: Result, id: str) -> list[str]:
    """Fields of the spec that are not as the id alone has them."""
    try:
        known = registry.spec(id)
    except LudusError as error:
        return [str(error)]
    if result.run.header.spec is None:
        return [f"expected the spec of {id}, got none"]
    here, there = msgspec.json.decode(known.to_json()), dict(result.run.header.spec)
    return [
        f"{id}: {name}: expected {here.get(name)!r}, got {there.get(name)!r}"
        for name in sorted({*here, *there} - {"isolation_record"})
        if here.get(name) != there.get(name)
    ]
