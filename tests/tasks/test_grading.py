"""Grading: what is copied out, what comes back, and what submitted code can do about it."""

import os

import numpy as np
import pytest

from ludus.tasks import TaskEnv, find_task
from ludus.tasks.audit import CHEATS, audit_task
from ludus.tasks.grading.score import scored
from ludus.tasks.grading.submission import SubmissionError, copy_submission
from ludus.tasks.spec import EvaluationSpec, SubmissionFile, TaskSpec
from ludus.tools import Call
from tests.tasks.conftest import TASK, write_folder

CODE_TASK = (
    TASK.replace("Parity-v0", "Code-v0")
    .replace("answer.json, format: json", "answer.py, format: python")
    .replace("read_only: [rules.txt]\n", "")
)
CODE_GRADER = """
import json

from ludus.tasks.inside.case import Case


def grade(case):
    right = json.loads((case.hidden / "answers.json").read_text())
    numbers = json.loads((case.data / "numbers.json").read_text())
    with case.program("answer.py", seconds=3) as program:
        given = program.call_each("even", [(one,) for one in numbers])
        counter = program.make("Counter")
        assert [counter.call("next"), counter.call("next")] == [1, 2]
    return sum(one is other for one, other in zip(given, right)) / len(right)
"""
CODE = """
class Counter:
    count = 0

    def next(self):
        self.count += 1
        return self.count


def even(number):
    return None
"""


@pytest.fixture(scope="module")
def code_task(tmp_path_factory):
    """A task that asks for code."""
    files = {"task.yaml": CODE_TASK, "grader.py": CODE_GRADER, "starter/answer.py": CODE}
    files |= {"baseline/answer.py": CODE.replace("return None", "return number < 500")}
    files |= {"reference/answer.py": CODE.replace("return None", "return number % 2 == 0")}
    return write_folder(tmp_path_factory.mktemp("code"), **files)


def spec_of(path, **fields):
    file = SubmissionFile(path=path, **fields)
    return TaskSpec(id="A", name="", description="", evaluation=EvaluationSpec(metric="accuracy"), submission=(file,))


def make_npy(path, array):
    np.save(path, array, allow_pickle=True)


@pytest.mark.parametrize(
    ("name", "fields", "make", "words"),
    [
        ("a.csv", {"format": "csv"}, lambda path: None, "expected this file in the workspace, got none"),
        (
            "a.csv",
            {"format": "csv"},
            lambda path: path.symlink_to("/etc/hostname"),
            "expected a plain file, got a link",
        ),
        ("b/a.csv", {}, lambda path: path.parent.symlink_to("/etc"), "expected a plain file, got a link"),
        ("a.csv", {"size": 10}, lambda path: path.write_text("x" * 11), "expected at most 10 B, got more"),
        ("a.csv", {}, lambda path: path.mkdir(), "expected a regular file"),
        ("a.csv", {}, lambda path: os.mkfifo(path), "expected a regular file"),
        ("a.bin", {}, lambda path: path.write_bytes(b"\x80\x04\x95anything"), "got a pickle, which is never opened"),
        ("a.csv", {"format": "csv"}, lambda path: path.write_bytes(b"\xff\xfe"), "expected UTF-8 text"),
        ("a.csv", {"format": "csv"}, lambda path: path.write_bytes(b"a\0b"), "got zero bytes in it"),
        ("a.json", {"format": "json"}, lambda path: path.write_text(" \n"), "got an empty file"),
        ("a.npy", {"format": "npy"}, lambda path: path.write_bytes(b"PK\3\4"), "got an archive"),
        ("a.npy", {"format": "npy"}, lambda path: make_npy(path, np.array([{}])), "got one of objects"),
        (
            "a.npy",
            {"format": "npy"},
            lambda path: path.write_bytes(b"\x93NUMPY\1\0\4\0abcd"),
            "expected the head of an array",
        ),
    ],
)
def test_a_submission_that_cannot_be_taken_is_refused_with_its_reason(tmp_path, name, fields, make, words):
    work = tmp_path / "work"
    work.mkdir()
    make(work / name)
    with pytest.raises(SubmissionError) as error:
        copy_submission(spec_of(name, **fields), work, tmp_path / "out")
    assert words in str(error.value)


def test_a_hard_link_is_refused_and_an_optional_file_may_be_missing(tmp_path):
    (tmp_path / "one").write_text("1")
    os.link(tmp_path / "one", tmp_path / "two")
    with pytest.raises(SubmissionError, match="2 hard links"):
        copy_submission(spec_of("two"), tmp_path, tmp_path / "out")
    with pytest.raises(SubmissionError, match="expected at least one file, got none"):
        copy_submission(spec_of("three", required=False), tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"accuracy": "nan"}, "accuracy: expected a finite number, got nan"),
        ({"accuracy": "-inf"}, "expected a finite number"),
        ({"accuracy": "1e13"}, "expected a finite number"),
        ({"accuracy": "much"}, "expected a finite number"),
        ({"other": "1"}, "expected the metric accuracy, got none"),
        ([1], "expected metrics by name"),
    ],
)
def test_what_is_no_score_is_a_failure_with_a_reason(given, words):
    found = scored(EvaluationSpec(metric="accuracy"), "test", given)
    assert found.failed
    assert words in found.reason


def test_submitted_code_is_asked_in_a_sandbox_of_its_own(code_task):
    report = audit_task(find_task(code_task), seed=1, cheats=[])
    assert report.problems == ()
    assert [row.name for row in report.rows] == ["nop", "random", "baseline", "reference"]


CODE_SAMPLE = ("code_print_and_exit", "code_write_channel", "code_walk_files", "code_hang")


def test_code_that_attacks_whoever_runs_it_scores_nothing(code_task):
    report = audit_task(find_task(code_task), seed=1, cheats=[CHEATS[name] for name in CODE_SAMPLE])
    assert report.problems == ()
    reasons = {row.name: row.reason for row in report.rows}
    assert "its process ended" in reasons["code_print_and_exit"]
    assert "its time ran out" in reasons["code_hang"]


WORK_SAMPLE = ("replace_grader", "read_hidden", "link_to_hidden", "swap_daemon", "kill_all")


def test_a_hostile_agent_ends_with_the_score_of_nothing(parity):
    baseline = parity / "baseline"
    baseline.mkdir()
    text = "import json\njson.dump([n < 500 for n in json.load(open('data/numbers.json'))], open('answer.json', 'w'))\n"
    (baseline / "solution.py").write_text(text)
    task = find_task(parity)
    report = audit_task(task, seed=0, cheats=[CHEATS[name] for name in WORK_SAMPLE])
    assert [one for one in report.problems if not one.startswith("baseline")] == []


def test_the_library_has_cheats_of_every_kind():
    assert len(CHEATS) >= 30
    assert {cheat.kind for cheat in CHEATS.values()} == {"any", "data", "code"}


@pytest.mark.full
@pytest.mark.parametrize("name", ["tabular_regression", "sat_heuristic", "prisoners_dilemma"])
def test_no_cheat_beats_nothing_in_a_shipped_task(name):
    assert audit_task(name, seed=0).problems == ()


def test_a_grader_that_raises_is_a_failure_that_says_so(parity):
    (parity / "grader.py").write_text("def grade(case):\n    return 1 / 0\n")
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        env.step(Call("write", {"path": "answer.json", "content": "[]"}))
        score = env.step("submit").info["score"]
    assert score["grader_failed"]
    assert "ZeroDivisionError" in score["reason"]


def test_graders_and_solutions_are_nowhere_in_the_agents_sandbox():
    find = "find / -xdev '(' -name 'grader*' -o -name reference -o -path '*ludus*' ')' -not -path '/proc/*' 2>/dev/null"
    with TaskEnv("sat_heuristic") as env:
        env.reset(seed=0)
        found = env.step(Call("shell", {"command": f"{find} | grep -v /run/ludus; python -c 'import ludus'"}))
    assert "No module named 'ludus'" in found.observation.result
    assert "grader" not in found.observation.result
