"""Reports: counts, text, JSON and the exception that carries them."""

import json
from pathlib import Path

import pytest

from ludus.errors import ContractViolation, LudusError
from ludus.testing import ENV_RULES, SPACE_RULES, WRAPPER_RULES, Finding, Report, check_env
from tests.testing import broken

LONG = "clip the observation to the bounds of observation_space, or widen them, whichever is meant by the author " * 2
ERROR = Finding("error", "observations-in-space", "observation[0]: expected 0 to 1, got 2", LONG.strip())
WARNING = Finding("warning", "boxes-make-sense", "action_space: expected finite bounds, got inf", "bound the actions")


def test_a_report_counts_in_words():
    assert Report("Maze", ("a", "b")).summary == "2 rules, 0 errors, 0 warnings"
    assert Report("Maze", ("a",), (ERROR, WARNING)).summary == "1 rule, 1 error, 1 warning"


def test_only_errors_make_it_not_ok():
    assert Report("Maze", ("a",), (WARNING,)).ok
    assert not Report("Maze", ("a",), (ERROR,)).ok


def test_raise_for_errors_raises_with_every_finding_and_is_quiet_without_errors():
    Report("Maze", ("a",), (WARNING,)).raise_for_errors()
    with pytest.raises(ContractViolation) as raised:
        Report("Maze", ("a",), (WARNING, ERROR)).raise_for_errors()
    assert isinstance(raised.value, LudusError)
    assert WARNING.message in str(raised.value)
    assert ERROR.message in str(raised.value)


def test_the_text_is_a_table_that_cuts_nothing_off():
    report = Report("Maze", ("a", "b"), (ERROR, WARNING), {"c": "one instance only", "d": "one instance only"})
    text = str(report)
    assert text.splitlines()[0] == "Maze: 2 rules, 1 error, 1 warning"
    assert text.splitlines()[1] == "error    observations-in-space"
    assert all(len(line) <= 100 for line in text.splitlines())
    assert " ".join(LONG.split()) in " ".join(text.split())
    assert text.endswith("not checked: one instance only\n         c, d")


def test_json_has_everything():
    report = check_env(broken.FourValues)
    data = json.loads(report.to_json())
    assert data["ok"] is False
    assert (data["errors"], data["warnings"]) == (1, 0)
    assert data["name"] == "FourValues"
    assert data["findings"][0] == {
        "level": "error",
        "rule": "step-returns-five",
        "message": report.findings[0].message,
        "fix": report.findings[0].fix,
    }
    assert data["rules"] == list(report.rules)
    assert data["not_checked"] == dict(report.not_checked)


def test_no_message_names_a_folder_of_the_machine():
    for env in (broken.StepRaisesLater, broken.CloseRaises, broken.ResetRaises):
        assert "/" not in check_env(env).findings[0].message


def test_the_page_lists_every_rule_with_its_law():
    page = Path(__file__).parents[2].joinpath("docs", "testing.md").read_text(encoding="utf8")
    rules = (*ENV_RULES, *SPACE_RULES, *WRAPPER_RULES)
    assert [rule.name for rule in rules if f"| `{rule.name}` | {rule.law} |" not in page] == []
