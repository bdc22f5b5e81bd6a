"""`Registry`: every known environment by its id."""

import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from inspect import currentframe
from threading import RLock
from typing import ClassVar, TypeGuard, Unpack

from ludus.core import EnvId, EnvSpec
from ludus.errors import DuplicateId, listing
from ludus.registry.index import Index
from ludus.registry.libraries import find_library_spec
from ludus.registry.ownership import DISTRIBUTION, MODULE, owner, package_of
from ludus.registry.plugins import Claim, Findings
from ludus.registry.registration import SpecFields, spec_of
from ludus.registry.search import id_order
from ludus.registry.target import read_target
from ludus.registry.unknown_id import UnknownKey, unknown

__all__ = ["Registry"]

INSIDE = ("ludus.registry.", "ludus.core.")
"""Modules whose lines no warning points at."""


class Registry(Mapping[str, EnvSpec]):
    """A mapping from ids to specs. Plugins are looked for on first use, and looking for them runs none of their code.

    >>> registry = Registry()
    >>> registry.register("Maze-v0", "mazes:Maze", max_episode_steps=100).name
    'Maze'
    >>> registry.spec("Maze").id, list(registry)
    ('Maze-v0', ['Maze-v0'])
    """

    isolated: ClassVar[Callable[[str], EnvSpec | None]]
    """What a text means, found out in isolation, where trust asks for one; set by `resolution`, which knows both."""

    def __init__(self, discovery: Callable[[], Findings] | None = None) -> None:
        self._discovery = discovery
        self._index = Index()
        self._lock = RLock()
        self._namespace: str | None = None

    @contextmanager
    def _open(self) -> Generator[Index]:
        """The index, ours alone, with what installed packages announce in it."""
        with self._lock:
            if self._discovery is not None:
                self._index.enter_findings(self._discovery())
                self._discovery = None
            yield self._index

    # --- registering ---

    def register(
        self, id: str | EnvSpec, entry_point: str | Callable[..., object] | None = None, **fields: Unpack[SpecFields]
    ) -> EnvSpec:
        """Enter an environment, and return its spec.

        The same spec again changes nothing; another of the same package takes its place, with a warning; one of another
        package raises DuplicateId.
        """
        spec = spec_of(id, entry_point, fields, self._namespace)
        with self._open() as index:
            known = index.claims.get(spec.id)
            if known is not None and known.spec == spec:
                return spec
            _refuse_rivals(spec, index)
            index.check_versions(spec)
            index.check_aliases(spec)
            if known is not None:
                _warn(f"{spec.id}: registered again by {owner(spec)}; the new one takes its place", UserWarning)
            index.enter(Claim(package_of(spec), spec) if known is None else known._replace(spec=spec))
        return spec

    @contextmanager
    def namespace(self, name: str) -> Generator[None]:
        """Put every id that is registered in the with-block into the namespace."""
        EnvId.parse(f"{name}/Name")
        before, self._namespace = self._namespace, name
        try:
            yield
        finally:
            self._namespace = before

    # --- looking up ---

    def spec(self, id: str) -> EnvSpec:
        """The spec of `[namespace/]Name[-vN]`, the newest if no version is given, of `module:Id`, or of `module:Class`.

        An old version and a deprecated environment give a DeprecationWarning. `module:…` imports the module, isolated
        where trust asks for it.
        """
        return type(self).isolated(id) or self.spec_here(id)

    def spec_here(self, id: str) -> EnvSpec:
        """The same for those who have decided already that code may run in this process to find out."""
        spec = read_target(id, self.find) if _names_code(id) else self.find(EnvId.parse(id))
        with self._open() as index:
            successor = index.successor(spec)
        use = f"; use {successor!r}" if successor else ""
        if spec.deprecated:
            _warn(f"{spec.id} is deprecated: {spec.deprecated}{use}", DeprecationWarning)
        elif successor:
            _warn(f"{spec.id} is not the newest version{use} unless you repeat old results", DeprecationWarning)
        return spec

    def find(self, id: EnvId) -> EnvSpec:
        """The spec of a parsed id, without warnings; raises UnknownEnvironment naming the closest id there is."""
        with self._open() as index:
            name = index.newest(id)
            if name in index.rivals:
                raise DuplicateId(
                    f"{name}: expected one package that has it, got {listing(index.rivals[name])}; "
                    "neither is used: uninstall one of them"
                )
            claim = index.claims.get(index.aliases.get(name, name))
            if claim is not None:
                return claim.spec
            error = unknown(id, index)
        found = find_library_spec(id)  # without the lock: it imports, and what it imports may need the registry
        if found is None:
            raise error
        return found

    def package(self, spec: EnvSpec) -> str:
        """The installed package, or else the module, that an environment comes from."""
        with self._open() as index:
            claim = index.claims.get(spec.id)
            return (
                claim.package if claim is not None and claim.spec.entry_point == spec.entry_point else package_of(spec)
            )

    def announcer(self, spec: EnvSpec) -> str | None:
        """The installed package that announced an environment; None where none did, or Ludus itself."""
        with self._open() as index:
            claim = index.claims.get(spec.id)
        if claim is None or claim.spec.entry_point != spec.entry_point or not claim.announced:
            return None
        return claim.package if claim.package != DISTRIBUTION else None

    def ships(self, spec: EnvSpec) -> bool:
        """Whether it is an environment that comes with the library, with the arguments that it comes with."""
        with self._open() as index:
            claim = index.claims.get(spec.id)
        if claim is None or not claim.announced or claim.package != DISTRIBUTION:
            return False
        return claim.spec.entry_point == spec.entry_point and claim.spec.kwargs == {
            name: one for name, one in spec.kwargs.items() if name != "render_mode"
        }

    def announcers(self, module: str) -> list[str]:
        """The installed packages that announce environments whose code is in a top-level module."""
        with self._open() as index:
            claims = [claim for claim in index.claims.values() if claim.announced and claim.package != DISTRIBUTION]
        return sorted({claim.package for claim in claims if owner(claim.spec) == module != MODULE})

    def problems(self) -> list[str]:
        """What installed packages announce and cannot be used, a sentence each."""
        with self._open() as index:
            rivalries = [f"{name}: claimed by {listing(who)}; neither is used" for name, who in index.rivals.items()]
            return [*map(str, index.problems), *rivalries]

    # --- a mapping ---

    def __getitem__(self, id: str) -> EnvSpec:
        with self._open() as index:
            if id not in index.claims:
                raise UnknownKey(str(unknown(EnvId.parse(id), index)))
            return index.claims[id].spec

    def __delitem__(self, id: str) -> None:
        with self._open() as index:
            index.forget(self[id].id)

    def __contains__(self, id: object) -> bool:
        with self._open() as index:
            return id in index.claims

    def __iter__(self) -> Iterator[str]:
        with self._open() as index:
            return iter(sorted(index.claims, key=id_order))

    def __len__(self) -> int:
        with self._open() as index:
            return len(index.claims)

    def __repr__(self) -> str:
        return f"Registry({len(self)} environments)"


def _refuse_rivals(spec: EnvSpec, index: Index) -> None:
    """Raise DuplicateId where another package has the id, or two claim it already."""
    known, who = index.claims.get(spec.id), index.rivals.get(spec.id, [])
    if known is not None and owner(known.spec) != owner(spec):
        who = [known.package]
    if who:
        raise DuplicateId(
            f"{spec.id}: expected an id that only {owner(spec)} has, got one of {listing(who)}; "
            "choose another, or register it in a namespace of your own"
        )


def _names_code(id: object) -> TypeGuard[str]:
    return isinstance(id, str) and ":" in id


def _warn(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside the registry; Python shows deprecations of a program's own lines only."""
    frame, level = currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
