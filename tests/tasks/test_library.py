"""The shipped tasks: each loads, generates, is solved by its own solutions in their order, and cannot be cheated."""

import importlib.util
import random
import sys
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import nop_agent, play_episode, solution_agent
from ludus.tasks.audit import audit_task
from ludus.tasks.audit.in_folder import folder_cheats
from ludus.tasks.folder import LIBRARY, known_tasks
from ludus.tasks.grading import make_data
from ludus.tasks.new import new_task
from tests.sampling import SEED

NAMES = sorted(folder.name for folder in LIBRARY.iterdir() if (folder / "task.yaml").is_file())
ORDER = random.Random(SEED).sample(NAMES, len(NAMES))
SAMPLED = [pytest.param(name, marks=() if name in ORDER[:4] else pytest.mark.full) for name in NAMES]
"""All tasks, of which a run plays four in sandboxes."""
MADE = [pytest.param(name, marks=() if name in ORDER[4:10] else pytest.mark.full) for name in NAMES]
"""And makes the data of six others, as it makes those that it plays."""
PAGE = Path(__file__).parents[2] / "docs" / "tasks_library.md"


def test_there_are_at_least_sixteen_tasks_and_each_has_a_row_in_the_page():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `task/")]
    assert len(NAMES) >= 16
    assert sorted(row.split("`")[1] for row in rows) == sorted(known_tasks())


def test_the_page_has_the_marks_of_the_task_files():
    rows = {line.split("`")[1]: line for line in PAGE.read_text().splitlines() if line.startswith("| `task/")}
    for name, folder in known_tasks().items():
        evaluation = find_task(folder).spec.evaluation
        marks = [evaluation.floor, evaluation.baseline, evaluation.threshold, evaluation.reference]
        told = [cell.strip() for cell in rows[name].split("|")[-6:-2]]
        assert told == [f"{mark:g}" for mark in marks], name


@pytest.mark.parametrize("name", MADE)
def test_the_data_of_seed_0_are_those_of_the_checksum(name, tmp_path):
    task = find_task(name)
    assert make_data(task.spec, task.folder, tmp_path, seed=0).checksum == task.spec.data.checksum


@pytest.mark.parametrize("name", SAMPLED)
def test_the_baseline_of_a_shipped_task_beats_doing_nothing(name):
    task = find_task(name)
    with TaskEnv(task) as env:
        nothing = play_episode(env, nop_agent(), 0)
        baseline = play_episode(env, solution_agent(task, "baseline"), 0)
    assert nothing.score["normalised"] < baseline.score["normalised"], baseline.score["reason"]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", NAMES)
def test_reference_beats_baseline_beats_nothing(name, seed):
    task = find_task(name)
    with TaskEnv(task) as env:
        nothing, baseline, reference = (
            play_episode(env, agent, seed)
            for agent in (nop_agent(), solution_agent(task, "baseline"), solution_agent(task, "reference"))
        )
    scores = [one.score["normalised"] for one in (nothing, baseline, reference)]
    assert scores[0] < scores[1] < scores[2], [one.score for one in (nothing, baseline, reference)]
    assert reference.outcome == "success", reference.score


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_no_cheat_beats_nothing_in_a_shipped_task(name):
    assert audit_task(name, seed=0).problems == ()


@pytest.mark.full
def test_a_new_task_passes_its_audit_as_it_stands(tmp_path):
    report = audit_task(new_task(tmp_path / "mine"))
    assert report.problems == ()
    assert sum(row.kind == "cheat" for row in report.rows) >= 30


def test_the_cheats_of_a_task_itself_are_worth_nothing():
    task = find_task("find_the_leak")
    report = audit_task(task, cheats=folder_cheats(task))
    assert [row.name for row in report.rows if row.kind == "cheat"] == ["own_as_it_is"]
    assert report.problems == ()


def test_rules_that_grader_and_agent_go_by_have_one_source():
    shared = {name: find_task(folder).spec.shared for name, folder in known_tasks().items()}
    assert {name: files for name, files in shared.items() if files} == {
        "task/MetaMaze-v0": ("maze.py",),
        "task/SmallBreakout-v0": ("breakout.py",),
        "task/MakeItFaster-v0": ("original.py",),
    }
    with TaskEnv("meta_maze") as env:
        env.reset(seed=0)
        assert (
            env.call("shell", command="cat maze.py").observation.result == (LIBRARY / "meta_maze/maze.py").read_text()
        )


def test_the_function_to_make_faster_is_the_one_that_it_is_compared_with():
    texts = [(LIBRARY / "make_it_faster" / one).read_text() for one in ("original.py", "starter/analysis.py")]
    assert texts[0].partition("\n")[2] == texts[1].partition("\n")[2]


@pytest.mark.full
@pytest.mark.parametrize(
    ("task", "file", "name"), [("meta_maze", "maze", "Maze"), ("breakout", "breakout", "Breakout")]
)
def test_games_of_tasks_are_the_same_in_a_compiled_batch(task, file, name):
    kind = getattr(loaded(LIBRARY / task / f"{file}.py"), name)
    batch, single = ludus.make_vec(kind, 4), kind()
    seen, _ = batch.reset(seed=3)
    alone, _ = single.reset(seed=3)
    rng = np.random.default_rng(0)
    done = False
    while not done:
        np.testing.assert_array_equal(seen[0], alone)
        actions = rng.integers(int(single.action_space.n), size=4)
        seen, rewards, ends, *_ = batch.step(actions)
        alone, reward, done, *_ = single.step(int(actions[0]))
        assert (float(rewards[0]), bool(ends[0])) == (float(reward), done)
    batch.close()


def test_the_logic_of_inference_is_right():
    label_of = loaded(LIBRARY / "logic_inference" / "generator.py").label_of
    chain = frozenset({("all", 0, 1), ("all", 1, 2)})
    claims = [("all", 0, 2), ("some", 2, 0), ("some_not", 0, 2), ("none", 2, 0), ("all", 2, 0)]
    expected = ["entailment", "entailment", "contradiction", "contradiction", "neutral"]
    assert [label_of(chain, claim, 3) for claim in claims] == expected
    assert label_of(frozenset({("none", 0, 1), ("all", 2, 0)}), ("some_not", 2, 1), 3) == "entailment"
    assert label_of(frozenset({("some", 0, 1), ("some", 1, 2)}), ("some", 0, 2), 3) == "neutral"


@pytest.mark.parametrize("seed", range(30))
def test_every_goal_of_the_maze_can_be_reached(seed):
    folder = LIBRARY / "meta_maze"
    sys.path.insert(0, str(folder))
    try:
        possible = loaded(folder / "grader.py").possible
    finally:
        sys.path.remove(str(folder))
    assert 1 <= possible(seed) <= 75


def loaded(path):
    """A module of a task's folder."""
    spec = importlib.util.spec_from_file_location(f"library_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
