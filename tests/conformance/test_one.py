"""One environment, wherever it runs: every law over every place and kind."""

import numpy as np
import pytest

from ludus.core import Outcome
from ludus.errors import (
    ClosedEnvironment,
    ContractViolation,
    EnvError,
    InvalidAction,
    InvalidArgument,
    RenderError,
    ResetNeeded,
)
from ludus.testing.equality import difference
from tests.conformance.histories import SEED, assert_same, expected, history, lasting_seed, onward, plain
from tests.conformance.kinds import FORMS, st
from tests.conformance.laws import TYPED, law
from tests.conformance.places import REFERENCE

TOOLED = (*TYPED, "tools")


@law("spaces equal the author's")
def test_spaces_are_the_authors(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    assert env.action_space == own.action_space
    assert env.observation_space == own.observation_space
    assert env.observation_space.json_schema() == own.observation_space.json_schema()


@law("actions of the author's class")
def test_actions_are_of_the_authors_class(place, kind):
    assert_same(place, history(place.one(kind), kind.actions), expected(kind))


@law("actions of another class with the same fields", kinds=("arrays", *TOOLED))
def test_actions_are_of_another_class(place, kind):
    assert_same(place, history(place.one(kind), kind.forms[FORMS[1]]), expected(kind))


@law("actions as dictionaries", kinds=TOOLED)
def test_actions_are_dictionaries(place, kind):
    assert_same(place, history(place.one(kind), kind.forms[FORMS[2]]), expected(kind))


@law("actions that its space samples")
def test_actions_are_sampled(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    env.action_space.seed(5)
    own.action_space.seed(5)
    mine, theirs = [env.action_space.sample() for _ in range(8)], [own.action_space.sample() for _ in range(8)]
    if place.same_classes:
        assert [plain(one) for one in mine] == [plain(one) for one in theirs]
    else:  # another space draws other actions; what they are as data, the author's class takes too
        theirs = [{name: one for name, one in plain(action).items() if one is not None} for action in mine]
    assert_same(place, history(env, mine), history(own, theirs))


@law("observations are of the author's class, and equal", kinds=TOOLED)
def test_observations_are_of_the_authors_class(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    pairs = [(env.reset(seed=3)[0], own.reset(seed=3)[0])]
    pairs += [(env.step(one).observation, own.step(one).observation) for one in kind.actions[:1]]
    for given, wanted in pairs:
        assert type(given) is type(wanted)
        assert given == wanted
        assert repr(given) == repr(wanted)


@law("a wrong action is an InvalidAction, says where, and moves nothing")
def test_a_wrong_action_is_refused(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED)
    for wrong, path in kind.wrong:
        with pytest.raises(InvalidAction) as caught:
            env.step(wrong)
        assert path in str(caught.value), f"{wrong}: expected a word of {path}, got {caught.value}"
    assert_same(place, [tuple(env.step(kind.actions[0]))], expected(kind, steps=1)[1:2])


@law("a wrong action is told of in the same words as in process")
def test_a_wrong_action_is_refused_in_the_same_words(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    for one in (env, own):
        one.reset(seed=SEED)
    for wrong, _ in kind.wrong:
        with pytest.raises(InvalidAction) as wanted:
            own.step(wrong)
        with pytest.raises(InvalidAction) as caught:
            env.step(wrong)
        assert str(caught.value) == str(wanted.value)


@law("a wrong action is refused although its author does not look", own=True)
def test_a_wrong_action_is_refused_for_its_author(place, kind):
    with place.own(kind, looks=False) as env:
        env.reset(seed=SEED)
        for wrong, path in kind.wrong:
            with pytest.raises(InvalidAction) as caught:
                env.step(wrong)
            assert path in str(caught.value)


@law("the same seed gives the same history twice")
def test_the_same_seed_gives_the_same_history(place, kind):
    env = place.one(kind)
    first = history(env, kind.actions, seed=21)
    history(env, kind.actions, seed=22, steps=3)
    assert_same(place, history(env, kind.actions, seed=21), first)


@law("a seed gives the history that it gives in process, bit for bit")
def test_a_seed_gives_the_history_of_one_process(place, kind):
    for seed in (0, 2**31, 2**62 + 7):
        assert_same(place, history(place.one(kind), kind.actions, seed=seed), expected(kind, seed=seed))


@law("options of reset reach it")
def test_options_reach_it(place, kind):
    env = place.one(kind)
    env.reset(seed=1, options={"miles": 40})
    assert env.state_data()["miles"] == 40


@law("unknown options of reset are refused")
def test_unknown_options_are_refused(place, kind):
    env = place.one(kind)
    with pytest.raises(InvalidArgument, match="options: expected plot or miles, got 'wind'"):
        env.reset(options={"wind": 3})


@law("a step before reset, or after the end, is refused", own=True)
def test_a_step_needs_a_reset(place, kind):
    with place.own(kind) as env:
        with pytest.raises(ResetNeeded):
            env.step(kind.actions[0])
        env.reset(seed=1, options={"plot": "end"})
        assert env.step(kind.actions[0]).terminated
        with pytest.raises(ResetNeeded):
            env.step(kind.actions[0])


@law("how an episode ended is told by an outcome, with its facts")
def test_outcomes_are_told(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    for miles, outcome in ((40, Outcome.SUCCESS), (0, Outcome.FAILURE)):
        told = []
        for one in (env, own):
            one.reset(seed=SEED, options={"plot": "end", "miles": miles})
            told.append(one.step(kind.actions[0]).info)
        assert (type(told[0]["outcome"]), told[0]["outcome"]) == (Outcome, outcome)
        assert not place.same_classes or difference(told[0], told[1], "info") is None


@law("snapshot and restore")
def test_a_snapshot_is_gone_back_to(place, kind):
    env = place.one(kind)
    env.reset(seed=lasting_seed(kind.name))
    env.step(kind.actions[0])
    env.action_space.seed(4)
    snapshot = env.snapshot()
    drawn = plain(env.action_space.sample())
    future = onward(env, kind)
    history(env, kind.actions, seed=8, steps=2)
    for _ in range(2):
        env.restore(snapshot)
        assert plain(env.action_space.sample()) == drawn
        assert_same(place, onward(env, kind), future)


@law("a snapshot moves to another environment made alike", own=True)
def test_a_snapshot_moves(place, kind):
    env = place.one(kind)
    with place.own(kind) as other:
        env.reset(seed=lasting_seed(kind.name))
        env.step(kind.actions[0])
        other.reset(seed=99)
        other.restore(env.snapshot())
        future = onward(env, kind)
        assert_same(place, onward(other, kind), future)


@law("attributes are read, set and missed")
def test_attributes_are_read_and_set(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED)
    assert env.get_wrapper_attr("gravity") == 9.75
    assert env.has_wrapper_attr("gravity")
    assert not env.has_wrapper_attr("keel")
    with pytest.raises(AttributeError, match="keel"):
        env.get_wrapper_attr("keel")
    try:
        assert env.set_wrapper_attr("gravity", 1.5)
        assert env.get_wrapper_attr("gravity") == 1.5
    finally:
        env.set_wrapper_attr("gravity", 9.75)


@law("a method is called")
def test_a_method_is_called(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED)
    greet = env.get_wrapper_attr("greet")
    assert greet(name="ahoy", times=2) == "ahoy, 9.75ahoy, 9.75"
    with pytest.raises((EnvError, TypeError), match="unexpected keyword argument 'tims'"):
        greet("ahoy", tims=2)


@law("arguments of its constructor reach it; unknown ones are refused", own=True)
def test_arguments_reach_it(place, kind):
    env = place.one(kind, render_mode="rgb_array", gravity=2.5)
    env.reset(seed=SEED)
    assert env.get_wrapper_attr("gravity") == 2.5
    with pytest.raises((InvalidArgument, EnvError, TypeError), match="keel"):
        place.own(kind, keel=3)


@law("render", own=True)
def test_it_renders(place, kind):
    options = {"render_mode": "rgb_array", "gravity": 2.5}
    env, own = place.one(kind, **options), REFERENCE.one(kind, **options)
    assert env.render_mode == "rgb_array"
    for one in (env, own):
        one.reset(seed=SEED)
        one.step(kind.actions[0])
    picture = env.render()
    assert picture.dtype == np.uint8
    assert np.array_equal(picture, own.render())


@law("render without a render_mode is refused")
def test_render_needs_a_mode(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED)
    with pytest.raises((RenderError, ContractViolation), match="render_mode"):
        env.render()


@law("state_data")
def test_its_state_is_shown(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    for one in (env, own):
        one.reset(seed=SEED)
        one.step(kind.actions[0])
    shown, wanted = env.state_data(), own.state_data()
    assert {name: shown[name] for name in wanted} == wanted


@law("what is private in its state is left out, unless asked for")
def test_its_private_state_is_shown_where_asked_for(place, kind):
    env, own = place.one(kind), REFERENCE.one(kind)
    for one in (env, own):
        one.reset(seed=SEED)
    assert "treasure" not in env.state_data()
    assert env.state_data(private=True)["treasure"] == own.state_data(private=True)["treasure"]


@law("an exception in step is told in its words, and the next episode begins")
def test_an_exception_in_step_is_told(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED, options={"plot": "raise"})
    with pytest.raises((EnvError, st.BridgeOut), match="the bridge is out at mile 7"):
        env.step(kind.actions[0])
    assert_same(place, history(env, kind.actions), expected(kind))


@law("an exception in step has the traceback of the author's code")
def test_an_exception_has_its_traceback(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED, options={"plot": "raise"})
    with pytest.raises((EnvError, st.BridgeOut)) as caught:
        env.step(kind.actions[0])
    where = [*getattr(caught.value, "__notes__", []), *(str(one.path) for one in caught.traceback)]
    assert any("strangers.py" in line for line in where), where


@law("an error of Ludus that it raises keeps its class and its text")
def test_an_error_of_ludus_keeps_its_class(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED, options={"plot": "refuse"})
    with pytest.raises(RenderError) as caught:
        env.step(kind.actions[0])
    assert str(caught.value) == "chart: expected a known sea, got the end of the world"
    assert_same(place, history(env, kind.actions), expected(kind))


@law("an observation outside its space is a ContractViolation", kinds=("arrays", *TYPED, "text"))
def test_a_lie_is_found(place, kind):
    env = place.one(kind)
    with pytest.raises(ContractViolation, match="observation"):
        env.reset(seed=SEED, options={"plot": "lie"})
    assert_same(place, history(env, kind.actions), expected(kind))


@law("text of 70,000 characters travels", kinds=("text",))
def test_long_text_travels(place, kind):
    env = place.one(kind)
    env.reset(seed=SEED, options={"miles": 5000})
    observation = env.step("go").observation
    assert observation.endswith("≈" * 70_000)


@law("a process that is killed in a step truncates the episode and says so; reset begins anew", own=True)
def test_a_process_is_killed_in_a_step(place, kind):
    with place.own(kind) as env:
        first = env.reset(seed=SEED, options={"plot": "kill"})[0]
        step = env.step(kind.actions[0])
        assert step.truncated
        assert not step.terminated
        assert step.reward == 0.0
        assert step.info["sandbox"]["reason"]
        assert step.info["outcome"] is Outcome.INFRASTRUCTURE_FAILED
        assert_same(place, [step.observation], [first])
        with pytest.raises(ResetNeeded):
            env.step(kind.actions[0])
        assert_same(place, history(env, kind.actions), expected(kind))


@law("closing twice is harmless", own=True)
def test_it_closes_twice(place, kind):
    env = place.own(kind)
    env.reset(seed=SEED)
    env.close()
    env.close()


@law("use after closing is refused", own=True)
def test_use_after_closing_is_refused(place, kind):
    env = place.own(kind)
    env.reset(seed=SEED)
    env.close()
    for use in (lambda: env.step(kind.actions[0]), env.reset, env.state_data):
        with pytest.raises(ClosedEnvironment):
            use()
