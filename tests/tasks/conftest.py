"""Small tasks for tests: one whose data are files, and environments that are closed at the end."""

from pathlib import Path

import pytest

from ludus.tasks import TaskEnv
from ludus.tools import Call

TASK = """
id: Parity-v0
name: Say whether numbers are even
description: Write answer.json, a list of true and false.
max_steps: 12
forfeits: 3
timeouts: {short: 20, long: 40, total: 300, grading: 30}
evaluation:
  {metric: accuracy, floor: 0.5, baseline: 0.75, reference: 1.0, threshold: 0.9, validations: 2, resolution: 0.1}
submission:
  - {path: answer.json, format: json, size: 1K}
resources: {memory: 256M, disk: 8M, processes: 32, file_size: 4M}
data: {generator: generator.py}
read_only: [rules.txt]
requirements: []
"""
GENERATOR = """
import json


def generate(seed, public, hidden):
    numbers = [(seed * 7919 + one * 104729) % 1000 for one in range(20)]
    (public / "numbers.json").write_text(json.dumps(numbers))
    (hidden / "answers.json").write_text(json.dumps([one % 2 == 0 for one in numbers]))
"""
GRADER = """
import json

from ludus.tasks.inside.case import Case, Rejected


def grade(case):
    right = json.loads((case.hidden / "answers.json").read_text())
    given = case.read_json("answer.json")
    if not isinstance(given, list) or len(given) != len(right):
        raise Rejected(f"answer.json: expected a list of {len(right)} answers")
    return sum(one is other for one, other in zip(given, right)) / len(right)
"""
SOLUTION = """
import json

numbers = json.load(open("data/numbers.json"))
json.dump([one % 2 == 0 for one in numbers], open("answer.json", "w"))
"""
SOLVE = "import json; print(json.dumps([n % 2 == 0 for n in json.load(open('data/numbers.json'))]))"


def write_folder(folder: Path, **files: str) -> Path:
    """A task folder; keyword arguments replace files, with `__` for the dot."""
    content = {"task.yaml": TASK, "generator.py": GENERATOR, "grader.py": GRADER, "starter/rules.txt": "no rules\n"}
    content |= {"reference/solution.py": SOLUTION}
    content |= {name.replace("__", "."): text for name, text in files.items()}
    for name, text in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def parity(tmp_path):
    """The folder of a small task."""
    return write_folder(tmp_path / "parity")


@pytest.fixture
def env(parity):
    """An environment of it, reset."""
    with TaskEnv(parity) as made:
        made.reset(seed=3)
        yield made


def shell(env, command, **arguments):
    """What a command printed."""
    return env.step(Call("shell", {"command": command, **arguments}))
