"""The first environments of the open kind: the contract, the page, the typed echo and its tools."""

import re
from pathlib import Path

import pytest

import ludus
from ludus.envs.open import Echo, EchoAction, EchoObservation, EchoTools
from ludus.envs.open.echo_policies import POLICIES
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from ludus.testing import check_env
from ludus.tools import Call, ToolOutcome, result_of
from tests.envs.open_play import mean_returns, play

ROOT = Path(__file__).resolve().parents[2]
IDS = [spec.id for spec in ludus.list_envs(family="open")]

every_one = pytest.mark.parametrize("name", IDS)


def test_both_forms_are_there():
    assert {"open/Echo-v0", "open/EchoTools-v0"} <= set(IDS)


@pytest.mark.parametrize("name", ["open/Echo-v0", "open/EchoTools-v0"])  # test_contract has all of them
def test_an_environment_keeps_the_contract(name):
    report = check_env(ludus.registry.registry[name])
    assert report.ok, str(report)


@every_one
def test_an_id_is_on_the_overview_and_on_exactly_one_page(name):
    pages = sorted(ROOT.joinpath("docs", "envs").glob("*.md"))
    assert f"`{name}`" in (ROOT / "docs" / "envs.md").read_text(encoding="utf8")
    [page] = [page for page in pages if f"| `{name}` |" in page.read_text(encoding="utf8")]
    text, limit = page.read_text(encoding="utf8"), ludus.spec(name).max_episode_steps
    assert limit is None or re.search(rf"\b{limit} steps", text)


@pytest.mark.parametrize("make", [Echo, EchoTools])
def test_options_are_refused_and_a_reset_is_needed(make):
    env = make()
    with pytest.raises(InvalidArgument, match=f"expected none, since {make.__name__} has no reset options"):
        env.reset(options={"loud": True})
    with pytest.raises(ResetNeeded):
        env.step(env.action_space.sample())


@pytest.mark.parametrize("message", ["", "hello", "é☃", "x" * 8192])
def test_a_message_comes_back_with_its_length(message):
    env = Echo()
    assert env.reset(seed=1) == (EchoObservation(), {})
    step = env.step(EchoAction(message))
    assert step.observation == EchoObservation(message, len(message))
    assert step.reward == pytest.approx(0.1 * len(message))
    assert not step.done
    assert env.state_data() == {"last_message": message, "total_length": len(message)}


@pytest.mark.parametrize("message", [3, None, "x" * 8193])
def test_what_is_no_message_is_refused(message):
    env = Echo()
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match=r"action\.message"):
        env.step(EchoAction(message))


def test_tools_say_the_same():
    env = EchoTools()
    assert env.reset(seed=1) == (ToolOutcome(), {})
    text = env.call("echo_message", message="hello")
    assert (text.observation, text.reward) == (ToolOutcome("echo_message", "hello"), pytest.approx(0.5))
    both = env.call("echo_with_length", message="é")
    assert (result_of(both.observation), both.reward) == ({"message": "é", "length": 1}, pytest.approx(0.1))


def test_an_episode_is_truncated_by_its_time_limit_alone():
    env = ludus.make("open/EchoTools-v0", max_episode_steps=3)
    env.reset(seed=1)
    told = [env.step(Call("echo_message", {"message": "a"})) for _ in range(3)]
    assert [(one.terminated, one.truncated) for one in told] == [(False, False), (False, False), (False, True)]


def test_who_says_most_earns_most_and_nonsense_is_refused():
    means, winners = mean_returns(Echo, POLICIES, most=10)
    assert means["oracle"] > means["random"] > means["nop"] == means["garbage"] == 0.0
    assert winners == set()
    assert play(Echo(), POLICIES["garbage"], seed=0, most=10) == (0.0, None, 10)
