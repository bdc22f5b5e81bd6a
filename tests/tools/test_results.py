"""What tools give: typed results, errors that agents read, faults that they do not, and tools that wait."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated, Any

import jsonschema
import numpy as np
import pytest

import ludus
from ludus.envs.open import EchoTools
from ludus.errors import CodecError, ContractViolation, InvalidArgument, InvalidSpace, InvalidValue, ResetNeeded
from ludus.spaces import Box, Discrete
from ludus.testing import check_env
from ludus.tools import Call, Calls, Tool, ToolEnv, ToolError, ToolOutcome, result_of, tool
from ludus.tools.loop import Loop
from ludus.wrappers import TimeLimit


@dataclass
class Weather:
    degrees: float
    rain: bool = False


class Many(ToolEnv):
    """Tools of all kinds."""

    @tool
    def text(self) -> str:
        """Say what looks like JSON."""
        return '{"a": 1}'

    @tool
    def weather(self, where: str = "here") -> Weather:
        """Look out of the window."""
        return Weather(21.5)

    @tool
    def nothing(self) -> None:
        """Do nothing."""

    @tool
    def vague(self, big: bool = False) -> Any:
        """Return anything."""
        return {"numbers": [1, 2]} if not big else {1, object()}

    @tool
    def picture(self) -> Annotated[np.ndarray, Box(0, 255, (2, 2), np.uint8)]:
        """Draw."""
        return np.eye(2, dtype=np.uint8)

    @tool
    def liar(self) -> int:
        """Promise a number."""
        return "three"  # type: ignore[return-value]

    @tool
    def confused(self) -> dict[str, int]:
        """Promise numbers."""
        return {"a": "b"}  # type: ignore[dict-item]

    @tool
    def long(self, length: int) -> str:
        """Say much."""
        return "x" * length

    @tool
    def broken_text(self) -> str:
        """Say half of a character."""
        return "a\ud800b"

    @tool
    def fail(self, how: Annotated[int, Discrete(4)]) -> str:
        """Fail."""
        raise [ToolError("not now"), ValueError("a bad value"), ToolError(""), KeyError("a fault")][how]


@pytest.fixture
def many():
    env = Many()
    env.reset(seed=1)
    return env


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("text", '{"a": 1}', '{"a": 1}'),
        ("weather", '{"degrees":21.5,"rain":false}', {"degrees": 21.5, "rain": False}),
        ("nothing", "", ""),
        ("vague", '{"numbers":[1,2]}', {"numbers": [1, 2]}),
        ("picture", "[[1,0],[0,1]]", [[1, 0], [0, 1]]),
        ("broken_text", "a?b", "a?b"),
    ],
)
def test_a_result_is_text_or_json_and_says_which(many, name, text, value):
    observation = many.call(name).observation
    assert observation == ToolOutcome(name, text, structured=not isinstance(value, str))
    assert result_of(observation) == value
    assert observation in many.observation_space


def test_a_typed_result_has_a_schema_and_keeps_it(many):
    schema = Many.tools["weather"].output_schema()
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(result_of(many.call("weather").observation), schema)
    assert schema["type"] == "object"
    assert Many.tools["text"].output_schema() is None
    assert Many.tools["vague"].output_schema() is None
    assert Many.tools["nothing"].output_schema() is None


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        (
            "confused",
            {},
            r"result of confused\[.a.\]: expected int, got .b.; it is what the tool's",
        ),
        ("liar", {}, "result of liar: expected int"),
        ("vague", {"big": True}, "result of vague: expected text or what JSON can say"),
        ("long", {"length": 2**20 + 1}, "expected at most 1048576 characters, got 1048577; give it in parts"),
    ],
)
def test_a_result_against_its_annotation_is_a_fault_of_the_environment(many, name, arguments, text):
    with pytest.raises(ContractViolation, match=text):
        many.call(name, **arguments)


def test_long_results_are_in_the_space(many):
    assert many.call("long", length=2**20).observation in many.observation_space


def test_agents_read_the_errors_that_are_meant_for_them(many):
    told = [many.call("fail", how=how).observation.error for how in range(3)]
    assert told == ["not now", "ValueError: a bad value", "ToolError"]


def test_faults_of_the_environment_are_raised(many):
    with pytest.raises(KeyError, match="a fault"):
        many.call("fail", how=3)
    assert many.call("text").observation.error == ""


def test_a_class_says_which_errors_its_agents_read():
    class Lenient(Many):
        told = (*Many.told, KeyError)

    env = Lenient()
    env.reset(seed=1)
    assert env.call("fail", how=3).observation.error == "KeyError: 'a fault'"


def test_all_schemas_are_valid_and_say_what_is_a_call(many):
    for one in (*Many.tools.values(), *EchoTools.tools.values()):
        jsonschema.Draft202012Validator.check_schema(one.input_schema())
    schema = many.action_space.json_schema()
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for _ in range(40):
        call = many.action_space.sample()
        validator.validate(many.action_space.encode(call))
        assert many.action_space.decode(many.action_space.encode(call)) == call
    assert not validator.is_valid({"tool": "long", "arguments": {"length": "north"}})
    assert not validator.is_valid({"tool": "long"})


def test_the_space_tells_strangers_of_results_too(many):
    again = Calls.from_arguments(many.action_space.arguments())
    assert again == many.action_space
    assert again.tools["weather"].output_schema() == Many.tools["weather"].output_schema()
    assert again.tools["vague"].returns is None


def test_docstrings_describe_the_tool_and_its_arguments():
    def move(self, direction: str, far: bool = False, speed: int = 1) -> str:
        """Move.

        There is more to say.

        Args:
            direction: Where to,
                by its name.

            far (bool): Whether
            speed:
                How fast.

        Returns:
            Where you are: a place.
        """

    described = Tool("move", move)
    assert described.description == "Move. There is more to say."
    assert {name: one.description for name, one in described.parameters.items()} == {
        "direction": "Where to, by its name.",
        "far": "Whether",
        "speed": "How fast.",
    }
    assert described.title == "Move"


def test_an_own_method_of_the_environment_cannot_be_a_tool():
    with pytest.raises(InvalidArgument, match="got a tool in place of judge"):

        class Judged(ToolEnv):
            @tool(name="opinion")
            def judge(self, call: str, result: str) -> str:  # type: ignore[override]
                """Say."""
                return call


# --- tools that wait ---


class Waiting(ToolEnv):
    """Async tools."""

    loops: list[Any]
    threads: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.loops, self.threads = [], []

    @tool
    async def wait(self, message: str) -> str:
        """Wait a moment."""
        await asyncio.sleep(0)
        self.loops.append(id(asyncio.get_running_loop()))
        self.threads.append(threading.current_thread().name)
        return message

    @tool(seconds=0.01)
    async def hang(self) -> str:
        """Wait for what never comes."""
        await asyncio.get_running_loop().create_future()
        return "never"

    @tool
    async def own_timeout(self) -> str:
        """Fail as a connection does."""
        raise TimeoutError("of the network")


@pytest.fixture
def waiting():
    with Waiting() as env:
        env.reset(seed=1)
        yield env


def test_async_tools_are_run_in_one_loop(waiting):
    assert [waiting.call("wait", message=text).observation.result for text in "abc"] == ["a", "b", "c"]
    assert len(set(waiting.loops)) == 1


def test_async_tools_run_where_a_loop_runs_already(waiting):
    async def inside():
        return waiting.call("wait", message="hello").observation.result

    assert asyncio.run(inside()) == "hello"


def test_an_async_tool_is_stopped_in_time_and_the_agent_is_told(waiting):
    assert waiting.call("hang").observation.error == "it took longer than 0.01 seconds, and was stopped"
    assert waiting.call("wait", message="again").observation.result == "again"


def test_a_timeout_of_the_tools_own_is_a_fault(waiting):
    with pytest.raises(TimeoutError, match="of the network"):
        waiting.call("own_timeout")


def test_closing_ends_the_thread():
    env = Waiting()
    env.reset(seed=1)
    env.call("wait", message="a")
    [name] = env.threads
    assert name in {one.name for one in threading.enumerate()} or env._loop is not None
    env.close()
    env.close()
    assert env._loop is None


def test_snapshots_leave_the_loop_alone(waiting):
    waiting.call("wait", message="a")
    before = waiting.snapshot()
    waiting.call("wait", message="b")
    waiting.restore(before)
    assert waiting.call("wait", message="c").observation.result == "c"
    assert len(waiting.loops) == 2


# --- with the rest of the library ---


def test_environments_of_all_kinds_of_tools_keep_the_contract():
    class Fair(ToolEnv):
        """Sums."""

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed, options=options)
            self.secret = int(self.np_random.integers(1000))
            return ToolOutcome(result=str(self.secret)), {}

        @tool
        async def add(self, number: Annotated[int, Discrete(100)]) -> dict[str, int]:
            """Add."""
            self.secret += number
            return {"sum": self.secret}

    report = check_env(Fair)
    assert report.ok, str(report)


def test_a_time_limit_truncates():
    env = TimeLimit(EchoTools(), 2)
    env.reset(seed=1)
    call = Call("echo_message", {"message": "a"})
    assert not env.step(call).truncated
    assert env.step(call).truncated


def test_a_new_episode_is_needed_after_the_end():
    env = EchoTools()
    with pytest.raises(ResetNeeded, match="expected reset"):
        env.call("echo_message", message="a")


@pytest.mark.no_cover
def test_tools_work_in_isolation():
    with ludus.make("open/EchoTools-v0", isolation="process") as env:
        env.reset(seed=1)
        step = env.step(Call("echo_with_length", {"message": "hello"}))
        assert result_of(step.observation) == {"message": "hello", "length": 5}
        assert step.reward == pytest.approx(0.5)
        assert env.action_space == EchoTools().action_space
        assert env.action_space.tools["echo_with_length"].input_schema()["required"] == ["message"]


# --- the space, at its edges ---


def test_the_zero_of_a_space_of_calls_is_a_call(many):
    assert many.action_space.default() in many.action_space
    assert EchoTools().action_space.default() == Call("echo_message", {"message": ""})


def test_calls_have_no_probabilities(many):
    with pytest.raises(InvalidSpace, match="expected no probability"):
        many.action_space.sample(probability=[1.0])


def test_a_description_of_no_tools_is_refused():
    with pytest.raises(CodecError, match="expected tools with a name and a description"):
        Calls.from_arguments({"tools": [[3, "", [], None]]})


def test_arguments_are_given_by_name():
    with pytest.raises(InvalidValue, match=r"echo_message: expected arguments by name, got \['a'\]"):
        EchoTools.tools["echo_message"].arguments(["a"])


def test_annotations_have_to_resolve():
    def strange(x: "Nowhere") -> int:  # noqa: F821  # type: ignore[name-defined]
        return x

    with pytest.raises(InvalidSpace, match="expected annotations that resolve, got name 'Nowhere' is not defined"):
        Tool("strange", strange)


def test_a_loop_that_never_ran_ends_too():
    Loop().close()
