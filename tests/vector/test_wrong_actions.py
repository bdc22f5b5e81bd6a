"""A wrong action in one lane moves no lane, whatever the space and the executor."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

from ludus.core import Env, Step
from ludus.errors import InvalidAction
from ludus.remote.host import EnvHost
from ludus.spaces import Box, Dict, Discrete, OneOf, Record, Text, Tuple
from ludus.vector import ProcessVectorEnv, SerialVectorEnv, ThreadVectorEnv
from ludus.wire import SpaceCodec
from ludus.wire.messages import BatchResetRequest, BatchStepRequest


@dataclass
class Brew:
    grams: Annotated[int, Discrete(40)]
    blend: str = "mocha"


class Kettle(Env):
    """Counts its steps, and looks at no action."""

    observation_space = Discrete(1000)

    def __init__(self, space):
        self.action_space, self.steps = space, 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return self.steps, {}

    def step(self, action):
        self.steps += 1
        self.given = action
        return Step(self.steps, 0.0, False, False, {})


def typed():
    return Kettle(Record(Brew))


def written():
    return Kettle(Text(4))


def steered():
    return Kettle(Dict({"force": Box(-1, 1, (2,)), "gear": Discrete(5), "word": Text(4)}))


def paired():
    return Kettle(Tuple((Discrete(5), Box(-1, 1, (2,)))))


def either():
    return Kettle(OneOf((Discrete(5), Text(4))))


FORCES = np.full((3, 2), 7.0, np.float32)  # outside of their bounds, which is for each lane to say
CASES = {
    "a dictionary": (typed, ({"grams": 3}, Brew(1), {"grams": 40}), ({"grams": 3},) * 3, r"action\[2\].grams"),
    "the author's own class": (typed, (Brew(1), Brew(2), Brew(40)), (Brew(1),) * 3, r"action\[2\].grams"),
    "no record at all": (typed, (Brew(1), None, Brew(2)), (Brew(1),) * 3, r"action\[1\]: expected an instance of Brew"),
    "text": (written, ("ab", "cd", "abcde"), ("ab",) * 3, r"action\[2\]"),
    "text that is none": (written, ("ab", 7, "cd"), ("ab",) * 3, r"action\[1\]"),
    "a choice in a dictionary": (
        steered,
        {"force": FORCES, "gear": np.array([0, 5, 1]), "word": ("a", "b", "c")},
        {"force": FORCES, "gear": np.array([0, 4, 1]), "word": ("a", "b", "c")},
        r"action\['gear'\]\[1\]",
    ),
    "text in a dictionary": (
        steered,
        {"force": FORCES, "gear": np.array([0, 4, 1]), "word": ("a", "b", "too long")},
        {"force": FORCES, "gear": np.array([0, 4, 1]), "word": ("a", "b", "c")},
        r"action\['word'\]\[2\]",
    ),
    "a choice in a tuple": (paired, (np.array([0, 1, 9]), FORCES), (np.array([0, 1, 4]), FORCES), r"action\[0\]\[2\]"),
    "one of several": (either, ((0, 1), (1, "a"), (0, 9)), ((0, 1), (1, "a"), (0, 4)), r"action\[2\]"),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)
EXECUTORS = {
    "serial": SerialVectorEnv,
    "thread": lambda makers: ThreadVectorEnv(makers, num_threads=2),
    "process": lambda makers: ProcessVectorEnv(makers, num_workers=2),
}


@EVERY_CASE
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_wrong_action_moves_no_lane(case, executor):
    make, wrong, right, where = CASES[case]
    with EXECUTORS[executor]([make] * 3) as envs:
        envs.reset(seed=0)
        with pytest.raises(InvalidAction, match=where):
            envs.step(wrong)
        assert envs.step(right).observation.tolist() == [1, 1, 1]


@EVERY_CASE
def test_a_wrong_action_of_a_masked_step_moves_no_lane(case):
    make, wrong, right, _ = CASES[case]
    with SerialVectorEnv([make] * 3) as envs:
        envs.reset(seed=0)
        with pytest.raises(InvalidAction, match="action"):
            envs.step_masked(wrong, np.array([False, True, True]))
        assert envs.step_masked(right, np.array([False, True, True])).observation.tolist() == [0, 1, 1]


def test_a_lane_that_stays_may_be_given_anything():
    with SerialVectorEnv([typed] * 2) as envs:
        envs.reset(seed=0)
        assert envs.step_masked((Brew(1), None), np.array([True, False])).observation.tolist() == [1, 0]


def test_lanes_that_are_sent_are_looked_at_first():
    with ProcessVectorEnv([typed] * 3, num_workers=1) as envs:
        envs.reset(seed=0)
        with pytest.raises(InvalidAction, match=r"action\[1\].grams"):
            envs.send((Brew(1), Brew(99)), [0, 2])
        envs.send((Brew(1), Brew(9)), [0, 2])


def test_lanes_get_the_class_of_their_author():
    with SerialVectorEnv([typed] * 3) as envs:
        envs.reset(seed=0)
        envs.step([{"grams": 3.0}, Brew(1), {"grams": 2, "blend": "java"}])
        assert envs.get_attr("given") == (Brew(3), Brew(1), Brew(2, "java"))


@pytest.mark.parametrize("trusted", [False, True])
def test_a_host_that_has_looked_at_actions_leaves_nothing_to_look_at(monkeypatch, trusted):
    envs = SerialVectorEnv([typed] * 3)
    host = EnvHost(envs, trusted=trusted)
    host.answer(BatchResetRequest(0, None))
    actions = SpaceCodec(envs.action_space, "action").write((Brew(1), Brew(2), Brew(3)))
    monkeypatch.setattr(SerialVectorEnv, "_coerced", None)
    host.answer(BatchStepRequest(actions))
    assert envs.get_attr("given") == (Brew(1), Brew(2), Brew(3))
    with pytest.raises(InvalidAction, match=r"action\[0\].grams"):
        host.answer(BatchStepRequest([{"grams": 99}] * 3))


def test_a_host_that_takes_text_as_it_comes_leaves_it_to_the_batch():
    envs = SerialVectorEnv([written] * 2)
    host = EnvHost(envs, trusted=True)
    host.answer(BatchResetRequest(0, None))
    with pytest.raises(InvalidAction, match=r"action\[1\]"):
        host.answer(BatchStepRequest({"$tuple": ["ab", "abcde"]}))
    assert [env.steps for env in envs.envs] == [0, 0]
