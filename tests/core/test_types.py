"""What a type checker knows of a user's program."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.core import typed_program

PROGRAM = Path(__file__).with_name("typed_program.py")
ROOT = Path(__file__).parents[2]


def test_a_strictly_typed_program_has_the_types_that_it_claims(tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    config = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", "-p", str(tmp_path)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=False, timeout=900).stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    assert [f"{one['range']['start']['line'] + 1}: {one['message']}" for one in found["generalDiagnostics"]] == []


def test_the_typed_program_runs() -> None:
    assert typed_program.make_by_class() == 1.0
    assert isinstance(typed_program.make_by_id(), float)
    assert typed_program.wrapped() == 2.0
    assert typed_program.of_models() == 1.0
    assert typed_program.batched() == 4
    assert typed_program.batched_as_known() == 6
    assert typed_program.batch_of_any(typed_program.Walk).num_envs == 2
    assert typed_program.own_space() == 2
    assert 0.0 <= typed_program.samples() <= 1.0
    assert typed_program.size(typed_program.Named.observation_space) == 4
    assert typed_program.size(typed_program.Named.action_space) == 3
    assert typed_program.agents() == 1.0
    assert typed_program.episode() == 2.0
    assert typed_program.own_wrappers() == 4.0 + 3.0
    assert typed_program.own_batch() == 1
    assert typed_program.transformed() == 2.0 + 2.0
    assert typed_program.looked_at() == {"ndarray", "Question", "int"}
    assert typed_program.round_trip(typed_program.Countdown()) == "success"
    assert typed_program.guessed() == 1.0
    assert typed_program.pictures() == (2, 2, 3)
