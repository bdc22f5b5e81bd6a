"""Fields of a task file, each by what it changes: data, splits, timeouts and solutions."""

import pytest

from ludus.errors import EnvError
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import play_episode, solution_agent
from ludus.tasks.agents.solution import solution_calls
from ludus.tools import Call
from tests.tasks.conftest import GENERATOR, SOLUTION, TASK, shell, write_folder

SPLITS = """
def grade(case):
    return {"validation": 0.6, "dev": 0.7, "test": 0.8, "final": 0.9}[case.split]
"""
FILES = """
def grade(case):
    return float((case.submission / "answer.json").read_text() == (case.hidden / "secret.json").read_text())
"""


def test_a_fixed_seed_gives_everybody_the_same_data_and_a_checksum_holds_them(tmp_path):
    fixed = TASK.replace("{generator: generator.py}", "{generator: generator.py, seed: 7}")
    folder, found = write_folder(tmp_path / "fixed", task__yaml=fixed), []
    for seed in (1, 2):
        with TaskEnv(folder) as env:
            found.append(env.reset(seed=seed)[1]["data"])
    assert found[0] == found[1]
    (folder / "task.yaml").write_text(fixed.replace("seed: 7}", f"seed: 7, checksum: {found[0]}}}"))
    with TaskEnv(folder) as env:
        assert env.reset(seed=3)[1]["data"] == found[0]
    (folder / "generator.py").write_text(GENERATOR.replace("7919", "7907"))
    wrong = rf"data.checksum: expected {found[0]}, got [0-9a-f]{{64}}; the data have changed"
    with TaskEnv(folder) as env, pytest.raises(EnvError, match=wrong):
        env.reset(seed=3)


def test_data_may_be_files_of_the_task_seen_where_it_says_and_those_of_the_grader_are_not(tmp_path):
    text = TASK.replace("{generator: generator.py}", "{public: given, hidden: kept, folder: input}")
    folder = write_folder(
        tmp_path / "files",
        **{"task.yaml": text, "grader.py": FILES, "given/question.txt": "why\n", "kept/secret.json": "[42]"},
    )
    with TaskEnv(folder) as env:
        observation, _ = env.reset(seed=0)
        assert "input/question.txt (read-only)" in observation.result
        assert shell(env, "cat input/question.txt; ls /work").observation.result == "why\ninput\nrules.txt\n"
        assert "Read-only file system" in shell(env, "echo > input/question.txt").observation.result
        assert shell(env, "find / -name secret.json 2>/dev/null || true").observation.result == ""
        shell(env, "printf '[42]' > answer.json")
        assert env.step("submit").info["score"]["value"] == 1.0


def test_the_splits_that_are_scored_have_the_names_of_the_task(tmp_path):
    named = TASK.replace("metric: accuracy,", "metric: accuracy, public_split: dev, hidden_split: final,")
    for text, values in ((TASK, [0.6, 0.8]), (named, [0.7, 0.9])):
        folder = write_folder(tmp_path / f"{values[0]}", task__yaml=text, grader__py=SPLITS)
        with TaskEnv(folder) as env:
            env.reset(seed=0)
            shell(env, "echo '[]' > answer.json")
            env.step("validate")
            env.step("submit")
            assert [one["value"] for one in env._scores] == values


def test_a_command_that_asks_for_more_gets_the_long_timeout_and_one_that_does_not_the_short(tmp_path):
    folder = write_folder(tmp_path / "late", task__yaml=TASK.replace("short: 20, long: 40", "short: 1, long: 3"))
    with TaskEnv(folder) as env:
        env.reset(seed=0)
        for asked, seconds in (({}, 1), ({"seconds": 2.0}, 2), ({"seconds": 1000.0}, 3)):
            step = shell(env, "echo begun; sleep 60", **asked)
            assert step.info["command"]["timed_out"]
            assert step.observation.result.startswith(f"begun\n[stopped after {seconds} second")


def test_a_grading_that_takes_longer_than_it_may_is_a_failure_that_says_so(tmp_path):
    slow = "import time\n\n\ndef grade(case):\n    time.sleep(600)\n"
    folder = write_folder(tmp_path / "slow", task__yaml=TASK.replace("grading: 30", "grading: 2"), grader__py=slow)
    with TaskEnv(folder) as env:
        env.reset(seed=0)
        shell(env, "echo '[]' > answer.json")
        step = env.step("submit")
    score = step.info["score"]
    assert (step.info["outcome"], score["value"], score["grader_failed"]) == ("failure", None, True)
    assert "time ran out" in score["reason"]


def test_a_solution_is_in_its_own_folder_run_by_its_own_command_and_for_its_own_time(tmp_path):
    text = TASK + "baseline: {folder: easy, run: python3 go.py --well, seconds: 7}\n"
    folder = write_folder(tmp_path / "solved", **{"task.yaml": text, "easy/go.py": SOLUTION})
    task = find_task(folder)
    *_, run = solution_calls(task, "baseline")
    assert run == Call("shell", {"command": "python3 go.py --well", "seconds": 7.0})
    with TaskEnv(task) as env:
        assert play_episode(env, solution_agent(task, "baseline"), 0).outcome == "success"
