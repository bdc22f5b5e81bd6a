"""What a folder says of itself holds where it is served."""

import sys

import pytest

from ludus.serve.settings import Settings
from ludus.serve.targets import offered

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
    (tmp_path / "ludus.toml").write_text(MANIFEST)
    return str(tmp_path)


def test_its_version_and_the_time_of_its_steps_are_its_own(folder):
    [served] = offered([folder], Settings())
    assert (served.version, served.settings.deadline) == ("2.3.4", 90.0)


def test_whoever_serves_it_may_say_otherwise(folder):
    [served] = offered([folder], Settings(deadline=5.0))
    assert served.settings.deadline == 5.0
