"""`EnvId`: the grammar of names, there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.core import EnvId
from ludus.errors import InvalidType, MalformedId
from tests.core.wording import says

words = st.from_regex(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,8}", fullmatch=True)
names = words.filter(lambda word: "-v" not in word)


@given(st.none() | st.lists(words, min_size=1, max_size=3).map("/".join), names, st.none() | st.integers(0, 10**17))
def test_an_id_reads_back_from_its_text(namespace, name, version):
    parsed = EnvId(namespace, name, version)
    assert EnvId.parse(str(parsed)) == parsed
    assert str(parsed) == parsed.base + ("" if version is None else f"-v{version}")


@given(st.from_regex(r"[A-Za-z0-9_./-]{1,20}", fullmatch=True))
def test_whatever_parses_parses_alike_from_its_own_text(text):
    try:
        parsed = EnvId.parse(text)
    except MalformedId:
        return
    assert EnvId.parse(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("CartPole-v1", (None, "CartPole", 1)),
        ("CartPole", (None, "CartPole", None)),
        ("ALE/Pong-v5", ("ALE", "Pong", 5)),
        ("a/b/C.d_e-f-v0", ("a/b", "C.d_e-f", 0)),
        ("Two-v1-v2", (None, "Two-v1", 2)),
        ("Maze-vee", (None, "Maze-vee", None)),
        ("Old-v007", (None, "Old", 7)),
        (f"Long-v{'9' * 5000}", (None, f"Long-v{'9' * 5000}", None)),
    ],
)
def test_an_id_has_a_namespace_a_name_and_a_version(text, parts):
    assert EnvId.parse(text) == parts


@pytest.mark.parametrize("text", ["", "/A", "A/", "a//B", "A B", "A-v1 ", "mod:A", "A\n", "Ä pfel", "A@1"])
def test_a_malformed_id_is_answered_with_the_grammar(text):
    message = (
        f"id: expected [namespace/]Name[-vN], as in 'CartPole-v1' or 'my/Maze', got {text!r}; "
        "use letters, digits, '_', '.' and '-'"
    )
    with says(MalformedId, message):
        EnvId.parse(text)


@pytest.mark.parametrize("text", [None, 3, b"A-v0"])
def test_an_id_is_text(text):
    with says(InvalidType, f"id: expected text like 'CartPole-v1', got {text!r}"):
        EnvId.parse(text)
