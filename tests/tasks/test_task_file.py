"""Task files: what they may say, what is told about a mistake, and the example of the seed."""

import json

import jsonschema
import pytest

from ludus.errors import InvalidArgument
from ludus.tasks import TaskFileError, read_task, read_task_text, task_schema, write_task
from ludus.tasks.folder import LIBRARY, find_task, known_tasks

SEED_EXAMPLE = """
# Example task configuration
id: "image_classification_cifar10"
name: "Image Classification (CIFAR-10)"
description: "Develop a model to classify images into 10 categories."
max_steps: 50
timeout: 3600  # seconds
evaluation:
  metric: "accuracy"
  threshold: 0.7
resources:
  memory: "8G"
  cpu: 2
  gpu: 1
"""
LEAST = "id: A\nname: a\ndescription: b\nevaluation: {metric: accuracy}\n"


def test_the_example_of_the_seed_loads_as_it_stands():
    spec = read_task_text(SEED_EXAMPLE)
    assert spec.env_id == "task/image_classification_cifar10-v0"
    assert spec.timeouts_known.of("total") == 3600
    assert (spec.evaluation.direction_known, spec.evaluation.threshold) == ("maximize", 0.7)
    assert (spec.resources.bytes_of("memory"), spec.resources.gpu) == (8 << 30, 1)


def test_every_shipped_task_is_valid_and_fits_the_schema():
    import yaml

    for file in sorted(LIBRARY.glob("*/task.yaml")):
        spec = read_task(file)
        jsonschema.validate(yaml.safe_load(file.read_text()), task_schema())
        evaluation = spec.evaluation
        assert None not in (evaluation.floor, evaluation.baseline, evaluation.reference, evaluation.threshold), file
        assert all((spec.submission, spec.license, spec.tags)), file
        places = ("generator.py", "grader.py", "baseline", "reference")
        assert [one for one in places if not (file.parent / one).exists()] == []


def test_the_catalog_has_every_shipped_task():
    import ludus

    shipped = set(known_tasks())
    assert shipped == {one for one in ludus.registry.registry if one.startswith("task/")}
    for name, folder in known_tasks().items():
        assert ludus.spec(name).kwargs == {"task": folder.name}


def marks(text):
    return LEAST.replace("{metric: accuracy}", f"{{metric: accuracy, {text}}}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id: 3", "t.yaml, id: Expected `str`, got `int`"),
        (
            LEAST + "resources: {memry: 1G}",
            "t.yaml, resources: Object contains unknown field `memry`; did you mean 'memory'?",
        ),
        (LEAST + "max_steps: 0", "t.yaml, max_steps: Expected `int` >= 1"),
        (
            LEAST + "submission: [{path: a.csv}, {path: b, format: xls}]",
            "t.yaml, submission[1].format: Invalid enum value",
        ),
        (LEAST + "resources: {memory: 8Q}", "resources.memory: expected bytes above 0, as 1048576 or '8G', got '8Q'"),
        (LEAST + "timeouts: {short: soon}", "timeouts.short: expected seconds above 0, as 90 or '30m', got 'soon'"),
        (LEAST + "network: everywhere", "network: expected 'none', 'loopback' or a tuple of host:port"),
        (LEAST + "submission: [{path: ../../etc/passwd}]", "submission[0].path: expected a relative path without '..'"),
        (LEAST + "data: {folder: /etc}", "data.folder: expected a relative path"),
        (LEAST.replace("accuracy", "niceness"), "evaluation.direction: expected 'maximize' or 'minimize'"),
        (marks("floor: .nan"), "evaluation.floor: expected a finite number, got nan"),
        (marks("reference: .inf"), "evaluation.reference: expected a finite number, got inf"),
        (marks("resolution: -1"), "evaluation.resolution: expected 0 or more, got -1.0"),
        (
            marks("floor: 0.9, reference: 0.5"),
            "evaluation.reference: expected a mark above the floor, got 0.5 and a floor of 0.9",
        ),
        (
            marks("floor: 0, threshold: 1, direction: minimize"),
            "evaluation.threshold: expected a mark below the floor, got 1 and a floor of 0",
        ),
        (
            marks("measured: [seconds, accuracy]"),
            "evaluation.measured: expected metrics beside the one that counts, which has to be the same for the same "
            "seed, got 'accuracy'; have the grader round it",
        ),
        (marks("public_split: test"), "evaluation.public_split: expected another split than the hidden one"),
        (LEAST + "cost: .nan", "cost: expected a finite number, got nan"),
        (LEAST + "submission: [{path: a, size: 0}]", "submission[0].size: expected bytes above 0"),
        ("id: [", "t.yaml: expected YAML, got"),
        ("id: A\nevaluation: {metric: a\nname: B", "did not find expected ',' or '}' at line 3, column 5"),
        (LEAST.replace("id: A", "id: 'a b'"), "id: expected a name like 'TabularRegression-v0', got 'a b'"),
    ],
)
def test_a_mistake_is_told_with_its_path(text, words):
    with pytest.raises(TaskFileError) as error:
        read_task_text(text, "t.yaml")
    assert words in str(error.value)


def test_a_task_survives_being_written():
    for file in LIBRARY.glob("*/task.yaml"):
        spec = read_task(file)
        assert read_task_text(write_task(spec)) == spec


def test_the_schema_is_plain_json():
    assert json.loads(json.dumps(task_schema()))["$defs"]["TaskSpec"]["additionalProperties"] is False


def test_a_name_that_is_unknown_is_answered_with_the_nearest():
    with pytest.raises(InvalidArgument, match="did you mean 'task/SatHeuristic-v0'"):
        find_task("task/SatHeuristics-v0")


def test_a_folder_of_a_variable_is_searched(parity, monkeypatch):
    monkeypatch.setenv("MLGYM_TASK_CONFIG_DIR", str(parity.parent))
    assert find_task("Parity").folder == parity


def test_normalised_scores_run_from_the_floor_to_the_reference():
    down = read_task_text(LEAST.replace("{metric: accuracy}", "{metric: rmse, floor: 10, reference: 2, threshold: 4}"))
    assert [down.evaluation.normalised(one) for one in (12, 10, 6, 2, None)] == [0.0, 0.0, 0.5, 1.0, 0.0]
    assert down.evaluation.reached(3.9)
    assert not down.evaluation.reached(4.1)
    assert not down.evaluation.reached(None)
    assert down.evaluation.better(3, 4)
    assert not down.evaluation.better(None, 4)
    assert down.evaluation.better(4, None)


@pytest.mark.parametrize(
    "path", ["grader.py", "./generator.py", "secrets/labels.csv", "reference/solution.py", "../x", "task.yaml"]
)
def test_what_agents_may_not_see_cannot_be_shared(path):
    data = "data: {generator: generator.py, hidden: secrets}\n"
    with pytest.raises(TaskFileError, match=r"shared"):
        read_task_text(f"{LEAST}{data}shared: [{path}]\n")


@pytest.mark.parametrize(("name", "meant"), [("SatHeuristc", "SatHeuristic"), ("sat_heurstic", "sat_heuristic")])
def test_a_name_that_is_nearly_one_is_told(name, meant):
    with pytest.raises(InvalidArgument, match=f"got '{name}'; did you mean '{meant}'"):
        find_task(name)
