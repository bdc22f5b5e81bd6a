"""Checks over many files or names are one test each, which lists whatever breaks the rule."""

from collections.abc import Iterable

import pytest


def none_of(offenders: Iterable[str], rule: str) -> None:
    """Fail with every offender on a line of its own: pytest's own comparison would cut a long list."""
    found = list(offenders)
    if found:
        pytest.fail("\n  ".join([f"{rule}; {len(found)} of them do not:", *found]), pytrace=False)
