"""What a task file names in its folder: told when the task is loaded, with the cure, and not when an agent submits."""

import shutil

import pytest

from ludus.errors import EnvError
from ludus.tasks import BaseTask, Task, TaskEnv, TaskFileError, find_task, register_task
from ludus.tasks.grading import TaskScore
from tests.tasks.conftest import GRADER, TASK

GRADER_LACKS = {
    "there is none": (
        None,
        r"evaluation.grader: expected a file 'grader.py' with `grade\(case\)` .*`ludus task new FOLDER`",
    ),
    "it is no Python": ("def grade(case:\n", "evaluation.grader: expected a Python file, got grader.py:1: "),
    "it has another function": (
        "def score(case): ...\n",
        "expected `def grade\\(case\\)` in 'grader.py', got no 'grade'",
    ),
    "a package is missing": ("import no_such_package\n" + GRADER, "got 'no_such_package' in grader.py:1; install it"),
}
NAMED = {
    "data: {generator: make.py}": "data.generator: expected a file 'make.py' with `generate\\(seed, public, hidden\\)`",
    "data: {public: given}": "data.public: expected a folder 'given' beside the task file, got none; make it",
    "data: {hidden: kept}": "data.hidden: expected a folder 'kept'",
    "starter: begin": "starter: expected a folder 'begin'",
    "baseline: {folder: easy}": "baseline.folder: expected a folder 'easy'",
    "reference: {folder: best}": "reference.folder: expected a folder 'best'",
    "shared: [rules.py]": "shared: expected files of the task's folder, got 'rules.py'",
    "read_only: [law.txt]": "read_only: expected paths of 'starter' or of `shared`, got 'law.txt'",
}


@pytest.mark.parametrize("lack", GRADER_LACKS)
def test_a_folder_without_a_grader_that_works_is_refused_when_it_is_loaded(parity, lack):
    text, words = GRADER_LACKS[lack]
    (parity / "grader.py").unlink()
    if text is not None:
        (parity / "grader.py").write_text(text)
    for load in (find_task, TaskEnv, lambda folder: register_task(folder=folder)):
        with pytest.raises(TaskFileError, match=words):
            load(parity)


@pytest.mark.parametrize("line", NAMED)
def test_what_a_task_file_names_and_is_not_there_is_told_when_it_is_loaded(parity, line):
    key = line.partition(":")[0]
    kept = [one for one in TASK.splitlines() if not one.startswith(f"{key}:")]
    (parity / "task.yaml").write_text("\n".join([*kept, line]))
    with pytest.raises(TaskFileError, match=f"parity, {NAMED[line]}"):
        find_task(parity)


def test_what_is_not_named_need_not_be_there(parity):
    (parity / "task.yaml").write_text(TASK.replace("read_only: [rules.txt]\n", ""))
    for name in ("starter", "reference"):
        shutil.rmtree(parity / name)
    assert find_task(parity).folder == parity


def test_a_grader_that_cannot_be_imported_is_told_before_an_agent_begins(parity):
    (parity / "grader.py").write_text("from ludus.tasks.inside.case import NoSuchName\n" + GRADER)
    with (
        TaskEnv(parity) as env,
        pytest.raises(
            EnvError, match=r"evaluation.grader: expected a file 'grader.py' .* ImportError: .* 'NoSuchName'"
        ),
    ):
        env.reset(seed=0)


def test_a_task_of_files_alone_has_its_grader_imported_too(parity):
    (parity / "task.yaml").write_text(TASK.replace("data: {generator: generator.py}\n", ""))
    (parity / "grader.py").write_text("raise RuntimeError('not today')\n" + GRADER)
    with TaskEnv(parity) as env, pytest.raises(EnvError, match=r"evaluation.grader: .* RuntimeError: not today"):
        env.reset(seed=0)


def test_a_task_that_scores_by_itself_needs_no_grader(parity):
    (parity / "grader.py").unlink()

    class Easy(BaseTask):
        config = parity

        def evaluate(self, split):
            return TaskScore(split=split, value=1.0, normalised=1.0, reached=True)

    with Easy() as env:
        env.reset(seed=0)
        assert env.step("submit").info["outcome"] == "success"


def test_a_task_without_a_folder_lacks_nothing(parity):
    spec = find_task(parity).spec
    assert find_task(spec) == Task(spec)
