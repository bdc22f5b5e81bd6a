"""Tasks in the layouts of MLGym, Harbor and MLE-bench, all words and data our own: converted, run, or refused."""

import msgspec
import pytest
from typer.testing import CliRunner

from ludus.cli import app
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import ScriptedTaskAgent, play_episode, solution_agent
from ludus.tasks.conversion import ConversionError, import_task
from ludus.tools import Call

PLANTS = "id,height\n" + "".join(f"{at},{at * 1.5}\n" for at in range(10))
TRUTH = "id,weight\n" + "".join(f"{at},{at * 3.0}\n" for at in range(10))
MLGYM = """
id: plant-weights
name: Plants by weight
description: |-
  Predict the weight of plants. {dataset_docs}
dataset_configs: [datasets/plants.yaml]
task_entrypoint: CSVSubmissionTasks
training_timeout: 600
starter_code: [data/plants/baseline.py, data/plants/evaluate.py]
baseline_paths: [baseline.py]
baseline_scores: [{rmse: 15.0}]
evaluation_paths: [evaluate.py]
evaluation_read_only: true
"""
EVALUATE = """
import argparse, csv, json
parser = argparse.ArgumentParser()
parser.add_argument("--submission_file")
given = list(csv.DictReader(open(parser.parse_args().submission_file)))
right = {row["id"]: float(row["weight"]) for row in csv.DictReader(open("data/weights.csv"))}
errors = [(float(row["weight"]) - right[row["id"]]) ** 2 for row in given]
print("scored", len(errors))
print(json.dumps({"rmse": (sum(errors) / len(right)) ** 0.5}))
"""
BASELINE = """
import csv
rows = list(csv.DictReader(open("data/plants.csv")))
with open("submission.csv", "w") as file:
    print("id,weight", file=file)
    for row in rows:
        print(f"{row['id']},13.5", file=file)
"""
HARBOR = """
version = "1.0"
[metadata]
tags = ["text"]
[agent]
timeout_sec = 120.0
[verifier]
timeout_sec = 30.0
[environment]
cpus = 1
memory_mb = 512
storage_mb = 256
"""
HARBOR_TESTS = """
from pathlib import Path

def test_there():
    assert Path("/app/sorted.txt").exists()

def test_sorted():
    assert Path("/app/sorted.txt").read_text().split() == sorted(Path("/app/words.txt").read_text().split())
"""
COMPETITION = """
id: plants-2026
name: Plants of 2026
dataset: {answers: plants-2026/prepared/private/test.csv}
grader: {name: accuracy, grade_fn: "mlebench.competitions.plants.grade:grade"}
"""
GRADE = """
import pandas as pd
from mlebench.grade_helpers import InvalidSubmissionError

def grade(submission: pd.DataFrame, answers: pd.DataFrame) -> float:
    if "kind" not in submission.columns:
        raise InvalidSubmissionError("no column kind")
    both = submission.merge(answers, on="id")
    return float((both["kind_x"] == both["kind_y"]).mean())
"""


def written(folder, **files):
    for name, text in files.items():
        place = folder / name.replace("__", "/").replace("_dot_", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def mlgym(
    folder,
    config=MLGYM,
    dataset="name: plants\ndescription: Heights of plants.\ndata_path: data/plants/data\nis_local: true\n",
):
    return written(
        folder,
        configs__tasks__plants_dot_yaml=config,
        configs__datasets__plants_dot_yaml=dataset,
        data__plants__baseline_dot_py=BASELINE,
        data__plants__evaluate_dot_py=EVALUATE,
        data__plants__data__plants_dot_csv=PLANTS,
        data__plants__data__weights_dot_csv=TRUTH,
    )


def test_mlgyms_csv_tasks_run_with_their_labels_hidden(tmp_path):
    mlgym(tmp_path)
    found = import_task(tmp_path / "configs" / "tasks" / "plants.yaml", tmp_path / "mine")
    assert "hidden from agents: weights.csv" in found.notes[0]
    task = find_task(tmp_path / "mine")
    assert (task.spec.evaluation.direction_known, task.spec.evaluation.baseline) == ("minimize", 15.0)
    with TaskEnv(task) as env:
        description = env.reset(seed=0)[0].result
        assert "Heights of plants." in description
        assert "weights.csv" not in env.call("shell", command="ls -R").observation.result
        score = play_episode(env, solution_agent(task, "baseline"), 0).score
    assert score["value"] == pytest.approx(8.6168, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("CSVSubmissionTasks", "PythonSubmissionTasks"), "imports submitted code into the process that scores"),
        (("CSVSubmissionTasks", "LMSubmissionTasks"), "LMSubmissionTasks evaluates models on GPUs"),
        (("evaluation_paths: [evaluate.py]", ""), "names no evaluation_paths"),
        (("rmse: 15.0", "niceness: 15.0"), "metric 'niceness': expected a known one"),
        (("data/plants/baseline.py", "../../etc/passwd"), "say which with --data ROOT"),
        (("evaluation_paths: [evaluate.py]", "evaluation_paths: 3"), "evaluation_paths: expected a list, got 3"),
        (("rmse: 15.0", "rmse: low"), "baseline_scores, rmse: expected a number, got 'low'"),
    ],
)
def test_an_mlgym_task_that_cannot_be_graded_here_is_refused(tmp_path, change, words):
    mlgym(tmp_path, MLGYM.replace(*change))
    with pytest.raises(ConversionError, match=words):
        import_task(tmp_path / "configs" / "tasks" / "plants.yaml", tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_a_dataset_that_is_downloaded_is_refused(tmp_path):
    mlgym(tmp_path, dataset="name: plants\ndata_path: someone/plants\nis_local: false\n")
    with pytest.raises(ConversionError, match="got one that is downloaded"):
        import_task(tmp_path / "configs" / "tasks" / "plants.yaml", tmp_path / "mine")


def harbor(folder, tests=HARBOR_TESTS, image="FROM debian:12\nWORKDIR /app\nCOPY words.txt /app/\n", config=HARBOR):
    return written(
        folder,
        task_dot_toml=config,
        instruction_dot_md="Sort the words of /app/words.txt into /app/sorted.txt.",
        environment__Dockerfile=image,
        environment__words_dot_txt="pear\napple\nfig\n",
        solution__solve_dot_sh="sort /app/words.txt > /app/sorted.txt\n",
        tests__test_outputs_dot_py=tests,
    )


def test_a_harbor_folder_whose_tests_read_files_runs(tmp_path):
    found = import_task(harbor(tmp_path / "sort-words"), tmp_path / "mine")
    assert found.notes[0] == "handed in: sorted.txt, as the tests name them"
    task = find_task(tmp_path / "mine")
    with TaskEnv(task) as env:
        right = play_episode(env, solution_agent(task, "reference"), 0)
        half = play_episode(env, ScriptedTaskAgent([Call("shell", {"command": "cp words.txt sorted.txt"})]), 0)
        # A word list of the agent's own is not what its work is compared with.
        forged = play_episode(
            env, ScriptedTaskAgent([Call("shell", {"command": "echo a > words.txt; cp words.txt sorted.txt"})]), 0
        )
    assert (right.outcome, right.score["value"]) == ("success", 1.0)
    assert (half.outcome, half.score["value"]) == ("failure", 0.5)
    assert forged.score["value"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tests": "import subprocess\n" + HARBOR_TESTS}, "got ones that use subprocess"),
        ({"tests": HARBOR_TESTS + "\neval('1')\n"}, "got ones that use eval"),
        ({"tests": "import nowhere_installed\n" + HARBOR_TESTS}, "got no nowhere_installed"),
        ({"tests": "def test_one(tmp_path):\n    pass\n"}, "test_one: expected tests that are called with nothing"),
        ({"image": "FROM debian:12\nRUN apt-get install -y gcc\n"}, "got 'RUN apt-get install -y gcc': nothing else"),
        ({"image": "FROM debian:12\nRUN pip install no-such-package==1.0\n"}, "got no no-such-package; pip install"),
        ({"image": "FROM debian:12\nCOPY words.txt /etc/\n"}, "got 'COPY … /etc/'"),
        ({"image": "FROM debian:12\nCOPY ../../secret /app/\n"}, "expected a path inside of"),
        ({"config": "[agent]\ntimeout_sec = 'soon'\n"}, "agent, timeout_sec: expected a number, got 'soon'"),
        ({"config": "[metadata]\ntags = 3\n"}, "metadata, tags: expected a list, got 3"),
        ({"config": "environment = 3\n"}, "environment: expected a table, got 3"),
    ],
)
def test_a_harbor_folder_that_cannot_be_graded_here_is_refused(tmp_path, arguments, words):
    with pytest.raises(ConversionError, match=words):
        import_task(harbor(tmp_path / "sort-words", **arguments), tmp_path / "mine")


def test_a_competition_of_mle_bench_runs_with_its_prepared_data(tmp_path):
    pytest.importorskip("pandas")
    folder = written(
        tmp_path / "plants-2026", config_dot_yaml=COMPETITION, grade_dot_py=GRADE, description_dot_md="# Plants"
    )
    with pytest.raises(ConversionError, match="mlebench prepare -c plants-2026"):
        import_task(folder, tmp_path / "mine")
    written(
        tmp_path / "cache" / "plants-2026" / "prepared",
        public__train_dot_csv="id,kind\n0,fern\n",
        private__test_dot_csv="id,kind\n1,fern\n2,moss\n",
    )
    import_task(folder, tmp_path / "mine", data=tmp_path / "cache")
    task = find_task(tmp_path / "mine")
    with TaskEnv(task) as env:
        half = ScriptedTaskAgent([Call("write", {"path": "submission.csv", "content": "id,kind\n1,fern\n2,fern\n"})])
        score = play_episode(env, half, 0).score
        assert (score["value"], score["reason"]) == (0.5, "")
        wrong = ScriptedTaskAgent([Call("write", {"path": "submission.csv", "content": "id,sort\n1,fern\n"})])
        assert "InvalidSubmissionError: no column kind" in play_episode(env, wrong, 0).score["reason"]


def run_from_the_command_line(source, target, script, *options):
    """What the last line of `ludus task run` says of a scripted person, after `ludus task import`."""
    done = CliRunner().invoke(app, ["task", "import", str(source), str(target), *options])
    assert done.exit_code == 0, done.output
    run = CliRunner().invoke(app, ["task", "run", str(target), "--agent", "human", "--json"], input=script)
    assert run.exit_code == 0, run.output
    return done.output, msgspec.json.decode(run.stdout.splitlines()[-1])


def test_a_repository_of_mlgym_with_its_labels_beside_its_scripts(tmp_path):
    """Data, scripts and requirements in one folder, a metric with a capital, no baseline: as users have them."""
    config = MLGYM.replace("description: |-\n  Predict the weight of plants.", "description: |-\n  Train on train.csv.")
    for old, new in {
        "baseline_paths: [baseline.py]\n": "requirements_path: data/plants/requirements.txt\nuse_generic_conda: true\n",
        "data/plants/baseline.py, ": "data/plants/train.csv, data/only_here.csv, ",
        "{rmse: 15.0}": "{RMSE: 15.0}",
    }.items():
        config = config.replace(old, new)
    written(
        tmp_path,
        configs__tasks__plants_dot_yaml=config,
        configs__datasets__plants_dot_yaml="name: plants\ndescription: x\ndata_path: data/plants\nis_local: true\n",
        data__plants__train_dot_csv=TRUTH,
        data__plants__weights_dot_csv=TRUTH,
        data__plants__requirements_dot_txt="numpy>=1.20\nno-such-package\n",
        data__plants__evaluate_dot_py="open('only_here.csv')\n" + EVALUATE.replace("data/weights.csv", "weights.csv"),
        data__only_here_dot_csv="id\n",
    )
    script = "ls . data\npython3 -c 'import numpy'\nsed s/27.0/28.0/ train.csv > submission.csv\n"
    said, episode = run_from_the_command_line(tmp_path / "configs/tasks/plants.yaml", tmp_path / "mine", script)
    assert "hidden from agents: weights.csv" in said
    assert "not installed here, so that agents do without: no-such-package" in said
    assert episode["score"]["value"] == pytest.approx(0.1**0.5), episode
    assert not (tmp_path / "mine" / "public" / "evaluate.py").exists()


def test_a_harbor_folder_with_classes_of_tests_expectations_packages_and_another_workdir(tmp_path):
    image = (
        "FROM python:3.12-slim\nWORKDIR /srv/job\nRUN mkdir -p out && pip install --no-cache-dir numpy==1.0\nCOPY . .\n"
    )
    tests = """
import json

class TestTotals:
    def test_there(self):
        assert open("/srv/job/out/totals.json")

    def test_right(self):
        expected = json.load(open("/tests/expected.json"))
        assert json.load(open("/srv/job/out/totals.json")) == expected
"""
    folder = written(
        tmp_path / "2-sum-by-key",
        task_dot_toml='version = "1.0"\n[task]\nname = "me/totals"\n[environment]\nmemory = "1G"\n',
        instruction_dot_md="Write the totals of /srv/job/rows.csv to /srv/job/out/totals.json.",
        environment__Dockerfile=image,
        environment__rows_dot_csv="key,value\na,1\nb,2\na,3\n",
        solution__solve_dot_sh="mkdir -p /srv/job/out\npython3 /srv/job/sum.py > /srv/job/out/totals.json\n",
        solution__sum_dot_py='import numpy\nprint(\'{"a": 4, "b": 2}\')\n',
        tests__test_dot_sh="pytest /tests/test_state.py && echo 1 > /logs/verifier/reward.txt\n",
        tests__test_state_dot_py=tests,
        tests__expected_dot_json='{"a": 4, "b": 2}',
    )
    said, half = run_from_the_command_line(folder, tmp_path / "mine", "mkdir out\necho 0 > out/totals.json\n")
    assert "handed in: out/totals.json" in said
    assert (half["outcome"], half["score"]["value"]) == ("failure", 0.5)
    task = find_task(tmp_path / "mine")
    with TaskEnv(task) as env:
        assert play_episode(env, solution_agent(task, "reference"), 0).outcome == "success"
    written(folder, environment__Dockerfile="FROM x\n", task_dot_toml='[environment]\ndocker_image = "me/totals:1"\n')
    (folder / "environment" / "Dockerfile").unlink()
    with pytest.raises(ConversionError, match=r"environment\.docker_image: .* got the image 'me/totals:1'"):
        import_task(folder, tmp_path / "other")


def test_a_competition_takes_its_direction_and_marks_from_its_leaderboard(tmp_path):
    pytest.importorskip("pandas")
    board = "scoreNullable,teamId,score\n" + "".join(f",{at},{0.1 + at / 100}\n" for at in range(50))
    folder = written(
        tmp_path / "plants-2026",
        config_dot_yaml=COMPETITION.replace("accuracy", "log-mean-column-wise-loss"),
        grade_dot_py=GRADE.replace("return float(", "return 1 - float("),
        leaderboard_dot_csv=board,
        prepared__public__train_dot_csv="id,kind\n0,fern\n",
        prepared__private__test_dot_csv="id,kind\n1,fern\n2,moss\n",
    )
    script = "printf 'id,kind\\n1,fern\\n2,moss\\n' > submission.csv\n"
    said, episode = run_from_the_command_line(folder, tmp_path / "mine", script)
    assert "of the 50 scores of the leaderboard" in said
    evaluation = find_task(tmp_path / "mine").spec.evaluation
    assert (evaluation.direction, evaluation.floor, evaluation.threshold, evaluation.reference) == (
        "minimize",
        pytest.approx(0.35),
        pytest.approx(0.30),
        pytest.approx(0.15),
    )
    assert (episode["outcome"], episode["score"]["value"]) == ("success", 0.0)
    (folder / "leaderboard.csv").unlink()
    with pytest.raises(ConversionError, match=r"expected a known one, or a leaderboard\.csv"):
        import_task(folder, tmp_path / "other")


def test_what_is_no_task_of_anybody_is_told(tmp_path):
    with pytest.raises(ConversionError, match=r"expected a task\.toml folder"):
        import_task(tmp_path, tmp_path / "mine")
