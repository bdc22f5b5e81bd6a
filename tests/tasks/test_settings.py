"""Variables of the environment: what each does to a task, under our name and under those that MLGym's users know."""

import pytest

from ludus.errors import InvalidArgument
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.variables import SETTINGS, setting, whole_number
from ludus.tools import Call
from tests.tasks.conftest import shell

TALK = "(mkfifo gate; exec 9<> gate; while :; do read -t 0.05 -u 9; echo word; done)"
"""Words without an end, and no program for each: a busy machine would make silence of what it takes to start one."""


def names(name):
    return SETTINGS[name][0]


@pytest.mark.parametrize("variable", names("config_root"))
def test_tasks_of_a_configuration_folder_are_found(parity, tmp_path, monkeypatch, variable):
    place = tmp_path / "root" / "tasks" / "parity"
    place.parent.mkdir(parents=True)
    parity.rename(place)
    monkeypatch.setenv(variable, str(tmp_path / "root"))
    assert find_task("Parity").folder == place


@pytest.mark.parametrize("variable", names("task_config_dir"))
def test_tasks_of_a_folder_of_tasks_are_found(parity, monkeypatch, variable):
    monkeypatch.setenv(variable, str(parity.parent))
    assert find_task("task/Parity-v0").folder == parity


@pytest.mark.parametrize("family", ["LUDUS", "MLGYM"])
def test_workspaces_and_timeouts_are_those_of_the_variables(parity, tmp_path, monkeypatch, family):
    place = tmp_path / "workspaces"
    told = {"WORKSPACE_PATH": str(place), "ENV_TIMEOUT": "90", "ACTION_SHORT_TIMEOUT": "2.5"}
    for name, value in (told | {"ACTION_LONG_TIMEOUT": "3", "ACTION_NO_OUTPUT_TIMEOUT": "2"}).items():
        monkeypatch.setenv(f"{family}_{name}", value)
    with TaskEnv(parity) as env:
        observation, _ = env.reset(seed=0)
        assert "of 90 seconds left" in observation.result
        [base] = place.iterdir()
        assert (base / "work" / "rules.txt").is_file()
        silent = shell(env, "sleep 600")
        assert silent.info["command"]["timed_out"]
        short, asked = shell(env, TALK), shell(env, TALK, seconds=3600.0)
        assert "[stopped after 2.5 seconds" in short.observation.result
        assert "[stopped after 3 seconds" in asked.observation.result
    assert list(place.iterdir()) == []


def test_silence_is_limited_by_the_variable_of_mlgyms_code(parity, monkeypatch):
    monkeypatch.setenv("MLGYM_AGENT_ACTION_NO_OUTPUT_TIMEOUT", "0.2")
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        assert shell(env, "echo word; sleep 600").info["command"]["timed_out"]


def test_our_name_goes_before_mlgyms_and_an_empty_one_counts_for_nothing():
    given = {"MLGYM_ENV_TIMEOUT": "5", "LUDUS_ENV_TIMEOUT": "7"}
    assert setting("env_timeout", given).origin == "LUDUS_ENV_TIMEOUT"
    assert setting("env_timeout", given | {"LUDUS_ENV_TIMEOUT": " "}).value == "5"


@pytest.mark.parametrize("variable", names("model_max_retries"))
def test_retries_are_a_whole_number(monkeypatch, variable):
    monkeypatch.setenv(variable, "3")
    assert whole_number("model_max_retries") == 3
    monkeypatch.setenv(variable, "many")
    with pytest.raises(InvalidArgument, match=f"{variable}: expected a whole number, got 'many'"):
        whole_number("model_max_retries")


def test_a_time_that_is_none_stops_the_reset_with_its_variable(parity, monkeypatch):
    monkeypatch.setenv("MLGYM_ACTION_SHORT_TIMEOUT", "soon")
    with TaskEnv(parity) as env, pytest.raises(InvalidArgument, match="MLGYM_ACTION_SHORT_TIMEOUT: expected seconds"):
        env.reset(seed=0)
    monkeypatch.delenv("MLGYM_ACTION_SHORT_TIMEOUT")
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        assert env.step(Call("budget")).observation.result.startswith("steps: 11 of 12 left")
