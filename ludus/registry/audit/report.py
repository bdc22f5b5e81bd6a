"""The report of an audit: data, and what it comes to."""

import msgspec

__all__ = ["Audit", "Declared", "AuditFinding", "PackageAudit", "ProbeRun", "NotAudited"]


class AuditFinding(msgspec.Struct, frozen=True):
    """Something that is not as it should be.

    >>> AuditFinding("mazes", "files", "mazes/maze.py is not what was installed").kind
    'files'
    """

    package: str
    kind: str
    """`files`, `permissions`, `vulnerability`, `licence` or `registry`."""
    message: str


class NotAudited(msgspec.Struct, frozen=True):
    """Something that could not be looked at: neither good nor bad, and never taken for good.

    >>> NotAudited("mazes", "vulnerability", "pip-audit is not installed").package
    'mazes'
    """

    package: str
    kind: str
    reason: str


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What is touched: as a security block declares it, or as it was seen.

    >>> Declared(network=("example.org:443",)).files
    ()
    """

    network: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    subprocesses: tuple[str, ...] = ()


class ProbeRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one environment declares, and what it was seen to use in a short episode in a sandbox.

    >>> ProbeRun(id="mazes/Maze-v0", isolation="none", declared=Declared()).seen is None
    True
    """

    id: str
    isolation: str
    declared: Declared
    seen: Declared | None = None
    """None where nothing was run."""
    native: tuple[str, ...] = ()
    """Compiled code that it loaded: what that does is not seen."""
    ended: str = ""
    """Why the episode could not be played to its end; empty where it was."""


class PackageAudit(msgspec.Struct, frozen=True, kw_only=True):
    """A package: what it is, what it declares, and what it was seen to do.

    >>> PackageAudit(name="mazes", version="1.0", licence="MIT").environments
    ()
    """

    name: str
    version: str
    licence: str
    """Empty where it states none."""
    digest: str = ""
    """SHA-256 over the paths and contents of its files: the same wherever the same wheel is installed."""
    files: int = 0
    """How many files were compared with what the installer recorded."""
    environments: tuple[ProbeRun, ...] = ()


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """All that was looked at, found, and not looked at.

    >>> Audit(packages=(), unchecked=(NotAudited("mazes", "files", "no RECORD"),)).clean(strict=True)
    False
    """

    packages: tuple[PackageAudit, ...]
    findings: tuple[AuditFinding, ...] = ()
    unchecked: tuple[NotAudited, ...] = ()
    backend: str = ""
    """What isolated whatever had to be run; empty where nothing here does, and nothing was run."""

    def clean(self, strict: bool = False) -> bool:
        """Whether nothing was found; if `strict`, also nothing left unchecked."""
        return not self.findings and not (strict and self.unchecked)

    def to_json(self) -> str:
        """The report as JSON text."""
        return msgspec.json.encode(self).decode()
