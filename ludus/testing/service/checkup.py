"""`Checkup`: the reports of several suites about one thing."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from ludus.testing.report import Finding, Report

__all__ = ["Checkup"]


@dataclass(frozen=True)
class Checkup:
    """What was found out about a folder or a service, part by part.

    >>> Checkup("maze", {"static": Report("maze", ("manifest-is-readable",))}).summary
    '1 rule, 0 errors, 0 warnings'
    """

    name: str
    parts: Mapping[str, Report]

    @property
    def whole(self) -> Report:
        """All parts as one report; rules carry the part that they belong to."""
        rules = tuple(f"{part}: {rule}" for part, one in self.parts.items() for rule in one.rules)
        findings = [
            Finding(found.level, f"{part}: {found.rule}", found.message, found.fix)
            for part, one in self.parts.items()
            for found in one.findings
        ]
        left = {f"{part}: {rule}": why for part, one in self.parts.items() for rule, why in one.not_checked.items()}
        notes = {f"{part}: {rule}": note for part, one in self.parts.items() for rule, note in one.notes.items()}
        return Report(self.name, rules, tuple(findings), left, notes)

    @property
    def ok(self) -> bool:
        """Whether no part has errors."""
        return all(one.ok for one in self.parts.values())

    @property
    def summary(self) -> str:
        """The counts of all parts."""
        return self.whole.summary

    def to_json(self) -> str:
        """All of it as JSON text: the counts, and each part as `Report.to_json` has it."""
        whole = self.whole
        parts = {name: msgspec.json.decode(one.to_json()) for name, one in self.parts.items()}
        counts = {"ok": self.ok, "errors": len(whole.errors), "warnings": len(whole.warnings)}
        return msgspec.json.encode({"name": self.name, **counts, "parts": parts}).decode()

    def __str__(self) -> str:
        return str(self.whole)
