"""Auditing: one package after the other, by every means there is."""

import re
from collections.abc import Sequence
from importlib.metadata import Distribution

import msgspec

from ludus.errors import SandboxUnavailable, listing
from ludus.registry.audit.distribution import chosen, is_editable, licence, name_of, needed, normal, version_of
from ludus.registry.audit.permission import undeclared
from ludus.registry.audit.probe import forged, probe, unrun
from ludus.registry.audit.record import RecordCheck, caches, verify
from ludus.registry.audit.report import Audit, AuditFinding, NotAudited, PackageAudit, ProbeRun
from ludus.registry.audit.vulnerability import known_vulnerabilities
from ludus.registry.shared import registry as shared
from ludus.registry.table import Registry
from ludus.sandbox import default_backend
from ludus.wire.failures import clean

__all__ = ["audit"]

MAX_LISTED = 5
MAX_TEXT_CHARS = 500


def audit(packages: Sequence[str] = (), *, run: bool = True, registry: Registry | None = None) -> Audit:
    """Look at installed packages: their files, licences, permissions, and known vulnerabilities.

    Without names, at Ludus and all packages that announce environments. Each environment is run for a short episode
    in a sandbox, unless `run` is false. InvalidArgument names a package that is not installed.

    >>> report = audit(["ludus-rl"], run=False)
    >>> [(one.name, one.licence) for one in report.packages]
    [('ludus-rl', 'Apache-2.0 OR MIT')]
    """
    distributions = chosen(tuple(packages))
    work = _Work(run, shared if registry is None else registry)
    seen = tuple(work.package(one) for one in distributions)
    work.vulnerabilities(distributions)
    work.announcements({name_of(one) for one in distributions})
    findings, unchecked = tuple(work.findings), tuple(work.unchecked)
    return Audit(packages=seen, findings=findings, unchecked=unchecked, backend=work.backend)


class _Work:
    """An audit under way."""

    def __init__(self, run: bool, registry: Registry) -> None:
        self.registry, self.run = registry, run
        self.findings: list[AuditFinding] = []
        self.unchecked: list[NotAudited] = []
        self.backend = self.missing = ""
        try:
            self.backend = default_backend().name
        except SandboxUnavailable as error:
            self.missing = str(error)

    def package(self, distribution: Distribution) -> PackageAudit:
        """All about one package."""
        name = name_of(distribution)
        about = PackageAudit(name=name, version=version_of(distribution), licence=licence(distribution))
        if not about.licence:
            self.findings.append(AuditFinding(name, "licence", "it states no licence"))
        about = self._files(distribution, about)
        return msgspec.structs.replace(about, environments=self._environments(name))

    # --- files ---

    def _files(self, distribution: Distribution, about: PackageAudit) -> PackageAudit:
        record = verify(distribution)
        if is_editable(distribution):
            self._leave(about.name, "files", "its code is being worked on: it is installed as editable")
            return about
        if record is None:
            self._leave(about.name, "files", "its installer left no RECORD")
            return about
        self.findings += [AuditFinding(about.name, "files", problem) for problem in record.problems]
        self._compiled(about.name, record)
        return msgspec.structs.replace(about, digest=record.digest, files=record.compared)

    def _compiled(self, name: str, record: RecordCheck) -> None:
        """Compiled files have no recorded hash, and Python runs them in place of their sources."""
        pairs = [(cache, source) for source in record.sources for cache in caches(source)]
        if not pairs:
            return
        found = forged(pairs, self.backend, record.modules) if self.backend else None
        if found is None:
            why = "the comparison did not end" if self.backend else self.missing
            self._leave(name, "files", f"{len(pairs)} compiled files, against their sources: {why}")
        self.findings += [AuditFinding(name, "files", f"{one} is not what its source says") for one in found or ()]

    # --- permissions ---

    def _environments(self, name: str) -> tuple[ProbeRun, ...]:
        specs = [spec for spec in self.registry.values() if normal(self.registry.package(spec)) == normal(name)]
        if not specs or not self.backend or not self.run:
            if specs:
                why = self.missing if self.run else "that was not asked for"
                self._leave(name, "permissions", f"its environments were not run: {why}")
            return tuple(unrun(spec) for spec in specs)
        runs = probe(specs, self.backend)
        for one in runs:
            self._judge(name, one)
        return tuple(runs)

    def _judge(self, name: str, run: ProbeRun) -> None:
        if run.ended:
            self._leave(name, "permissions", f"{run.id}: its run did not come to the end: {run.ended}")
        if run.seen is None:
            return
        beyond = undeclared(run.seen, run.declared)
        for kind in ("network", "files", "subprocesses"):
            uses = getattr(beyond, kind)
            if uses:
                message = f"{run.id} uses {kind} that it does not declare: {listing(uses, MAX_LISTED)}"
                self.findings.append(AuditFinding(name, "permissions", message))

    # --- the rest ---

    def vulnerabilities(self, distributions: list[Distribution]) -> None:
        """Of the packages and all that they need."""
        known = known_vulnerabilities([(name_of(one), version_of(one)) for one in needed(distributions)])
        self.findings += [AuditFinding(name, "vulnerability", message) for name, message in known.found]
        if known.failed:
            for one in distributions:
                self._leave(name_of(one), "vulnerability", known.failed)
        for reason, names in _grouped(known.skipped).items():
            self._leave(listing(names, MAX_LISTED), "vulnerability", reason)

    def announcements(self, names: set[str]) -> None:
        """What packages announce and cannot be used; among it ids that two of them claim."""
        for problem in self.registry.problems():
            claimants = re.split(r"[,;\s]+", problem) if ": claimed by " in problem else ()
            concerned = sorted(name for name in names if problem.startswith(f"{name}: ") or name in claimants)
            if concerned:
                self.findings.append(AuditFinding(concerned[0], "registry", clean(problem, MAX_TEXT_CHARS)))

    def _leave(self, package: str, kind: str, reason: str) -> None:
        self.unchecked.append(NotAudited(package, kind, reason))


def _grouped(skipped: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Packages by the reason why nothing was learnt of them, which may end by naming each: `: numpy (2.0)`."""
    found: dict[str, list[str]] = {}
    for name, reason in skipped:
        found.setdefault(re.sub(rf": {re.escape(name)} \(.*\)$", "", reason, flags=re.IGNORECASE), []).append(name)
    return found
