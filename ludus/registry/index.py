"""`Index`: who claims which name, and the rules by which claims are entered."""

from collections.abc import Callable, Iterable

from ludus.core import EnvId, EnvSpec
from ludus.errors import RegistrationError, RegistryError, listing
from ludus.registry.plugins import Claim, Findings, PluginProblem

__all__ = ["Index"]


class Index:
    """Ids, aliases, and what could not be entered; plain data, neither locked nor lazy."""

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.aliases: dict[str, str] = {}
        self.rivals: dict[str, list[str]] = {}
        self.problems: list[PluginProblem] = []

    # --- names ---

    def names(self) -> set[str]:
        """Every id and alias, those included that two packages claim."""
        return {*self.claims, *self.aliases, *self.rivals}

    def versions(self, base: str) -> list[int]:
        """The versions of an id without its version, oldest first."""
        start = f"{base}-v"
        ends = (name.removeprefix(start) for name in self.names() if name.startswith(start))
        return sorted(int(end) for end in ends if end.isdecimal())

    def newest(self, id: EnvId) -> str:
        """The name to look up: the newest version where none is given."""
        name = str(id)
        versions = self.versions(id.base) if id.version is None and name not in self.names() else []
        return f"{id.base}-v{versions[-1]}" if versions else name

    def successor(self, spec: EnvSpec) -> str | None:
        """The newest version, if it is newer than this one and not itself deprecated."""
        own = spec.parsed_id
        if own.version is None:
            return None
        for version in reversed(self.versions(own.base)):
            known = self.claims.get(f"{own.base}-v{version}")
            if version > own.version and known is not None and not known.spec.deprecated:
                return known.spec.id
        return None

    # --- rules ---

    def check_versions(self, spec: EnvSpec) -> None:
        """All environments of one name have a version, or the only one has none."""
        parsed = spec.parsed_id
        versions = self.versions(parsed.base) if parsed.version is None else []
        if versions:
            raise RegistrationError(
                f"{spec.id}: expected a version, as in '{spec.id}-v{versions[-1] + 1}', got none, while there is "
                f"{listing(f'{parsed.base}-v{one}' for one in versions)}"
            )
        if parsed.version is not None and any(
            parsed.base in known for known in (self.claims, self.aliases, self.rivals)
        ):
            raise RegistrationError(
                f"{spec.id}: expected no version, got v{parsed.version}, while there is {parsed.base!r} without one; "
                "give every environment of that name a version, or none"
            )

    def check_aliases(self, spec: EnvSpec) -> None:
        """An alias means one environment, and is no other's id."""
        if spec.id in self.aliases:
            raise RegistrationError(
                f"{spec.id}: expected an id of its own, got an alias of {self.aliases[spec.id]!r}; choose another id"
            )
        for alias in spec.aliases:
            EnvId.parse(alias)
            if alias in self.claims or self.newest(EnvId.parse(alias)) != alias:
                meant = self.newest(EnvId.parse(alias))
            else:
                meant = self.aliases.get(alias, spec.id)
            if meant != spec.id or alias == spec.id:
                raise RegistrationError(
                    f"{spec.id}: expected aliases that mean nothing else, got {alias!r}, "
                    f"which means {meant!r}; leave it out"
                )

    # --- entering ---

    def enter(self, claim: Claim) -> None:
        """Take a claim that the rules allow; it replaces one of the same id."""
        self.forget(claim.spec.id)
        self.claims[claim.spec.id] = claim
        self.aliases |= dict.fromkeys(claim.spec.aliases, claim.spec.id)

    def forget(self, id: str) -> None:
        """Remove an id and its aliases."""
        self.claims.pop(id, None)
        self.aliases = {alias: meant for alias, meant in self.aliases.items() if meant != id}

    def enter_findings(self, findings: Findings) -> None:
        """Enter what packages announce: of two that claim one name neither gets it, and no mistake costs another."""
        self.problems += findings.problems
        self.rivals |= _rivalries((claim.spec.id, claim.package) for claim in findings.claims)
        entered = [claim for claim in findings.claims if claim.spec.id not in self.rivals and self._entered(claim)]
        # Aliases last: a package's alias never stands in the way of another's id.
        self.rivals |= _rivalries((alias, claim.package) for claim in entered for alias in claim.spec.aliases)
        for claim in entered:
            if not self.rivals.keys() & set(claim.spec.aliases) and self._holds(claim, self.check_aliases):
                self.enter(claim)

    def _entered(self, claim: Claim) -> bool:
        if not self._holds(claim, self.check_versions) or not self._holds(claim, self._check_once):
            return False
        self.claims[claim.spec.id] = claim
        return True

    def _check_once(self, spec: EnvSpec) -> None:
        known = self.claims.get(spec.id)
        if known is not None and known.spec != spec:
            raise RegistrationError(f"{spec.id}: expected to be announced once, got two announcements that differ")

    def _holds(self, claim: Claim, check: Callable[[EnvSpec], None]) -> bool:
        try:
            check(claim.spec)
        except RegistryError as error:
            self.problems.append(PluginProblem(claim.package, error, claim.spec.id))
            return False
        return True


def _rivalries(claims: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that more than one package claims, with the packages."""
    packages: dict[str, list[str]] = {}
    for name, package in claims:
        who = packages.setdefault(name, [])
        if package not in who:
            who.append(package)
    return {name: who for name, who in packages.items() if len(who) > 1}
