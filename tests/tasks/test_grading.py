"""Grading: what is copied out, what comes back, and what submitted code can do about it."""

import json
import os

import msgspec
import numpy as np
import pytest

import ludus
import ludus.tasks.sandboxes as isolation
from ludus.sandbox import Sandbox, python_mounts
from ludus.sandbox.mounts import PACKAGE
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.audit import CHEATS, audit_task
from ludus.tasks.grading import Grader, TaskData
from ludus.tasks.grading.score import scored
from ludus.tasks.grading.submission import SubmissionError, copy_submission
from ludus.tasks.journal import JournalEntry
from ludus.tasks.linter import lint
from ludus.tasks.spec import EvaluationSpec, SubmissionFile, TaskSpec
from ludus.tools import Call
from tests.tasks.conftest import TASK, write_folder

GRADE = "from ludus.tasks.inside.grade import grade; grade()"
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


def test_a_grader_imports_the_ludus_that_starts_it():
    """One that PYTHONPATH names is not among the installed packages of its interpreter."""
    code = "import ludus; print(ludus.__file__)"
    command = [one.replace(GRADE, code) for one in isolation.grader_command("grade")]
    told = Sandbox(mounts=python_mounts()).run(command)
    assert told.stdout.decode().strip() == ludus.__file__
    assert str(PACKAGE.parent) in command


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
        ({"other": "1"}, "grader: expected the metric accuracy, got other"),
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


GRADERS = {
    "return 1 / 0": "ZeroDivisionError",
    "import sys; sys.exit('bye')": "the grader failed: SystemExit: bye",
    "import os; os._exit(0)": "the grader ended without a score: its process ended",
    "return None": "grade: expected a number, or numbers by name, got NoneType for accuracy",
    "return {'accuracy': '1.0'}": "got str for accuracy",
    "return float('nan')": "accuracy: expected a finite number, got nan",
    "return {}": "grader: expected the metric accuracy, got none",
    "raise KeyError('\\ud800')": "the grader failed: KeyError",
}


@pytest.mark.parametrize("body", GRADERS)
def test_a_grader_that_gives_no_score_is_a_failure_that_says_so(parity, tmp_path, body):
    (parity / "grader.py").write_text(f"def grade(case):\n    {body}\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "answer.json").write_text("[]")
    data = TaskData(tmp_path / "work", tmp_path / "work", 0, "")
    score = Grader(find_task(parity).spec, parity, data).grade(tmp_path / "work", "test")
    assert (score.grader_failed, score.value) == (True, None)
    assert GRADERS[body] in score.reason
    last = JournalEntry(step=1, seed=0, call=Call("submit"), info={"score": msgspec.to_builtins(score)})
    assert [one.rule for one in lint(find_task(parity).spec, [JournalEntry(step=0, seed=0), last])] == ["grader_failed"]


def test_a_grader_and_a_program_may_write_more_than_a_pipe_holds(parity):
    noisy = "import sys\n\ndef say():\n    sys.stdout.write('x' * 300000)\n    sys.stderr.write('x' * 300000)\n"
    task = (parity / "task.yaml").read_text()
    (parity / "task.yaml").write_text(task.replace("answer.json, format: json", "answer.py, format: python"))
    body = "    with case.program('answer.py') as one:\n        one.call('say')\n    say()\n    return 1.0\n"
    (parity / "grader.py").write_text(f"{noisy}\ndef grade(case):\n{body}")
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        env.step(Call("write", {"path": "answer.py", "content": noisy}))
        score = env.step("submit").info["score"]
    assert (score["value"], score["reason"]) == (1.0, "")


def test_graders_and_solutions_are_nowhere_in_the_agents_sandbox():
    find = "find / -xdev '(' -name 'grader*' -o -name reference -o -path '*ludus*' ')' -not -path '/proc/*' 2>/dev/null"
    with TaskEnv("sat_heuristic") as env:
        env.reset(seed=0)
        found = env.step(Call("shell", {"command": f"{find} | grep -v /run/ludus; python -c 'import ludus'"}))
    assert "No module named 'ludus'" in found.observation.result
    assert "grader" not in found.observation.result


SPIES = """
import json, os

def grade(case):
    told = {"grader": os.getuid(), "hidden": os.stat(case.hidden / "answers.json").st_mode & 0o777}
    with case.program("spy.py", seconds=20) as program:
        told["program"] = program.call("who")
    raise Rejected(json.dumps(told))


from ludus.tasks.inside.case import Rejected
"""
SPY = "import os\n\n\ndef who():\n    return os.getuid()\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a grader a user of its own")
def test_agent_grader_and_program_are_three_users_and_only_the_grader_may_read_what_is_hidden(tmp_path):
    text = TASK.replace("{path: answer.json, format: json, size: 1K}", "{path: spy.py, format: python, size: 1K}")
    folder = write_folder(tmp_path / "spied", task__yaml=text, grader__py=SPIES)
    with TaskEnv(folder, folder=tmp_path / "run") as env:
        _, info = env.reset(seed=0)
        agent = int(env.call("shell", command="id -u").observation.result)
        env.call("write", path="spy.py", content=SPY)
        told = json.loads(env.step("submit").info["score"]["reason"])
    assert len({agent, told["grader"], told["program"], 0}) == 4
    assert (info["grading"]["own_user"], info["grading"]["guarantees"]["boundary"]) == (True, True)
    assert str(told["grader"]) in info["grading"]["guarantees"]["user"]
    run = tmp_path / "run"
    for path in (run / "hidden", run / "hidden" / "answers.json", run / "task", run / "task" / "grader.py"):
        found = path.stat()
        assert (found.st_uid, found.st_mode & 0o077) == (told["grader"], 0)


def test_where_the_grader_is_no_other_user_the_record_says_so(monkeypatch):
    monkeypatch.setattr(isolation, "drops_user", lambda: False)
    agent, grader = Sandbox(), isolation.grader_sandbox({}, seconds=1.0)
    means = isolation.grading_means(agent, grader)
    assert (means["own_user"], means["user"].startswith("the agent's user")) == (False, True)
