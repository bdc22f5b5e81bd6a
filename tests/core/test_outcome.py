"""Outcomes: one form in one environment, one in a batch, and what makes a step with one."""

import json

import msgspec
import numpy as np
import pytest

from ludus.core import Outcome, Step, VectorEnv
from ludus.core.info import add_outcome, info_of, joined, lane_info
from ludus.core.outcome import CODES, code_column, read_outcome
from ludus.errors import (
    ContractViolation,
    EnvError,
    InvalidAction,
    InvalidArgument,
    LimitExceeded,
    SessionLost,
    WorkerFailure,
)


def batch_of(*infos):
    envs = VectorEnv()
    envs.num_envs, found = len(infos), {}
    for lane, info in enumerate(infos):
        envs._add_info(found, info, lane)
    return found


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_outcome_is_its_text_wherever_it_goes(outcome):
    assert outcome == outcome.value
    assert {outcome: 1}[outcome.value] == 1
    assert json.loads(json.dumps({"outcome": outcome})) == {"outcome": outcome.value}
    assert msgspec.msgpack.decode(msgspec.msgpack.encode({"outcome": outcome})) == {"outcome": outcome.value}
    assert [Outcome.of(one) for one in (outcome, outcome.value, outcome.name, outcome.code)] == [outcome] * 4
    assert Outcome.of(np.int8(outcome.code)) is outcome


def test_codes_are_the_format_and_do_not_move():
    names = ["success", "failure", "time_limit", "budget", "invalid_action", "agent_failed"]
    names += ["environment_failed", "infrastructure_failed", "aborted"]
    assert {str(one): code for one, code in CODES.items()} == {name: place for place, name in enumerate(names, 1)}


@pytest.mark.parametrize("typo", ["succes", "", "Success!", 0.5, 17, -1, True, ["success"], object()])
def test_what_is_no_outcome_is_named(typo):
    with pytest.raises(
        ContractViolation, match=r"^info\['outcome'\]: outcome: expected one of success, failure, .*got"
    ):
        read_outcome(typo)
    with pytest.raises(ContractViolation, match=r"^lane 1 info\['outcome'\]: "):
        batch_of({}, {"outcome": typo})


def test_a_typo_is_asked_back():
    with pytest.raises(InvalidArgument, match="did you mean 'success'"):
        Outcome.of("succes")


def test_steps_say_how_the_task_went_and_unpack_as_ever():
    won = Step.success("goal", facts={"won": True}, moves=3)
    assert won == ("goal", 1.0, True, False, {"facts": {"won": True}, "moves": 3, "outcome": "success"})
    observation, reward, terminated, truncated, info = Step.failure("pit", info={"depth": 2})
    assert (observation, reward, terminated, truncated) == ("pit", 0.0, True, False)
    assert info == {"depth": 2, "outcome": Outcome.FAILURE}
    for outcome in Outcome:
        step = Step.ending("s", outcome.value, -1.0)
        assert (step.terminated, step.truncated, step.info["outcome"]) == (outcome.terminates, not step[2], outcome)
    assert {one.value for one in Outcome if one.terminates} == {"success", "failure", "invalid_action"}
    with pytest.raises(InvalidArgument, match="got 'won'"):
        Step.ending("s", "won")


def test_a_batch_has_one_column_of_codes_whatever_lanes_wrote():
    infos = batch_of({"outcome": "success"}, {}, {"outcome": Outcome.BUDGET, "left": 2}, {"outcome": 9}, {"outcome": 0})
    assert infos["outcome"].dtype == np.int8
    assert infos["outcome"].tolist() == [1, 0, 4, 9, 0]
    assert infos["_outcome"].tolist() == [True, False, True, True, False]
    assert lane_info(infos, 2) == {"outcome": Outcome.BUDGET, "left": 2}
    assert type(lane_info(infos, 0)["outcome"]) is Outcome
    assert lane_info(infos, 1) == {}


def test_an_outcome_that_is_none_makes_no_column():
    assert batch_of({"outcome": None}, {"outcome": 0}) == {}


def test_only_the_info_itself_and_that_of_the_last_step_have_outcomes():
    infos = batch_of({"final_info": {"outcome": "aborted"}, "final_obs": 3}, {"stats": {"outcome": "a draw"}})
    assert infos["final_info"]["outcome"].tolist() == [9, 0]
    assert infos["stats"]["outcome"].tolist() == [None, "a draw"]
    assert lane_info(infos, 0)["final_info"] == {"outcome": Outcome.ABORTED}
    assert lane_info(infos, 1) == {"stats": {"outcome": "a draw"}}


def test_facts_and_components_of_rewards_batch_as_infos_do():
    infos = batch_of(
        {"facts": {"won": True}, "reward_components": {"goal": 1.0, "time": -0.1}},
        {"facts": {"illegal_move": False}, "reward_components": {"time": -0.1}},
    )
    assert infos["reward_components"]["time"].tolist() == [-0.1, -0.1]
    assert lane_info(infos, 1) == {"facts": {"illegal_move": False}, "reward_components": {"time": -0.1}}


def test_an_outcome_is_added_where_nothing_else_is_told():
    told = batch_of({"outcome": "success"}, {"age": 3}, {})
    found = add_outcome(told, Outcome.TIME_LIMIT, np.array([True, True, False]))
    assert found["outcome"].tolist() == [1, 3, 0]
    assert found["_outcome"].tolist() == [True, True, False]
    assert told["outcome"].tolist() == [1, 0, 0], "what was given stays as it was"
    assert add_outcome(told, Outcome.TIME_LIMIT, np.array([True, False, False])) is told


def test_lanes_are_taken_apart_and_together_with_their_outcomes():
    told = batch_of({"outcome": "success"}, {"outcome": "failure"})
    first, second = (info_of(told, np.array(mask)) for mask in ([True, False], [False, True]))
    assert first["outcome"].tolist() == [1, 0]
    again = joined(first, second)
    assert (again["outcome"].tolist(), again["outcome"].dtype) == ([1, 2], np.int8)


def test_a_column_with_a_strange_code_names_its_lane():
    with pytest.raises(ContractViolation, match=r"^lane 2 info\['outcome'\]: .*got 10"):
        code_column(np.array([0, 1, 10, -3]))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ZeroDivisionError("by nothing"), "environment_failed"),
        (EnvError("Sea: BridgeOut: at mile 7"), "environment_failed"),
        (WorkerFailure("lane 0 raised", worker_traceback="…"), "environment_failed"),
        (WorkerFailure("lane 0 was killed", worker_traceback="where it hung", lost=True), "infrastructure_failed"),
        (LimitExceeded("memory"), "infrastructure_failed"),
        (SessionLost("gone"), "infrastructure_failed"),
        (InvalidAction("7"), "invalid_action"),
    ],
)
def test_an_error_says_who_failed(error, outcome):
    assert Outcome.after(error) == outcome
