"""Environments of ours as OpenEnv's: at its own server, by its own client, and back."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.server.openenv_peers import python_of, quiet

PROGRAM = Path(__file__).with_name("openenv_exported.py")


@pytest.fixture(scope="module")
def histories():
    """By environment: at OpenEnv's server, at ours, bare, and there and back."""
    paths = [str(PROGRAM.parents[2]), sysconfig.get_paths()["purelib"]]
    command = [str(python_of("0.10.0")), str(PROGRAM), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=quiet(), check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["Cards", "Slope", "Choice"])
def test_records_arrays_infos_and_outcomes_are_the_same_at_openenvs_server_and_at_ours(histories, name):
    assert histories[name]["stock"] == histories[name]["ours"]
    assert len(histories[name]["ours"][0]) >= 3


@pytest.mark.parametrize("name", ["Cards", "Slope", "Choice", "Meter"])
def test_there_and_back_nothing_has_changed(histories, name):
    assert histories[name]["direct"] == histories[name]["again"]


def test_fields_by_names_that_openenv_has_for_itself_are_not_lost(histories):
    theirs, count = histories["Meter"]["stock"]
    assert [[[seen["value"], *more] for seen, *more in theirs], count] == histories["Meter"]["ours"]
    assert [seen["value"]["reward"] for seen, *_ in theirs] == [0, 3, 1]
