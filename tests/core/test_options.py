"""Reset options: what nobody looks at is known, so that nothing is dropped in silence."""

from copy import deepcopy

import pytest

import ludus
from ludus import Step
from ludus.core.options import TrackedOptions
from ludus.errors import InvalidArgument
from ludus.server.protocols.memory import LocalServer
from ludus.spaces import Discrete
from ludus.wrappers import ContractWarning

READINGS = {
    "get": lambda options: options.get("size"),
    "item": lambda options: options["size"],
    "in": lambda options: "size" in options,
    "pop": lambda options: options.pop("size"),
    "items": lambda options: list(options.items()),
    "keys": lambda options: list(options.keys()),
    "values": lambda options: list(options.values()),
    "loop": list,
    "dict": dict,
    "keywords": lambda options: dict(**options),
    "or": lambda options: {} | options,
    "copy": lambda options: options.copy(),
    "deepcopy": deepcopy,
    "equal": lambda options: options == {"size": 3},
    "repr": repr,
    "text": str,
    "setdefault": lambda options: options.setdefault("size", 1),
}


@pytest.mark.parametrize("how", READINGS)
def test_whatever_looks_at_an_option_is_seen(how):
    options = TrackedOptions({"size": 3})
    assert options.dropped() == ["size"]
    READINGS[how](options)
    assert options.dropped() == []


def test_asking_whether_there_are_any_is_no_look():
    options = TrackedOptions({"size": 3, "level": 2})
    assert options
    assert len(options) == 2
    assert options["level"] == 2
    assert options.dropped() == ["size"]


def test_whoever_keeps_the_dictionary_may_look_later():
    options = TrackedOptions({"size": 3})
    options.lend()
    kept = [options]
    found = options.dropped()
    kept.clear()
    then = options.dropped()
    assert (found, then) == ([], ["size"])


class Careless(ludus.Env):
    """As somebody's first environment is: it takes options, and forgets about them."""

    observation_space = action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return Step.transition(action, 0.0)


class Careful(Careless):
    def reset(self, *, seed=None, options=None):
        level = (options or {}).get("level", 0)
        return super().reset(seed=seed)[0], {"level": level}


def test_make_warns_of_options_that_nobody_looked_at():
    env = ludus.make(Careless)
    with pytest.warns(ContractWarning, match=r"reset options: expected to be read or refused, got \['level'\]"):
        env.reset(options={"level": 3})
    assert ludus.make(Careful).reset(options={"level": 3})[1] == {"level": 3}


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_an_environment_elsewhere_refuses_what_it_does_not_look_at(isolation):
    target = "tests.core.test_options:Careless"
    with ludus.make(target, isolation=isolation) as env:
        if isolation != "none":
            with pytest.raises(InvalidArgument, match="got 'level', which it did not look at"):
                env.reset(options={"level": 3})
        env.reset(options={})
    with LocalServer(Careless) as server, ludus.connect(server) as remote:
        with pytest.raises(InvalidArgument, match="got 'level', which it did not look at"):
            remote.reset(options={"level": 3})
        remote.reset()
