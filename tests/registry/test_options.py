"""Options are values, and no keyword of `make` or `make_vec` takes one of an environment's."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus import Env, make, make_vec
from ludus.core import EnvSpec
from ludus.errors import InvalidArgument, InvalidType
from ludus.kernels import RuleEnv, Rules
from ludus.registry import resolution
from ludus.sandbox import Deadlines, Limits, Sandbox
from ludus.spaces import Discrete
from ludus.vector import Kernel, Process, Serial, Thread
from ludus.wrappers import TimeLimit


class Stub(Env):
    """An environment of one place; what it was made with is in `told`."""

    observation_space = action_space = Discrete(3)
    told: dict

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return ludus.Step(0, 0.0, False, False, {})


class Kitchen(Stub):
    """Words that were keywords of `make` or of an executor once."""

    def __init__(self, deadline=1, timeout=2, copy=3, num_workers=4, context=5, statistics=6):
        self.told = {name: value for name, value in locals().items() if name not in ("self", "__class__")}


class Greedy(Stub):
    """Words that are keywords of `make` and `make_vec`."""

    def __init__(
        self, isolation="i", kwargs="k", max_episode_steps="m", disable_env_checker="d", num_envs="n", executor="e",
        autoreset_mode="a", wrappers="w", each="c", episodes="p", verbose="v", id="id",
    ):  # fmt: skip
        self.told = {name: value for name, value in locals().items() if name not in ("self", "__class__")}


class Open(Stub):
    """A constructor that takes whatever it is given."""

    def __init__(self, isolation=None, **others):
        self.told = {"isolation": isolation, **others}


# --- nothing is stolen ---


@pytest.mark.parametrize("name", ["deadline", "timeout", "copy", "num_workers", "context", "statistics"])
def test_an_argument_that_was_an_option_once_reaches_the_environment(name):
    assert make(Kitchen, **{name: 99}).unwrapped.told[name] == 99
    assert make(Open, **{name: 99}).unwrapped.told[name] == 99
    for where in (None, "serial", "thread"):
        envs = make_vec(Kitchen, 2, where, **{name: 99})
        assert [told[name] for told in envs.get_attr("told")] == [99, 99]


def test_an_argument_that_was_an_option_once_reaches_the_workers():
    with make_vec(Kitchen, 2, Process(workers=1), copy=99, timeout=77) as envs:
        assert [(told["copy"], told["timeout"]) for told in envs.get_attr("told")] == [(99, 77)] * 2


OWN = ["isolation", "max_episode_steps", "disable_env_checker", "num_envs", "executor", "autoreset_mode", "wrappers"]


@pytest.mark.parametrize("name", [*OWN, "each", "episodes", "verbose", "id", "kwargs"])
def test_kwargs_are_the_environments_whatever_they_are_called(name):
    assert make(Greedy, kwargs={name: 99}).unwrapped.told[name] == 99
    assert make_vec(Greedy, 2, kwargs={name: 99}).get_attr("told")[1][name] == 99
    assert make(EnvSpec("Greedy-v0", Greedy, kwargs={name: 98})).unwrapped.told[name] == 98


def test_kwargs_stand_beside_keywords():
    env = make(Kitchen, copy=7, kwargs={"timeout": 8})
    assert (env.unwrapped.told["copy"], env.unwrapped.told["timeout"]) == (7, 8)
    assert make(env.spec).unwrapped.told == env.unwrapped.told


@pytest.mark.parametrize(
    ("own", "value"), [("max_episode_steps", 5), ("disable_env_checker", True), ("isolation", "none")]
)
def test_a_keyword_that_both_may_mean_is_refused_with_both_ways_to_write_it(own, value):
    with pytest.raises(InvalidArgument) as raised:
        make(Greedy, **{own: value})
    assert str(raised.value) == (
        f"Greedy: expected {own!r} to be meant for make or for Greedy, got {own}={value!r}, which both take; "
        f"write kwargs={{{own!r}: {value!r}}} for Greedy, or {own}={value!r}, kwargs={{}} for make"
    )
    assert make(Greedy, **{own: value}, kwargs={}).unwrapped.told[own] == own[0]
    assert make(Greedy, kwargs={own: value}).unwrapped.told[own] == value


@pytest.mark.parametrize(
    ("own", "value"),
    [
        ("num_envs", 2),
        ("executor", "serial"),
        ("autoreset_mode", "SameStep"),
        ("wrappers", [TimeLimit.using(3)]),
        ("verbose", True),
        ("max_episode_steps", 5),
        ("isolation", "none"),
    ],
)
def test_the_same_holds_for_a_batch(own, value, capsys):
    with pytest.raises(InvalidArgument, match=rf"Greedy: expected '{own}' to be meant for make_vec or for Greedy"):
        make_vec(Greedy, **{own: value})
    assert make_vec(Greedy, **{own: value}, kwargs={}).num_envs >= 1
    del capsys


def test_it_holds_in_workers_and_for_a_class_that_is_isolated():
    with pytest.raises(InvalidArgument, match="expected 'num_envs' to be meant for make_vec or for Greedy"):
        make_vec(Greedy, 2, "process")
    with pytest.raises(InvalidArgument, match="expected 'isolation' to be meant for make or for Greedy"):
        make(Greedy, isolation="process")
    with pytest.raises(InvalidArgument, match="expected 'isolation' to be meant for make_vec or for Greedy"):
        make_vec(Greedy, isolation="process")
    with pytest.raises(InvalidArgument, match="expected 'isolation' to be meant for make or for Open"):
        make(Open, isolation="none")


class Plan(NamedTuple):
    episodes: int = 3


class Place(NamedTuple):
    place: int = 0


class Ruled(RuleEnv):
    observation_space = action_space = Discrete(5)
    rules = Rules(
        Place,
        Plan,
        lambda rng, params: Place(0),
        lambda state, action, rng, params: (Place(0), 0.0, False),
        lambda state, params: params.episodes,
    )


def test_parameters_of_rules_are_an_environments_too():
    with pytest.raises(InvalidArgument, match="expected 'episodes' to be meant for make_vec or for Ruled"):
        make_vec(Ruled, 2, episodes=lambda lane, number: None)
    envs = make_vec(Ruled, 2, kwargs={"episodes": 4})
    assert envs.executor == "kernel"
    assert envs.reset(seed=0)[0].tolist() == [4, 4]


@pytest.mark.parametrize(
    ("kwargs", "kind", "text"),
    [
        ({"copy": 1}, InvalidArgument, "kwargs: expected each argument once, got 'copy' in kwargs and as a keyword"),
        ({3: 1}, InvalidType, "kwargs: expected a dictionary of the environment's arguments, got {3: 1}"),
        ("copy", InvalidType, "kwargs: expected a dictionary of the environment's arguments, got 'copy'"),
        ({"cpy": 1}, InvalidArgument, "Kitchen: unknown argument 'cpy'; did you mean 'copy'? Kitchen takes"),
    ],
)
def test_kwargs_are_a_dictionary_of_arguments_given_once(kwargs, kind, text):
    with pytest.raises(kind) as raised:
        make(Kitchen, copy=2, kwargs=kwargs)
    assert str(raised.value).startswith(text)
    with pytest.raises(kind):
        make_vec(Kitchen, 2, copy=2, kwargs=kwargs)


# --- what others and we ourselves used to write ---

SPELLINGS = {
    "num_workers": (4, "executor=Process(workers=4)"),
    "num_threads": (2, "executor=Thread(threads=2)"),
    "timeout": (9, "executor=Process(timeout=9)"),
    "batch_size": (3, "executor=Process(batch_size=3)"),
    "context": ("spawn", "executor=Process(context='spawn')"),
    "max_restarts": (1, "executor=Process(max_restarts=1)"),
    "on_failure": ("restart", "executor=Process(on_failure='restart')"),
    "copy": (False, "executor=Serial(copy=False), Thread(copy=False) or Process(copy=False)"),
    "statistics": (True, "executor=Kernel(statistics=True)"),
    "threads": (2, "executor=Thread(threads=2) or executor=Kernel(threads=2)"),
    "vectorization_mode": ("async", "executor='process'"),
    "vector_kwargs": ({}, "executor=Serial(…), Thread(…), Process(…) or Kernel(…), which have the options"),
}


@pytest.mark.parametrize("id", ["CartPole-v1", "GridWorld-v0"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_an_option_by_its_old_name_is_told_what_to_write(id, name):
    value, written = SPELLINGS[name]
    with pytest.raises(InvalidArgument) as raised:
        make_vec(id, 2, **{name: value})
    assert str(raised.value).startswith(f"{id}: unknown argument {name!r}; write make_vec(…, {written}")


def test_rules_that_take_any_name_have_the_same_answer():
    with pytest.raises(InvalidArgument, match=r"num_workers.*; write make_vec\(…, executor=Process\(workers=4\)\)$"):
        make_vec(Ruled, 2, num_workers=4)


@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point"])
def test_the_modes_of_gymnasium_have_names_here(mode):
    ours = {"sync": "serial", "async": "process", "vector_entry_point": "kernel"}[mode]
    with pytest.raises(InvalidArgument, match=rf"got '{mode}'; here it is '{ours}'$"):
        make_vec("CartPole-v1", 2, mode)
    with pytest.raises(InvalidArgument, match=rf"write make_vec\(…, executor='{ours}'\)"):
        make_vec("CartPole-v1", 2, vectorization_mode=mode)


def test_a_deadline_is_said_with_the_isolation():
    with pytest.raises(InvalidArgument, match=r"unknown argument 'deadline'; write isolation=Sandbox\(deadlines=5\);"):
        make("GridWorld-v0", deadline=5)
    with make("GridWorld-v0", isolation=Sandbox("process", deadlines=Deadlines(step=5, close=1))) as env:
        assert env.unwrapped.deadlines == Deadlines(step=5, close=1)
    with make("GridWorld-v0", isolation=Sandbox("process", deadlines=4)) as env:
        assert env.unwrapped.deadlines == Deadlines(step=4)
    with make("GridWorld-v0", isolation="process") as env:
        assert env.unwrapped.deadlines == Deadlines()


def test_an_environment_outlives_the_time_of_a_command_unless_limits_were_given():
    box = Sandbox("process", deadlines=4)
    assert resolution.resolve("GridWorld-v0", box).sandbox.policy.limits == Limits(wall=None)
    assert box.policy.limits == Limits()
    given = Sandbox("process", limits=Limits(wall=7.0))
    assert resolution.resolve("GridWorld-v0", given).sandbox is given


# --- every executor is a value ---


@pytest.mark.parametrize(
    ("value", "executor"),
    [
        (Serial(copy=False), "serial"),
        (Thread(threads=2), "thread"),
        (Process(workers=2, timeout=30, batch_size=2, context="fork", max_restarts=1, on_failure="restart"), "process"),
        (Kernel(threads=1, statistics=True), "kernel"),
        ("serial", "serial"),
        ("thread", "thread"),
        ("process", "process"),
        ("kernel", "kernel"),
    ],
)
def test_an_executor_is_a_name_or_a_value_and_never_changes_what_lanes_do(value, executor):
    with make_vec("CartPole-v1", 3, value) as envs, make_vec("CartPole-v1", 3, "serial") as plain:
        assert envs.executor == executor
        assert np.array_equal(envs.reset(seed=3)[0], plain.reset(seed=3)[0])
        assert np.array_equal(envs.step(np.array([0, 1, 0])).observation, plain.step(np.array([0, 1, 0])).observation)


def test_options_of_a_value_arrive():
    with make_vec("CartPole-v1", 3, Process(workers=2, batch_size=1)) as envs:
        assert (envs.num_workers, envs.batch_size) == (2, 1)
    with make_vec("CartPole-v1", 4, Thread(threads=np.int64(2))) as envs:
        assert envs.num_threads == 2
    assert make_vec("CartPole-v1", 2, Kernel(statistics=True)).statistics


def test_an_environment_that_calls_something_rules_is_not_made_of_them():
    class Club(Stub):
        rules = "no running"

    assert make_vec(Club, 2).executor == "serial"


# --- each thing once ---


class Counted(Stub):
    made = 0

    def __init__(self):
        type(self).made += 1


def counted():
    return Counted()


@pytest.mark.parametrize("target", [Counted, counted])
def test_no_environment_is_made_to_be_thrown_away(target):
    Counted.made = 0
    make_vec(target, 3)
    assert Counted.made == 3


def test_one_environment_is_made_for_a_compiled_batch(monkeypatch):
    made = []
    before = Ruled.__init__
    monkeypatch.setattr(Ruled, "__init__", lambda self, **params: (made.append(1), before(self, **params))[1])
    assert make_vec(Ruled, 64).executor == "kernel"
    assert made == [1]


def test_what_was_resolved_goes_to_another_process():
    found = resolution.resolve("GridWorld-v0")
    assert found.creator.name == "GridWorld"
    again = pickle.loads(pickle.dumps(found))
    assert (again.spec, again.creator.call) == (found.spec, found.creator.call)
