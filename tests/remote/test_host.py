"""An environment with its episode, as the protocols use it; and what is on offer."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ludus
from ludus.core import Env, Step
from ludus.errors import ContractViolation, InvalidArgument, ResetNeeded, SandboxError, SnapshotError
from ludus.remote.host import EnvHost, HostStep
from ludus.server.config import ServerConfig
from ludus.server.failures import error_reply, status_of
from ludus.server.served_env import ServedEnv
from ludus.spaces import Discrete
from ludus.wire.failures import is_infrastructure
from ludus.wire.messages import (
    ResetRequest,
    StepRequest,
)
from tests.server.wired_worlds import Film, Gate


@pytest.fixture
def hosted() -> Iterator[EnvHost]:
    found = EnvHost(ludus.make("CartPole-v1"))
    yield found
    found.close()


def test_an_episode_has_a_name_and_counts_its_steps(hosted: EnvHost) -> None:
    with pytest.raises(ResetNeeded, match=r"expected reset\(\) first"):
        hosted.step(0)
    first = hosted.reset(seed=0)
    assert (first.reward, first.done, hosted.done, hosted.step_count) == (None, False, False, 0)
    name = hosted.episode_id
    assert isinstance(name, str)
    assert len(name) == 36
    outcome = hosted.step(1)
    assert type(outcome) is HostStep
    assert (hosted.last, hosted.step_count, outcome.infrastructure) == (outcome, 1, False)
    hosted.reset(episode_id="mine")
    assert hosted.state() | {"x": 0} == hosted.state() | {"x": 0, "episode_id": "mine", "step_count": 0}
    while not hosted.step(1).done:
        pass
    assert hosted.done


@pytest.mark.parametrize("name", ["", "x" * 256, 7, ["a"]])
def test_names_of_episodes_are_checked(hosted: EnvHost, name: Any) -> None:
    with pytest.raises(InvalidArgument, match="episode_id: expected text of 1 to 255 characters"):
        hosted.reset(episode_id=name)
    assert hosted.episode_id is None


class Torn(Env[Any, Any]):
    """Gives what nobody may give."""

    observation_space = action_space = Discrete(3)

    def __init__(self, first: Any = (0, {}), then: Any = None) -> None:
        self.first, self.then = first, then

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return self.first

    def step(self, action: Any) -> Any:
        return self.then


@pytest.mark.parametrize("first", [None, 0, (0,), (0, {}, 1), (0, [1]), (object(), {}), (0, {"hook": print})])
def test_a_reset_that_is_none_is_the_environments_fault(first: Any) -> None:
    with pytest.raises(ContractViolation) as caught:
        EnvHost(Torn(first)).answer(ResetRequest(None, None))
    assert is_infrastructure(caught.value)


@pytest.mark.parametrize(
    "then",
    [
        None,
        (0, 1.0, False, False),
        (0, "much", False, False, {}),
        (0, 1.0, 2, False, {}),
        (0, 1.0, False, None, {}),
        (0, 1.0, False, False, [1]),
        (0, 1.0, False, False, {"hook": print}),
        (object(), 1.0, False, False, {}),
    ],
)
def test_a_step_that_is_none_is_the_environments_fault(then: Any) -> None:
    hosted = EnvHost(Torn(then=then))
    hosted.reset()
    with pytest.raises(ContractViolation):
        hosted.answer(StepRequest(0))


@pytest.mark.parametrize("reward", [1, 2.5, np.float32(0.5), np.int64(3), np.array(2.0)])
def test_rewards_that_are_numbers_travel(reward: Any) -> None:
    hosted = EnvHost(Torn(then=Step(0, reward, np.True_, False, {})))
    hosted.reset()
    assert hosted.answer(StepRequest(0)).terminated is True
    assert hosted.done is True


def test_a_reset_that_gives_what_is_not_in_the_space_begins_no_episode() -> None:
    hosted = EnvHost(Torn((7, {}), (0, 0.0, False, False, {})))
    with pytest.raises(ContractViolation, match="observation: expected Discrete"):
        hosted.reset()
    assert hosted.episode_id is None
    with pytest.raises(ResetNeeded):
        hosted.step(0)


def test_snapshots_hold_the_episode_too(hosted: EnvHost) -> None:
    hosted.reset(seed=3, episode_id="one")
    number = hosted.keep()
    first = hosted.step(1)
    hosted.reset(seed=4, episode_id="two")
    hosted.adopt(hosted.kept(number))
    assert (hosted.episode_id, hosted.step_count) == ("one", 0)
    again = hosted.step(1)
    assert (again.observation == first.observation).all()
    taken = hosted.dropped(number)
    with pytest.raises(SnapshotError):
        hosted.kept(number)
    hosted.adopt(taken)
    assert hosted.step_count == 0


def test_a_batch_tells_the_state_of_its_lanes_where_they_have_one() -> None:
    with ludus.make_vec(Gate, 2) as envs:
        hosted = EnvHost(envs)
        hosted.reset(seed=0)
        hosted.step([0, 0])
        assert hosted.state()["lanes"] == [{"tries": 1}] * 2
        assert hosted.state(private=True)["lanes"][0]["answer"] == "a candle"
        assert not hosted.can_interrupt
        assert hosted.interrupt() is False
    with ludus.make_vec("CartPole-v1", 2) as envs:
        hosted = EnvHost(envs)
        hosted.reset(seed=0)
        assert set(hosted.state()) == {"episode_id", "step_count"}


def test_options_that_the_environment_does_not_look_at_are_refused() -> None:
    hosted = EnvHost(ludus.make(Gate))
    with pytest.raises(InvalidArgument, match="which it did not look at"):
        hosted.reset(options={"nothing": 1})


class Lying(Env[int, int]):
    """Gives what its spaces do not promise."""

    observation_space, action_space = Discrete(5), Discrete(2)
    gives: Any = Step.transition(1, 0.0)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> Step[int]:
        return self.gives


@pytest.mark.parametrize(
    ("gives", "words"),
    [
        (Step.transition(99, 0.0), r"observation: expected Discrete\(5\), got 99"),
        (Step.transition(1, float("nan")), "step reward: expected a finite number, got nan"),
        (Step.transition(1, "much"), "step reward: expected a number, got 'much'"),
        (Step(1, 0.0, "no", False, {}), "step terminated: expected a bool, got 'no'"),
    ],
)
def test_what_the_environment_gives_is_held_to_its_spaces_by_value_and_on_the_wire(gives: Any, words: str) -> None:
    env = Lying()
    env.gives = gives
    hosted = EnvHost(env)
    hosted.reset()
    with pytest.raises(ContractViolation, match=words):
        hosted.step(0)
    with pytest.raises(ContractViolation, match=words):
        hosted.answer(StepRequest(0))


def test_what_is_in_isolation_is_described_by_its_own_name() -> None:
    told = ServedEnv("CartPole-v1").description()
    assert (told.name, told.render_mode) == ("CartPole", None)
    assert "pole" in told.doc
    served = ServedEnv("CartPole-v1", config=ServerConfig(isolation="process"))
    assert served.described is None
    told = served.description()
    assert served.described is told
    assert (served.isolated, told.name) == (True, "CartPole")
    assert "SandboxedEnv" not in told.doc


def test_an_environment_that_names_a_mode_and_does_not_take_it_is_served_without_pictures() -> None:
    class Blind(Film):
        def __init__(self) -> None:
            super().__init__()

    served = ServedEnv(Blind, "blind")
    served.description()
    for _ in range(2):
        with served.make() as env:
            assert env.render_mode is None
    with_pictures = ServedEnv(Film, "film")
    with_pictures.description()
    assert with_pictures.make().render_mode == "rgb_array"


# --- failures ---


def test_whose_fault_it_was_is_told() -> None:
    ours = [ZeroDivisionError(), SandboxError("x"), ContractViolation("x"), ludus.errors.SessionLost("x")]
    theirs = [ludus.errors.InvalidAction("x"), ResetNeeded("x"), InvalidArgument("x"), SnapshotError("x")]
    assert [error_reply(one).infrastructure for one in (*ours, *theirs)] == [True] * 4 + [False] * 4
    assert error_reply(ludus.errors.EnvError("Env: ValueError: raised in a sandbox")).infrastructure
    assert [status_of(one) for one in (*theirs, ludus.errors.AccessDenied("x"))] == [422, 409, 422, 409, 403]


def test_a_trace_is_for_those_who_may_see_it_and_only_of_code_that_failed() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0
    assert "Traceback" in error_reply(caught.value, trace=True).trace
    assert error_reply(caught.value).trace == ""
    assert error_reply(InvalidArgument("no"), trace=True).trace == ""
