"""Environments as TRL takes them; `test_trl_peers.py` has TRL itself."""

import gc
import inspect
import re
from dataclasses import dataclass
from typing import get_args, get_origin, get_type_hints

import pytest

import ludus
from ludus.core import Env, Outcome, Step
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, ResetNeeded
from ludus.interop.trl import dataset_rows, environment_factory
from ludus.spaces import Record
from ludus.tools import ToolEnv, action_tools, tool
from tests.interop.open_twelve import TWELVE

PLAIN = (int, float, str, bool, dict, list, type(None))
"""What transformers makes a schema of, beside lists, unions and literals of them."""


def tools_of(env):
    """What GRPOTrainer takes for tools: by its class in TRL 1.16, by the object before; both find the same."""
    by_class = [name for name, _ in inspect.getmembers(type(env), predicate=inspect.isfunction)]
    by_object = [name for name, _ in inspect.getmembers(env, predicate=inspect.ismethod)]
    assert by_class == by_object
    return {name: getattr(env, name) for name in by_class if name[0] != "_" and name not in ("reset", "get_reward")}


def check_described(method):
    """As `transformers.utils.get_json_schema` wants it: annotations of known kinds, each argument under `Args:`."""
    doc, hints = inspect.getdoc(method), get_type_hints(method)
    described = dict(re.findall(r"^    (\w+): (.+)$", doc.partition("Args:\n")[2].partition("\n\n")[0], re.MULTILINE))
    signature = inspect.signature(method)
    assert set(described) == set(signature.parameters) == set(hints) - {"return"}
    assert doc.splitlines()[0].strip()
    assert all(one.annotation is not inspect.Parameter.empty for one in signature.parameters.values())
    for hint in hints.values():
        for one in get_args(hint) or (hint,):
            assert get_origin(hint) is not None or one in PLAIN


@pytest.mark.parametrize("name", TWELVE)
def test_each_of_the_twelve_is_an_environment_for_a_trainer(name):
    called, arguments = TWELVE[name]
    env = environment_factory(name)()
    told = env.reset(seed=7, prompt=[{"role": "user", "content": ""}], answer="a column that is none of ours")
    assert isinstance(told, str)
    assert told
    tools = tools_of(env)
    for one in tools.values():
        check_described(one)
    answer = tools[called](**arguments)
    assert isinstance(answer, str)
    assert env.steps == 1
    assert env.get_reward() == env.reward
    with pytest.raises((InvalidAction, ResetNeeded)):
        tools[called](**{**arguments, "nonsense": 1})
    assert env.reset(seed=7) == told


def test_each_kind_of_an_action_is_a_method():
    tools = tools_of(environment_factory("open/Git-v0")())
    assert set(tools) == {
        "list_repos", "clone_repo", "execute_git_command", "read_file", "write_file", "list_files", "submit",
    }  # fmt: skip
    assert "content: Everything that shall be in it." in tools["write_file"].__doc__
    assert str(inspect.signature(tools["read_file"])) == "(*, path: str, working_dir: str = '') -> str"


def test_rows_of_one_seed_begin_one_episode_and_others_another():
    factory = environment_factory("open/Chat-v0")
    rows = dataset_rows(factory, 8)
    assert rows == dataset_rows(factory, 8)
    assert rows[0]["prompt"][0]["content"].startswith("Find out what a user wants")
    one, other = factory(), factory()
    assert one.reset(**rows[0]) == other.reset(**rows[0])
    assert len({one.reset(**row) for row in rows}) > 1


def test_an_episode_that_ended_says_how_and_takes_no_more_calls():
    env = environment_factory("open/Chat-v0", kwargs={"scenario": "debug_router"})()
    env.reset(seed=0)
    assert "The episode is over" not in env.say(message="Which light do you see?")
    assert env.say(message="ACT fix cause=dns").endswith("The episode is over: success.")
    assert (env.done, env.outcome, env.reward > 0.9) == (True, Outcome.SUCCESS, True)
    with pytest.raises(ResetNeeded, match=r"say: the episode is over: success; no more tools can be called"):
        env.say(message="hello?")
    env.reset(seed=0)
    assert (env.done, env.outcome, env.reward, env.get_reward()) == (False, None, 0.0, 0.0)


def test_a_conversation_is_told_from_where_it_was():
    env = environment_factory("open/Chat-v0", kwargs={"scenario": "debug_router"}, fields=("messages",))()
    first = env.reset(seed=0)
    then = env.say(message="Which light do you see?")
    assert first.startswith("messages:\nsystem: You serve a customer.")
    assert "You serve" not in then
    assert "user: It is green" in then


@dataclass
class PressAction:
    key: str


class Failing(Env[str, PressAction]):
    """Its engine is gone at the second step."""

    def __init__(self):
        self.action_space, self.observation_space = Record(PressAction), ludus.spaces.Text(9, min_length=0)
        self.closed = False
        MADE.append(self)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return "go", {}

    def step(self, action):
        self.steps += 1
        if self.steps > 1:
            raise OSError("the engine is gone")
        return Step("on", 0.5, False, False, {})

    def close(self):
        self.closed = True


MADE = []


def test_a_fault_is_no_reward():
    env = environment_factory(Failing)()
    assert env.reset() == "go"
    assert env.press(key="a") == "on"
    with pytest.raises(OSError, match="the engine is gone"):
        env.press(key="a")
    assert (env.done, env.outcome, env.get_reward()) == (True, Outcome.ENVIRONMENT_FAILED, None)
    env.reset()
    assert env.get_reward() == 0.0


def test_an_environment_is_closed_with_the_last_use_of_it():
    env = environment_factory(Failing)()
    inner = MADE[-1]
    assert not inner.closed
    del env
    gc.collect()
    assert inner.closed


def test_tools_of_an_environment_of_tools_are_its_methods():
    class Shop(ToolEnv):
        """Buy tea."""

        @tool
        def buy(self, item: str, count: int = 1) -> str:
            """Buy something.

            Args:
                item: What.
                count: How many.
            """
            return f"{count} × {item}"

        def judge(self, call, result):
            return 1.0, True

    env = environment_factory(Shop)()
    env.reset()
    check_described(env.buy)
    assert env.buy(item="tea") == "1 × tea\nThe episode is over."
    assert env.get_reward() == 1.0
    assert type(env).__name__ == "Shop"


def test_pictures_come_before_the_text_for_models_that_see():
    env = environment_factory("open/Atari-v0", images=True, fields=("lives",))()
    picture, text = env.reset(seed=0)
    assert (picture["type"], picture["image"].size[0] > 100) == ("image", True)
    assert text == {"type": "text", "text": "lives: 0"}


def test_an_address_is_an_environment_too():
    with ludus.serve("open/Connect4-v0", port=0, block=False) as server:
        env = environment_factory(server.url)()
        here = environment_factory("open/Connect4-v0")()
        assert env.reset(seed=4) == here.reset(seed=4)
        assert env.connect4(column=2) == here.connect4(column=2)
        del env
        gc.collect()


def test_what_cannot_be_used_is_refused_with_what_to_do():
    with pytest.raises(InvalidType, match="typed actions or tools, got CartPole-v1"):
        environment_factory("CartPole-v1")
    with pytest.raises(InvalidArgument, match=r"fields: expected some of \['board', 'legal_actions'\], got \['bord'\]"):
        environment_factory("open/Connect4-v0", fields=["bord"])
    with pytest.raises(InvalidType, match="expected an id, an address or a function, got 3"):
        environment_factory(3)


def test_an_author_who_says_nothing_of_a_model_gets_no_signature_for_a_description_and_no_nan_for_a_number():
    @dataclass
    class Push:
        force: float | None = None

    tools = action_tools(Record(Push))
    assert tools["push"].description == "Take a Push."
    assert tools["push"].parameters["force"].description == "a number or nothing"
