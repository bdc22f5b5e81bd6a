"""What a folder says of itself holds where it is served."""

import sys

import pytest

from ludus.errors import LudusError
from ludus.server.settings import Settings
from ludus.server.targets import offered

MANIFEST = """
name = "patient_game"
environment = "patient_game:PatientGame"
version = "2.3.4"

[resources]
step_seconds = 90
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "ludus.toml").write_text(MANIFEST)
    return str(tmp_path)


def test_its_version_and_the_time_of_its_steps_are_its_own(folder):
    [served] = offered([folder], Settings())
    assert (served.version, served.settings.deadline) == ("2.3.4", 90.0)


def test_whoever_serves_it_may_say_otherwise(folder):
    [served] = offered([folder], Settings(deadline=5.0))
    assert served.settings.deadline == 5.0


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of functions of which some make environments."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "wrong_makers.py").write_text(
        "import ludus\n"
        "def number():\n    return 3\n"
        "def sized(size):\n    return ludus.make('GridWorld-v0', size=size)\n"
        "def right():\n    return ludus.make('CartPole-v1')\n"
    )
    yield "wrong_makers"
    sys.modules.pop("wrong_makers", None)


def test_a_function_that_makes_no_environment_is_refused_at_the_start(module):
    with pytest.raises(LudusError, match="3"):
        offered([f"{module}:number"], Settings())


def test_a_function_that_makes_one_is_served_and_so_is_one_whose_arguments_callers_give(module):
    right, sized = offered([f"{module}:right", f"{module}:sized"], Settings())
    assert right.described is not None
    assert sized.described is None
    with sized.make(arguments={"size": 3}) as env:
        assert env.reset(seed=0)[0].shape == (2,)
