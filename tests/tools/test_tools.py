"""Tools: methods as typed calls, and the space of them."""

from typing import Annotated, Literal

import pytest

from ludus.errors import (
    CodecError,
    InvalidAction,
    InvalidArgument,
    InvalidSpace,
    InvalidType,
    InvalidValue,
    ResetNeeded,
)
from ludus.spaces import Discrete, Space
from ludus.testing import check_env, check_space
from ludus.tools import Call, Calls, Tool, ToolEnv, ToolOutcome, result_of, tool, tools_of


class Shop(ToolEnv):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.stock = int(self.np_random.integers(2, 5))
        return ToolOutcome(result="open"), {}

    @tool
    def buy(self, item: Literal["tea", "milk"], count: Annotated[int, Discrete(4, start=1)] = 1) -> dict[str, int]:
        """Buy something.

        Longer words.

        Args:
            item: What to buy,
                of what there is.
            count (int): How many.

        Returns:
            What is left.
        """
        if count > self.stock:
            raise ValueError(f"only {self.stock} left")
        self.stock -= count
        return {item: self.stock}

    @tool(name="look_around")
    def look(self) -> str:
        """See what is there."""
        return f"{self.stock} pieces"

    def judge(self, call, result):
        return (1.0, self.stock == 0) if call.tool == "buy" else (0.0, False)


def test_a_schema_says_all_that_a_caller_needs():
    schema = Shop.tools["buy"].input_schema()
    assert schema["required"] == ["item"]
    assert schema["properties"]["item"]["description"] == "What to buy, of what there is."
    assert schema["properties"]["count"]["default"] == 1
    assert schema["properties"]["count"]["description"] == "How many."
    assert schema["additionalProperties"] is False
    assert Shop.tools["buy"].description == "Buy something. Longer words."
    assert list(Shop.tools) == ["buy", "look_around"]


def test_calls_are_steps():
    env = Shop()
    env.reset(seed=3)
    stock = env.stock
    step = env.call("buy", item="tea")
    assert step.observation == ToolOutcome("buy", f'{{"tea":{stock - 1}}}', structured=True)
    assert result_of(step.observation) == {"tea": stock - 1}
    assert (step.reward, step.terminated) == (1.0, False)
    assert env.step(Call("look_around")).observation.result == f"{stock - 1} pieces"
    last = env.call("buy", item="milk", count=stock - 1)
    assert last.terminated
    with pytest.raises(ResetNeeded, match="expected reset"):
        env.call("look_around")


def test_an_error_of_the_tool_is_an_observation():
    env = Shop()
    env.reset(seed=3)
    env.stock = 1
    step = env.call("buy", item="tea", count=4)
    assert step.observation.error == "ValueError: only 1 left"
    assert env.stock == 1
    assert not step.terminated


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Call("steal"), r"action\.tool: expected one of buy, look_around, got 'steal'"),
        (Call("buy"), "expected the arguments item, count, got no item"),
        (Call("buy", {"item": "tea", "price": 3}), "got 'price'"),
        (Call("buy", {"item": "gold"}), r"action\.arguments\.item: expected one of \['tea', 'milk'\], got 'gold'"),
        (Call("buy", {"item": "tea", "count": 9}), r"action\.arguments\.count: expected Discrete\(4, start=1\), got 9"),
        (Call("look_around", {"far": True}), "expected the arguments of nothing, got 'far'"),
        (Call("buy", "tea"), r"expected a Call\(tool, arguments\)"),
        ("buy", r"expected a Call\(tool, arguments\)"),
    ],
)
def test_wrong_calls_are_refused_before_anything_happens(action, text):
    env = Shop()
    env.reset(seed=3)
    stock = env.stock
    with pytest.raises(InvalidAction, match=text):
        env.step(action)
    assert env.stock == stock


def test_the_space_of_calls_travels_without_the_code():
    space = Shop().action_space
    again = Space.from_json(space.to_json()) if hasattr(Space, "from_json") else Calls.from_arguments(space.arguments())
    assert again == space
    assert again.tools["buy"].input_schema() == space.tools["buy"].input_schema()
    call = Call("buy", {"item": "tea", "count": 2})
    assert again.decode(space.encode(call)) == call
    with pytest.raises(InvalidValue, match="gold"):
        again.tools["buy"].arguments({"item": "gold"})


@pytest.mark.parametrize(
    "data",
    [None, {}, {"tool": "steal"}, {"tool": 3}, {"tool": "buy", "arguments": []}, {"tool": "buy", "x": 1},
     {"tool": "buy", "arguments": {"price": 1}}, {"tool": "buy", "arguments": {"item": "gold"}}],
)  # fmt: skip
def test_data_that_is_no_call_is_refused(data):
    with pytest.raises(CodecError):
        Shop().action_space.decode(data)


def test_samples_are_calls_and_repeat():
    first, second = (Calls(Shop.tools, seed=5) for _ in range(2))
    drawn = [first.sample() for _ in range(20)]
    assert drawn == [second.sample() for _ in range(20)]
    assert {one.tool for one in drawn} == {"buy", "look_around"}
    assert all(one in first for one in drawn)
    assert all(first.sample(mask=("look_around",)).tool == "look_around" for _ in range(5))
    with pytest.raises(InvalidSpace, match="expected a mask that names one of"):
        first.sample(mask=("nothing",))


def make_shop() -> Shop:
    return Shop()


def with_default(count: int = "three") -> int:  # type: ignore[assignment]
    return count


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tools_of(type("A", (), {"f": tool(lambda self, x: x)})), InvalidArgument, "expected a name"),
        (lambda: Tool("f", lambda x: x), InvalidSpace, r"f\.x: expected an annotation, got none"),
        (lambda: Tool("step", lambda: 0), InvalidArgument, "expected a name of letters"),
        (lambda: Tool("f", lambda *xs: xs), InvalidSpace, "expected arguments that can be given by name"),
        (lambda: tool(3), InvalidType, "tool: expected a method"),
        (lambda: tool(staticmethod(len)), InvalidType, "tool: expected a method"),
        (lambda: tool(int), InvalidType, "tool: expected a method"),
        (
            lambda: tools_of(type("A", (), {"f": staticmethod(tool(make_shop))})),
            InvalidType,
            r"A\.f: expected a method",
        ),
        (lambda: tool(seconds=3)(make_shop), InvalidArgument, "expected seconds above 0 for an async method, got 3"),
        (lambda: Tool("f", with_default), InvalidSpace, r"default of f\.count: expected int, got 'three'"),
        (lambda: Calls({}), InvalidSpace, "expected at least one tool"),
    ],
)
def test_what_cannot_be_a_tool_says_why(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_tools_are_inherited_and_overridden():
    class Bigger(Shop):
        @tool
        def buy(self, item: str) -> str:
            """Buy anything."""
            return item

        @tool
        def sell(self, item: str) -> str:
            """Sell it back."""
            return item

    assert list(Bigger.tools) == ["buy", "look_around", "sell"]
    assert list(Bigger.tools["buy"].parameters) == ["item"]


def test_a_method_that_overrides_a_tool_is_the_tool():
    class Dearer(Shop):
        def buy(self, item: str) -> str:
            """Buy at a price."""
            return f"{item} for twice the price"

    env = Dearer()
    env.reset(seed=3)
    assert env.call("buy", item="gold").observation.result == "gold for twice the price"
    assert Dearer.tools["buy"].description == "Buy at a price."


def test_a_tool_can_be_taken_away():
    class Closed(Shop):
        buy = None

    assert list(Closed.tools) == ["look_around"]


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(InvalidArgument, match="'buy' twice"):

        class Twice(Shop):
            @tool(name="buy")
            def purchase(self, item: str) -> str:
                """Buy."""
                return item


def test_an_environment_of_tools_keeps_the_contract():
    assert check_env(Shop).ok, check_env(Shop)
    assert check_space(Calls(Shop.tools)).ok, check_space(Calls(Shop.tools))


class Meanwhile:
    """Stands in a field of a tool; when that is copied, the tool is used for the first time, as by another thread."""

    def __init__(self, field):
        self.field = field

    def __deepcopy__(self, memo):
        assert self.field.space is not None
        return self


def test_an_environment_is_made_while_another_thread_first_uses_a_tool_of_its_class():
    class Shop(ToolEnv):
        @tool
        def buy(self, item: str, count: int = 1, price: float = 0.5, paid: bool = True) -> str:
            """Buy something."""
            return f"{count} {item}"

    for one in Shop.tools["buy"].parameters.values():
        vars(one.type).update(meanwhile=Meanwhile(one.type))
    space = Shop().action_space
    assert Call("buy", {"item": "tea"}) in space
    assert all("space" in vars(one.type) for one in Shop.tools["buy"].parameters.values())
