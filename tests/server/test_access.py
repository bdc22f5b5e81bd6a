"""Tokens and roles."""

from typing import Any

import pytest

from ludus.errors import AccessDenied, InvalidArgument
from ludus.server.access import Access, Principal

TOKENS: dict[str, Any] = {
    "the-token-of-an-agent": "agent",
    "the-token-of-a-runner": "orchestrator",
    "the-token-of-a-guest": "observer",
}


def test_a_token_stands_for_its_role() -> None:
    access = Access(TOKENS)
    assert not access.open
    for token, role in TOKENS.items():
        principal = access.principal(token)
        assert principal.role == role
        assert token not in principal.name
        assert len(principal.name) == 8


@pytest.mark.parametrize(("role", "rights"), [("observer", "r"), ("agent", "rs"), ("orchestrator", "rsx")])
def test_roles_have_their_rights(role: Any, rights: str) -> None:
    somebody = Principal(role, "x")
    assert somebody.may("read")
    assert somebody.may("step") is ("s" in rights)
    assert somebody.may("run") is ("x" in rights)
    if "x" not in rights:
        with pytest.raises(AccessDenied, match=f"reset: expected a role with the right to run, got {role}"):
            somebody.need("run", "reset")


@pytest.mark.parametrize(
    "token", ["", "xyzzy", "the-token-of-an-agent ", "THE-TOKEN-OF-AN-AGENT", "\udcff" * 20, "é" * 20]
)
def test_any_other_token_is_refused(token: str) -> None:
    with pytest.raises(AccessDenied, match="Authorization: Bearer") as caught:
        Access(TOKENS).principal(token)
    assert not token.strip() or token.strip() not in str(caught.value)


def test_without_tokens_everybody_runs_it() -> None:
    assert Access().principal("whatever") == Principal("orchestrator", "anybody")
    assert Access({}).open


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        ({"short": "agent"}, "token 0: expected at least 16 characters, got 5"),
        ({"long-enough-to-be-one": "king"}, "token 0: expected one of observer, agent, orchestrator, got 'king'"),
        ({"sixteen characters": "agent"}, "token 0: expected letters, digits and signs"),
        ({"sechzehn-zeichen-ü": "agent"}, "token 0: expected letters, digits and signs"),
    ],
)
def test_tokens_that_are_none_are_refused_and_not_shown(tokens: Any, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why) as caught:
        Access(tokens)
    assert next(iter(tokens)) not in str(caught.value)


def test_new_tokens_are_good_ones() -> None:
    made = {Access.new_token() for _ in range(50)}
    assert len(made) == 50
    assert not Access(dict.fromkeys(made, "agent")).open
