"""Typed spaces are loaded when they are used, by whatever way one comes to them."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from ludus.spaces import Record, to_json
from ludus.tools import Calls, tool, tools_of

FIRST = """
import sys, ludus
assert not {"decimal", "uuid", "msgspec", "ludus.spaces.record", "ludus.tools"} & sys.modules.keys()
"""


@dataclass
class Berth:
    number: int
    name: str = "quay"


class Harbour:
    @tool
    def moor(self, berth: Berth, knots: int = 3) -> str:
        """Moor."""


WAYS = {
    "from its description": f"""
from ludus.spaces import from_json
assert from_json({to_json(Record(Berth))!r}).sample().name is not None
""",
    "by its name": """
from dataclasses import dataclass
from ludus.spaces import Record
assert "Record" in dir(ludus.spaces) and ludus.spaces.Scalar("uuid").default().int == 0
""",
    "as calls that a stranger describes": f"""
from ludus.spaces.message import read_json
from ludus.wire import read_space
space = read_space(read_json({to_json(Calls(tools_of(Harbour)))!r}, "space"))
assert space.coerce({{"tool": "moor", "arguments": {{"berth": {{"number": 3}}}}}}).arguments["berth"].number == 3
""",
    "as a parameter of a tool": """
from dataclasses import dataclass
from ludus.tools import Calls, tool, tools_of

@dataclass
class Berth:
    number: int

class Harbour:
    @tool
    def moor(self, berth: Berth) -> str:
        "Moor."

assert Calls(tools_of(Harbour)).sample().tool == "moor"
""",
    "as the state that is shown": """
from datetime import date
from ludus.core.state import state_data
assert state_data({"day": date(2030, 1, 2)}) == {"day": "2030-01-02"}
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_typed_spaces_are_loaded_when_they_are_used(way):
    # Whoever measures coverage loads modules of its own first.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    program = [sys.executable, "-c", FIRST + WAYS[way]]
    done = subprocess.run(program, env=plain, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
