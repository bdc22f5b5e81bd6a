"""Reset options that an environment drops without a look are told by the checker, and counted as nothing."""

from typing import Any

import pytest
from typer.testing import CliRunner

import ludus
from ludus.cli.main import app
from ludus.errors import InvalidArgument
from ludus.spaces import Discrete
from ludus.testing import check_env

DROPS = "reset drops options that it does not know without a look"


class Deaf(ludus.Env[int, int]):
    """Takes no options, and says nothing of it."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Discrete(2), Discrete(2)
        self.given: Any = None

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.hear(options)
        return int(self.np_random.integers(2)), {}

    def hear(self, options: Any) -> None:
        """Nothing."""

    def step(self, action: int) -> ludus.Step[int]:
        return ludus.Step.transition(int(self.np_random.integers(2)), 0.0)


class Reader(Deaf):
    def hear(self, options: Any) -> None:
        self.given = (options or {}).get("level", 1)


class Refuser(Deaf):
    def hear(self, options: Any) -> None:
        if set(options or {}) - {"level"}:
            raise InvalidArgument(f"options: expected 'level', got {sorted(options)}")


class Keeper(Deaf):
    def hear(self, options: Any) -> None:
        self.given = options


@pytest.mark.parametrize(("env", "dropped"), [(Deaf, True), (Reader, True), (Refuser, False), (Keeper, False)])
def test_options_that_nobody_looks_at_are_told_and_count_for_nothing(env: type[Deaf], dropped: bool) -> None:
    report = check_env(env)
    assert (DROPS in str(report)) == (DROPS in report.notes.get("options-are-handled", "")) == dropped
    assert not [one for one in report.findings if one.rule == "options-are-handled"]


def test_the_command_prints_what_is_told() -> None:
    result = CliRunner().invoke(app, ["check", f"{__name__}:Deaf", "--steps", "5"], env={"COLUMNS": "300"})
    assert DROPS in " ".join(result.output.split())
