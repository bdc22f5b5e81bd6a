"""Contracts as test classes: one test for each rule, for pytest or any runner that collects `test_` methods."""

import warnings
from collections.abc import Callable, Sequence
from inspect import getattr_static, signature
from types import FunctionType
from typing import Any, ClassVar, Generic
from unittest import SkipTest

from ludus.errors import ContractViolation, InvalidType
from ludus.testing.rule import Examination, Rule, SubjectT
from ludus.wrappers import ContractWarning

__all__ = ["Contract"]


class Contract(Generic[SubjectT]):
    """What the published contracts share: tests made from rules, and `make`, which the user sets."""

    make: Any = None
    """What makes the thing under test: a class, a function, or the thing itself."""

    rules: ClassVar[tuple[Rule[Any], ...]] = ()
    _examination: ClassVar[Examination[Any] | None] = None

    def __init_subclass__(cls, rules: Sequence[Rule[Any]] = (), **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls._examination = None  # of its own, not its base's
        cls.rules = tuple(rules) or cls.rules
        for rule in rules:
            setattr(cls, f"test_{rule.check.__name__}", _test_of(rule))  # pyright: ignore[reportFunctionMemberAccess]

    def subject(self) -> SubjectT:
        """What the rules are applied to."""
        raise NotImplementedError(f"{type(self).__name__} defines no subject()")

    def target(self) -> Any:
        """`make` as it was written: a function put there without `self` is not taken for a method."""
        written = getattr_static(type(self), "make")
        if written is None:
            raise InvalidType(f"{type(self).__name__}: expected `make = MyClass`, or a method make(self), got none")
        if isinstance(written, FunctionType) and next(iter(signature(written).parameters), None) != "self":
            return written
        return self.make

    def examination(self) -> Examination[SubjectT]:
        """The rules under way, shared by the tests of one class: what several of them ask is found out once."""
        kind = type(self)
        if kind._examination is None:
            kind._examination = Examination(self.rules, self.subject())
        return kind._examination


def _test_of(rule: Rule[SubjectT]) -> Callable[[Contract[SubjectT]], None]:
    def test(self: Contract[SubjectT]) -> None:
        __tracebackhide__ = True  # pytest then shows the finding, not this function
        outcome = self.examination().outcome(rule)
        errors = [finding for finding in outcome.findings if finding.level == "error"]
        for finding in outcome.findings:
            if finding.level == "warning":
                warnings.warn(f"{finding.rule}: {finding.message}; {finding.fix}", ContractWarning, stacklevel=2)
        if errors:
            raise ContractViolation("\n".join(f"{finding.message}\nfix: {finding.fix}" for finding in errors))
        if not outcome.checked:
            raise SkipTest("; ".join(outcome.not_checked))

    test.__doc__ = rule.law
    test.__name__ = test.__qualname__ = f"test_{rule.check.__name__}"  # pyright: ignore[reportFunctionMemberAccess]
    return test
