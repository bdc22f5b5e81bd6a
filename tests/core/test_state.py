"""State as data: what is shown, and what is not."""

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import pydantic
import pytest

from ludus.core.state import Private, state_data
from ludus.errors import ContractViolation


@dataclass
class Hand:
    shown: list[int]
    hidden: Annotated[list[int], Private]


@dataclass
class Game:
    turn: int
    dealer: Hand
    seed: Annotated[int, Private] = 7
    players: dict[str, Hand] = field(default_factory=dict)


class Packed(msgspec.Struct):
    seen: int
    answer: Annotated[str, Private] = "42"


class Model(pydantic.BaseModel):
    seen: int
    answer: Annotated[str, Private] = "42"


class Row(NamedTuple):
    seen: int
    answer: Annotated[str, Private] = "42"


@dataclass
class Perhaps:
    answer: Annotated[str, Private] | None = "42"
    answers: list[Annotated[str, Private]] = field(default_factory=lambda: ["42"])
    deep: dict[str, tuple[Annotated[int, Private], ...]] = field(default_factory=dict)
    seen: int = 1


@pytest.mark.parametrize("kind", [Packed, Model, Row])
def test_private_fields_of_every_kind_of_record_are_seen_only_with_the_word(kind: Any) -> None:
    assert state_data(kind(seen=3)) == {"seen": 3}
    assert state_data(kind(seen=3), private=True) == {"seen": 3, "answer": "42"}


def test_private_fields_of_records_inside_are_left_out() -> None:
    game = Game(1, Hand([1], [2]), players={"a": Hand([3], [4])})
    assert state_data(game) == {"turn": 1, "dealer": {"shown": [1]}, "players": {"a": {"shown": [3]}}}
    assert state_data(game, private=True)["players"]["a"] == {"shown": [3], "hidden": [4]}


def test_a_mark_inside_a_hint_counts() -> None:
    assert state_data(Perhaps()) == {"seen": 1}


def test_inherited_marks_count() -> None:
    @dataclass
    class More(Game):
        extra: int = 0

    assert "seed" not in state_data(More(1, Hand([], [])))


def test_arrays_sets_and_tuples_become_lists() -> None:
    told = state_data({"a": np.arange(3), "b": np.float32(0.5), "c": {2, 1}, "d": (1, (2,)), 5: None})
    assert told == {"a": [0, 1, 2], "b": 0.5, "c": [1, 2], "d": [1, [2]], "5": None}


@pytest.mark.parametrize("state", [None, 3, "text", np.zeros(4), [1, 2], object()])
def test_what_is_no_record_shows_nothing(state: Any) -> None:
    assert state_data(state) == {}


def test_what_is_no_data_inside_is_named() -> None:
    with pytest.raises(ContractViolation, match=r"state\['hook'\]\[0\]: expected numbers, text, .* or models, got"):
        state_data({"hook": [object()]})


def test_a_state_that_holds_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(ContractViolation, match="at most 16 levels"):
        state_data(loop)


def test_annotations_that_cannot_be_read_show_nothing() -> None:
    @dataclass
    class Torn:
        answer: "Annotated[Nowhere, Private]"  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    with pytest.raises(ContractViolation, match="annotations of Torn that can be read"):
        state_data(Torn(1))
    assert state_data(Torn(1), private=True) == {"answer": 1}
