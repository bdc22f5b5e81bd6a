"""Reports: what a suite found, as values, text and JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from textwrap import fill
from typing import Literal

import msgspec

from ludus.errors import ContractViolation, listing

__all__ = ["MAX_NAMED_RULES", "Finding", "ReportNote", "Report", "error", "warning"]

MAX_LINE_CHARS = 100
MAX_NAMED_RULES = 6
"""How many rules that were not checked for one reason are named; `not_checked` has them all."""


@dataclass(frozen=True)
class Finding:
    """One breach of the contract: an `error` breaks what others rely on, a `warning` is likely a mistake.

    >>> print(Finding("error", "flags-are-bool", "step 3 truncated: expected a bool, got 1", "return `bool(…)`"))
    error flags-are-bool: step 3 truncated: expected a bool, got 1; return `bool(…)`
    """

    level: Literal["error", "warning"]
    rule: str
    message: str
    """Expected, and got."""
    fix: str
    """What to do."""

    def __str__(self) -> str:
        return f"{self.level} {self.rule}: {self.message}; {self.fix}"


def error(message: str, fix: str) -> Finding:
    """A finding that breaks what others rely on; the suite enters the name of the rule."""
    return Finding("error", "", message, fix)


def warning(message: str, fix: str) -> Finding:
    """A finding that is likely a mistake; the suite enters the name of the rule."""
    return Finding("warning", "", message, fix)


@dataclass(frozen=True)
class ReportNote:
    """What is worth knowing, and breaks nothing: it is told, and not counted."""

    message: str


@dataclass(frozen=True)
class Report:
    """What a suite found out about one environment, space or wrapper; `str` is a table to read.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.testing import check_env
    >>> report = check_env(GridWorld)
    >>> report.ok, report.findings
    (True, ())
    """

    name: str
    """What was checked."""
    rules: tuple[str, ...]
    """The rules that were checked."""
    findings: tuple[Finding, ...] = ()
    not_checked: Mapping[str, str] = field(default_factory=dict[str, str])
    """Rules that were not checked, or only in part, and why."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is worth knowing, by the rule that came upon it; it counts for nothing."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that break what others rely on."""
        return tuple(one for one in self.findings if one.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are likely mistakes."""
        return tuple(one for one in self.findings if one.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether there are no errors; warnings do not count."""
        return not self.errors

    @property
    def summary(self) -> str:
        """The counts, as in `30 rules, 1 error, 0 warnings`."""
        counts = [
            _count(len(self.rules), "rule"),
            _count(len(self.errors), "error"),
            _count(len(self.warnings), "warning"),
        ]
        return ", ".join(counts)

    def reasons(self) -> dict[str, list[str]]:
        """The rules that were not checked, by reason."""
        found: dict[str, list[str]] = {}
        for rule, reason in self.not_checked.items():
            found.setdefault(reason, []).append(rule)
        return found

    def raise_for_errors(self) -> None:
        """Raise ContractViolation with the whole report if there are errors."""
        if self.errors:
            raise ContractViolation(str(self))

    def to_json(self) -> str:
        """The report as JSON text."""
        counts = {"ok": self.ok, "errors": len(self.errors), "warnings": len(self.warnings)}
        return msgspec.json.encode(counts | asdict(self)).decode()

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.summary}"]
        for one in self.findings:
            lines += [f"{one.level:8} {one.rule}", _indented(one.message), _indented(f"fix: {one.fix}")]
        lines += [f"note: {note}" for note in self.notes.values()]
        for reason, rules in self.reasons().items():
            lines += [f"not checked: {reason}", _indented(listing(rules, MAX_NAMED_RULES))]
        return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _indented(text: str) -> str:
    return fill(
        text,
        MAX_LINE_CHARS,
        initial_indent=" " * 9,
        subsequent_indent=" " * 9,
        break_long_words=False,
        break_on_hyphens=False,
    )
