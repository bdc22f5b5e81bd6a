"""What the other side says of an outcome is held to what outcomes are, whatever it is."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ludus.core import AutoresetMode, Outcome
from ludus.errors import ContractViolation
from ludus.remote.codec import BatchCodec, EnvCodec
from ludus.spaces import Discrete
from ludus.spaces.plain import BINARY
from ludus.wire import encode_value, write_space
from ludus.wire.infos import write_infos

LANES = 3


def made() -> Any:
    space = write_space(Discrete(2))
    return SimpleNamespace(
        name="far", observation_space=space, action_space=space, metadata=BINARY.write({}), render_mode=None
    )


@pytest.mark.parametrize("said", ["opened", "x" * 10**6, 12, -1, 0.5, True, ["success"], {"a": 1}, b"success"])
def test_one_environment_that_says_what_is_no_outcome_breaks_its_contract(said):
    with pytest.raises(ContractViolation, match=r"^far info\['outcome'\]: outcome: expected one of success"):
        EnvCodec(made()).read_info(encode_value({"outcome": said}))


@pytest.mark.parametrize(
    ("said", "read"), [("success", {"outcome": Outcome.SUCCESS}), (None, {}), (2, {"outcome": "failure"})]
)
def test_what_is_one_is_read_as_one(said, read):
    found = EnvCodec(made()).read_info(encode_value({"outcome": said}))
    assert found == read
    assert all(type(one) is Outcome for one in found.values())


GOOD = {"outcome": np.array([1, 0, 9], np.int8), "_outcome": np.array([True, False, True])}


@pytest.mark.parametrize(
    "lie",
    [
        {"outcome": np.array([1, 0, 10], np.int8)},
        {"outcome": np.array([-1, 0, 1], np.int8)},
        {"outcome": np.array([1, 0, 9])},
        {"outcome": np.array(["success", None, None], object)},
        {"outcome": np.zeros((LANES, 2), np.int8)},
        {"_outcome": np.array([1, 0, 1])},
        {"outcome": {"a": np.zeros(LANES, np.int8)}},
        {"_outcome": None},
    ],
)
def test_a_batch_that_gives_another_column_breaks_its_contract(lie):
    codec = BatchCodec(made(), LANES, AutoresetMode.SAME_STEP)
    write = lambda infos: write_infos(infos, lambda one: one)  # noqa: E731
    assert codec.read_infos(write(GOOD))["outcome"].tolist() == [1, 0, 9]
    false = {key: one for key, one in (GOOD | lie).items() if one is not None}
    for infos in (false, {"final_info": false, "_final_info": np.ones(LANES, np.bool_)}):
        with pytest.raises(ContractViolation, match=r"info\['outcome'\]"):
            codec.read_infos(write(infos))
