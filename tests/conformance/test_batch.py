"""A batch, wherever its lanes run: every law over every place and kind."""

import numpy as np
import pytest

from ludus.core import AutoresetMode, Episode, Outcome
from ludus.errors import (
    ClosedEnvironment,
    EnvError,
    InvalidAction,
    InvalidArgument,
    LudusError,
    RenderError,
    ResetNeeded,
)
from ludus.testing.equality import difference
from tests.conformance.histories import SEED, assert_same, batch_history, batched, in_turn, plain
from tests.conformance.kinds import FORMS, st
from tests.conformance.laws import TYPED, law
from tests.conformance.places import LANES, REFERENCE

TOOLED = (*TYPED, "tools")
NEXT, SAME, OFF = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


def check_history(place, kind, mode, **options):
    found = batch_history(place.batch(kind, mode), kind, **options)
    assert_same(place, found, batch_history(REFERENCE.batch(kind, mode), kind, **options))


@law("a batch: spaces equal the author's", batch=True)
def test_the_spaces_of_a_batch(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    assert (envs.num_envs, envs.batch_shape) == (LANES, (LANES,))
    for name in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(envs, name) == getattr(own, name)


@law("autoreset in the next step gives the history of one process, bit for bit", batch=True)
def test_lanes_begin_in_the_next_step(place, kind):
    check_history(place, kind, NEXT)


@law("autoreset in the same step, with its final observation and info", batch=True, own=True)
def test_lanes_begin_in_the_same_step(place, kind):
    check_history(place, kind, SAME)


@law("no autoreset: lanes are reset from outside", batch=True, own=True)
def test_lanes_are_reset_from_outside(place, kind):
    envs = place.batch(kind, OFF)
    check_history(place, kind, OFF)
    envs.reset(seed=SEED, options={"plot": "end"})
    envs.step(batched(envs, in_turn(kind, 0)))
    with pytest.raises(ResetNeeded, match=r"ended lanes \[0, 1, 2, 3\]"):
        envs.step(batched(envs, in_turn(kind, 0)))


@law("some lanes are reset in the middle", batch=True)
def test_some_lanes_are_reset(place, kind):
    check_history(place, kind, NEXT, resets=(2, 3, 9))


@law("each lane has a seed of its own", batch=True)
def test_each_lane_has_a_seed(place, kind):
    check_history(place, kind, NEXT, seed=[5, 0, 2**40, 5], steps=4)


@law("planned episodes begin with their seeds and options", batch=True, own=True)
def test_episodes_are_planned(place, kind):
    def plan(lane, number):
        return Episode(seed=100 * lane + number, options={"miles": 10 * number}) if number % 3 else Episode()

    with place.own_batch(kind, episodes=plan) as envs, REFERENCE.own_batch(kind, episodes=plan) as own:
        found, wanted = batch_history(envs, kind, resets=(4,)), batch_history(own, kind, resets=(4,))
        assert_same(place, found, wanted)
        assert envs.state_data()["lanes"][0]["miles"] == own.state_data()["lanes"][0]["miles"]


@law("a batch: actions of the author's class, of another, and as dictionaries, mixed", batch=True, kinds=TOOLED)
def test_the_actions_of_a_batch(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    forms = [kind.forms[form][0] for form in FORMS] + [kind.actions[0]]
    for one in (envs, own):
        one.reset(seed=SEED)
    wanted = tuple(own.step(tuple([kind.actions[0]] * LANES)))
    assert_same(place, [tuple(envs.step(tuple(forms)))], [wanted])
    for one in (envs, own):
        one.reset(seed=SEED)
    assert_same(place, [tuple(envs.step(list(forms)))], [wanted])


@law("a batch: actions that its space samples", batch=True)
def test_a_batch_takes_what_its_space_samples(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    for one in (envs, own):
        one.reset(seed=SEED)
        one.action_space.seed(6)
    for _ in range(5):
        mine, theirs = envs.action_space.sample(), own.action_space.sample()
        if place.same_classes:
            assert plain(list(mine)) == plain(list(theirs))
        else:  # another space draws other actions; what they are as data, the author's class takes too
            theirs = tuple({name: part for name, part in plain(one).items() if part is not None} for one in mine)
        assert_same(place, [tuple(envs.step(mine))], [tuple(own.step(theirs))])


def wrong_in_lane_2(kind):
    actions = [*in_turn(kind, 0)[:2], kind.wrong[0][0], kind.actions[0]]
    return np.array(actions) if kind.name == "arrays" else tuple(actions)


@law("a batch: a wrong action is an InvalidAction that says where", batch=True)
def test_a_wrong_action_of_a_lane(place, kind):
    envs = place.batch(kind)
    envs.reset(seed=SEED)
    with pytest.raises(InvalidAction) as caught:
        envs.step(wrong_in_lane_2(kind))
    assert kind.wrong[0][1].removeprefix("action") in str(caught.value)
    with pytest.raises(InvalidArgument, match="4 lanes"):
        envs.step(batched(envs, in_turn(kind, 0)[:3]))


@law("a batch: a wrong action in one lane moves no other", batch=True)
def test_a_wrong_action_moves_no_lane(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    for one in (envs, own):
        one.reset(seed=SEED)
    with pytest.raises(LudusError):
        envs.step(wrong_in_lane_2(kind))
    right = batched(envs, in_turn(kind, 0))
    assert_same(place, [tuple(envs.step(right))], [tuple(own.step(right))])


@law("a batch: a step before reset is refused", batch=True, own=True)
def test_a_batch_needs_a_reset(place, kind):
    with place.own_batch(kind) as envs, pytest.raises(ResetNeeded):
        envs.step(batched(envs, in_turn(kind, 0)))


@law("a batch: outcomes are one column of codes, and the lanes that told one", batch=True)
def test_outcomes_of_lanes(place, kind):
    envs = place.batch(kind)
    envs.reset(seed=SEED)
    some = np.array([False, True, True, False])
    envs.reset(seed=SEED, options={"plot": "end", "miles": 40, "reset_mask": some})
    info = envs.step(batched(envs, in_turn(kind, 0))).info
    assert info["outcome"].dtype == np.int8
    assert info["outcome"][some].tolist() == [Outcome.SUCCESS.code] * 2
    assert info["_outcome"][some].all()
    assert ((info["outcome"] != 0) == info["_outcome"]).all()


@law("a batch: snapshot and restore", batch=True)
def test_a_snapshot_of_a_batch(place, kind):
    envs = place.batch(kind)
    batch_history(envs, kind, steps=3)
    snapshot = envs.snapshot()
    future = batch_history(envs, kind, seed=None, steps=9)
    for _ in range(2):
        envs.restore(snapshot)
        assert_same(place, batch_history(envs, kind, seed=None, steps=9), future)
        batch_history(envs, kind, seed=2, steps=2)


@law("a batch: fork of some lanes", batch=True, own=True)
def test_lanes_are_forked(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    for one in (envs, own):
        batch_history(one, kind, steps=3)
    lanes = [3, 0, 0]
    with envs.fork(lanes) as twin, own.fork(lanes) as own_twin:
        assert twin.num_envs == 3
        assert_same(
            place, batch_history(twin, kind, seed=None, steps=9), batch_history(own_twin, kind, seed=None, steps=9)
        )
    assert_same(place, batch_history(envs, kind, seed=None, steps=9), batch_history(own, kind, seed=None, steps=9))


@law("a batch: get_attr, set_attr and call", batch=True)
def test_attributes_of_lanes(place, kind):
    envs = place.batch(kind)
    envs.reset(seed=SEED)
    assert envs.get_attr("gravity") == (9.75,) * LANES
    try:
        envs.set_attr("gravity", [1.0, 2.0, 3.0, 4.0])
        assert envs.get_attr("gravity") == (1.0, 2.0, 3.0, 4.0)
        assert envs.call("greet", name="ahoy", times=2) == tuple(f"ahoy, {one}" * 2 for one in (1, 2, 3, 4))
        envs.set_attr("gravity", 5.0)
        assert envs.call("gravity") == (5.0,) * LANES
    finally:
        envs.set_attr("gravity", 9.75)
    with pytest.raises(AttributeError, match="keel"):
        envs.get_attr("keel")


@law("a batch: render", batch=True, own=True)
def test_lanes_render(place, kind):
    with (
        place.own_batch(kind, kwargs={"render_mode": "rgb_array"}) as envs,
        REFERENCE.own_batch(kind, kwargs={"render_mode": "rgb_array"}) as own,
    ):
        for one in (envs, own):
            batch_history(one, kind, steps=2)
        pictures = envs.render()
        assert len(pictures) == LANES
        assert difference(pictures, own.render(), "pictures") is None


@law("a batch: state_data of each lane", batch=True)
def test_the_state_of_lanes(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    for one in (envs, own):
        batch_history(one, kind, steps=2)
    shown, wanted = envs.state_data()["lanes"], own.state_data()["lanes"]
    assert [{name: one[name] for name in lane} for one, lane in zip(shown, wanted, strict=True)] == wanted


@law("a batch: what is private in the state of lanes is left out, unless asked for", batch=True)
def test_the_private_state_of_lanes(place, kind):
    envs, own = place.batch(kind), REFERENCE.batch(kind)
    for one in (envs, own):
        one.reset(seed=SEED)
    assert not any("treasure" in lane for lane in envs.state_data()["lanes"])
    shown, wanted = envs.state_data(private=True)["lanes"], own.state_data(private=True)["lanes"]
    assert [one["treasure"] for one in shown] == [one["treasure"] for one in wanted]


def raised_in_lane_2(envs, kind):
    """What a step raises of which lane 2 raises."""
    envs.reset(seed=SEED)
    envs.reset(options={"plot": "raise", "reset_mask": np.array([False, False, True, False])})
    with pytest.raises((EnvError, st.BridgeOut), match="the bridge is out at mile 7") as caught:
        envs.step(batched(envs, in_turn(kind, 0)))
    return caught


@law("a batch: an exception in one lane is told in its words, and reset goes on", batch=True)
def test_an_exception_in_a_lane(place, kind):
    raised_in_lane_2(place.batch(kind), kind)
    check_history(place, kind, NEXT)


@law("a batch: an exception in one lane has the traceback of the author's code", batch=True)
def test_an_exception_in_a_lane_has_its_traceback(place, kind):
    caught = raised_in_lane_2(place.batch(kind), kind)
    where = [str(caught.value), *getattr(caught.value, "__notes__", []), *(str(one.path) for one in caught.traceback)]
    assert any("strangers.py" in line for line in where), where


@law("a batch: an error of Ludus in one lane keeps its class and its text", batch=True)
def test_an_error_of_ludus_in_a_lane(place, kind):
    envs = place.batch(kind)
    envs.reset(seed=SEED)
    envs.reset(options={"plot": "refuse", "reset_mask": np.array([False, True, False, False])})
    with pytest.raises(RenderError) as caught:
        envs.step(batched(envs, in_turn(kind, 0)))
    assert str(caught.value) == "chart: expected a known sea, got the end of the world"
    check_history(place, kind, NEXT)


@law(
    "a batch: a process that is killed in a step truncates its lanes and says so; they begin anew", batch=True, own=True
)
def test_a_process_of_a_batch_is_killed(place, kind):
    with place.own_batch(kind) as envs:
        envs.reset(seed=SEED)
        envs.reset(options={"plot": "kill", "reset_mask": np.array([False, False, False, True])})
        step = envs.step(batched(envs, in_turn(kind, 0)))
        assert step.truncated[3]
        assert not step.terminated[3]
        assert step.info["sandbox"]["reason"][3]
        assert step.info["outcome"][3] == Outcome.INFRASTRUCTURE_FAILED.code
        after = envs.step(batched(envs, in_turn(kind, 1)))
        assert not after.truncated[3]
        found = batch_history(envs, kind)
        assert_same(place, found, batch_history(REFERENCE.batch(kind), kind))


@law("a batch: closing twice is harmless, and use after it is refused", batch=True, own=True)
def test_a_batch_closes_twice(place, kind):
    envs = place.own_batch(kind)
    envs.reset(seed=SEED)
    envs.close()
    envs.close()
    for use in (lambda: envs.step(batched(envs, in_turn(kind, 0))), envs.reset, envs.render, envs.state_data):
        with pytest.raises(ClosedEnvironment):
            use()
