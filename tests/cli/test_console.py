"""What third parties wrote is shown as text: it neither commands the terminal, nor styles a line, nor breaks it."""

from types import SimpleNamespace

import pytest
from rich.table import Table

from ludus.cli.console import err, out, say

HOSTILE = [
    "\x1b]0;title\x07",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x9b31m",
    "[/]",
    "[/nothing]",
    "[red]x",
    "[link=http://x]y",
    "\u202eevil",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("console", [out, err])
def test_a_line_and_a_cell_show_it_and_do_nothing(console, text):
    table = Table("name", text)
    table.add_row(text, "plain")
    with console.capture() as shown:
        console.print(f"a {text} b")
        console.print(table)
    assert not set(shown.get()) & set("\x1b\x07\x9b\u202e")
    for part in ("[/]", "[red]", "[link=http://x]"):
        assert part not in text or part in shown.get()


def test_what_a_task_says_is_text(monkeypatch):
    """A call of a model with brackets in it ended the command with an error of the library that prints."""
    from ludus.cli import task_runs

    def run_task(task, agent, seed, *, options, watch):
        watch(SimpleNamespace(tool="shell", arguments={"command": "ls [/tmp] \x1b[2J"}), SimpleNamespace(reward=0.0))
        score = {"value": 1, "reason": "[/]"}
        return SimpleNamespace(outcome="success", total=1.0, score=score)

    monkeypatch.setattr(task_runs, "run_task", run_task)
    with out.capture() as shown:
        task_runs.run_agent(["tabular_regression"], agent=["baseline"])
    assert "shell ls [/tmp] " in shown.get()
    assert "\x1b" not in shown.get()


def test_a_warning_is_text(capsys):
    say("[/] \x1b[2J", "yellow")
    assert "[/]" in capsys.readouterr().err
