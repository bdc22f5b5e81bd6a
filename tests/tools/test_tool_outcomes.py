"""`judge` of a tool environment may say how an episode went, and not only that it is over."""

import pytest

from ludus.core import Outcome
from ludus.tools import ToolEnv, tool


class Safe(ToolEnv):
    """A safe with three digits, of which one is right."""

    @tool
    def dial(self, digit: int) -> str:
        """Dial a digit."""
        return {7: "open", 8: "alarm", 9: "tired"}.get(digit, "click")

    def judge(self, call, result):
        ends = {"open": Outcome.SUCCESS, "alarm": "failure", "tired": Outcome.BUDGET}
        return (1.0 if result == "open" else 0.0), ends.get(result, False)


@pytest.mark.parametrize(
    ("digit", "flags", "info"),
    [
        (1, (False, False), {}),
        (7, (True, False), {"outcome": "success"}),
        (8, (True, False), {"outcome": "failure"}),
        (9, (False, True), {"outcome": "budget"}),
    ],
)
def test_a_judge_says_how_it_went(digit, flags, info):
    env = Safe()
    env.reset(seed=0)
    step = env.call("dial", digit=digit)
    assert (step[2:4], step.info) == (flags, info)
