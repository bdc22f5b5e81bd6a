"""Rules: one law each, judged one by one. A rule that fails, or crashes, never stops the others."""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import getdoc
from pathlib import PurePath
from traceback import extract_tb
from typing import Generic, Protocol, TypeVar

from ludus.testing.global_random import global_random
from ludus.testing.report import Finding, Report, ReportNote
from ludus.wrappers import ContractWarning

__all__ = ["Examination", "RuleOutcome", "Rule", "Unchecked", "raised"]


class Unchecked(Exception):
    """Why a rule could not be checked: raised for all of it, yielded for a part."""


class Tidy(Protocol):
    """What can be examined: it has a name, and lets go of what a rule made."""

    name: str

    def tidy(self) -> None:
        """Release what the last rule made."""
        ...


SubjectT = TypeVar("SubjectT", bound=Tidy)
Found = Iterator[Finding | ReportNote | Unchecked]
Check = Callable[[SubjectT], Found]


@dataclass(frozen=True)
class Rule(Generic[SubjectT]):
    """A law as a function that yields its breaches; what it `needs` must hold before it makes sense to ask.

    >>> from ludus.testing import ENV_RULES
    >>> ENV_RULES[3].name, ENV_RULES[3].law
    ('reset-returns-a-pair', '`reset` returns a pair of an observation and an info dictionary.')
    """

    check: Check[SubjectT]
    needs: tuple[Check[SubjectT], ...] = ()

    @property
    def name(self) -> str:
        """The function's name with hyphens."""
        return name_of(self.check)

    @property
    def law(self) -> str:
        """What has to hold, in one sentence."""
        return (getdoc(self.check) or "").partition("\n")[0]


@dataclass(frozen=True)
class RuleOutcome:
    """What one rule found; `checked` is false where it could not be applied at all."""

    findings: tuple[Finding, ...] = ()
    not_checked: tuple[str, ...] = ()
    checked: bool = True
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the rule was applied and found nothing."""
        return self.checked and not self.findings


class Examination(Generic[SubjectT]):
    """Rules applied to one subject, each at most once, and each under the same global random state.

    After `seconds` no other rule is begun: those that are left are not checked, which the report says.
    """

    def __init__(self, rules: Sequence[Rule[SubjectT]], subject: SubjectT, *, seconds: float = math.inf) -> None:
        self.rules, self.subject, self._seconds = rules, subject, seconds
        self._until = time.monotonic() + seconds
        self._by_check = {rule.check: rule for rule in rules}
        self._outcomes: dict[str, RuleOutcome] = {}

    def outcome(self, rule: Rule[SubjectT]) -> RuleOutcome:
        """What the rule found; the rules it needs are asked first."""
        if rule.name not in self._outcomes:
            self._outcomes[rule.name] = self._blocked(rule) or self._applied(rule)
        return self._outcomes[rule.name]

    def report(self) -> Report:
        """Everything that all rules found."""
        outcomes = {rule.name: self.outcome(rule) for rule in self.rules}
        return Report(
            self.subject.name,
            tuple(name for name, one in outcomes.items() if one.checked),
            tuple(finding for one in outcomes.values() for finding in one.findings),
            {name: "; ".join(one.not_checked) for name, one in outcomes.items() if one.not_checked},
            {name: "; ".join(one.notes) for name, one in outcomes.items() if one.notes},
        )

    def _blocked(self, rule: Rule[SubjectT]) -> RuleOutcome | None:
        for check in rule.needs:
            need = self._by_check[check]
            outcome = self.outcome(need)
            if not outcome.passed:
                # A need that could not be checked hands its own reason down, so the root cause is what is shown.
                reason = f"{need.name} has to hold first" if outcome.findings else outcome.not_checked[0]
                return RuleOutcome(not_checked=(reason,), checked=False)
        if time.monotonic() < self._until:
            return None
        over = f"the {self._seconds:g} seconds of this check were over; --seconds allows more, --full has no limit"
        return RuleOutcome(not_checked=(over,), checked=False)

    def _applied(self, rule: Rule[SubjectT]) -> RuleOutcome:
        findings: list[Finding] = []
        not_checked: list[str] = []
        notes: list[str] = []
        checked = True
        with warnings.catch_warnings(), global_random():
            # What the passive checker would say in passing, the rules say in full.
            warnings.simplefilter("ignore", ContractWarning)
            try:
                for found in rule.check(self.subject):
                    if isinstance(found, Unchecked):
                        not_checked.append(str(found))
                    elif isinstance(found, ReportNote):
                        notes.append(found.message)
                    else:
                        findings.append(replace(found, rule=rule.name))
            except Unchecked as reason:
                not_checked.append(str(reason))
                checked = bool(findings)
            except Exception as failure:
                findings.append(_crash(rule, failure))
            finally:
                self.subject.tidy()
        return RuleOutcome(tuple(findings), tuple(not_checked), checked, tuple(notes))


def name_of(check: Callable[..., Found]) -> str:
    """The name of the rule that a function is."""
    return check.__name__.replace("_", "-")  # pyright: ignore[reportFunctionMemberAccess]


def raised(failure: BaseException) -> str:
    """An exception in a message: its type, its text and where it was raised, without the machine's folders."""
    text = f"{type(failure).__name__}: {failure}" if str(failure) else type(failure).__name__
    frames = extract_tb(failure.__traceback__)
    where = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return " ".join(text.split())[:300] + where


def _crash(rule: Rule[SubjectT], failure: Exception) -> Finding:
    message = f"expected the rule to be checked to its end, got {raised(failure)}"
    return Finding("error", rule.name, message, f"remove the cause of the exception; the rule is: {rule.law}")
