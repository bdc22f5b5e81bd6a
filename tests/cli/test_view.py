"""`ludus view`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import ludus as library
from ludus.trajectory import Recorder
from tests.patience import PATIENCE_S as PATIENCE


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "run.ludus"
    with Recorder(library.make("CartPole-v1"), path) as env:
        for seed in range(2):
            env.reset(seed=seed)
            while not env.step(1).terminated:
                pass
    return path


def test_it_shows_runs_at_an_address_of_its_own_and_ends_in_order(recorded, tmp_path):
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    command = [Path(sys.executable).with_name("ludus"), "view", f"{recorded}#1"]
    environment = os.environ | {"BROWSER": f"{browser} %s"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        try:
            url = process.stdout.readline().split()[0]
            assert "<title>Ludus</title>" in httpx.get(url).text
            told = httpx.get(f"{url}ask/runs").json()
            assert (told["runs"][0]["episodes"], told["chosen"]) == (2, [{"run": 0, "n": 1}])
            assert httpx.get(f"{url}ask/nothing").status_code == 422
            while not opened.exists():
                assert process.poll() is None
            assert opened.read_text().strip() == url
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
            assert (process.returncode, "Traceback" in errors) == (0, False)
        finally:
            process.kill()


def test_it_writes_one_file(ludus, recorded, tmp_path):
    said = ludus("view", recorded, "--html", tmp_path / "out.html")
    assert said.exit_code == 0, said.stderr
    assert "2 episodes" in said.stdout
    assert (tmp_path / "out.html").read_text(encoding="utf8").startswith("<!doctype html>")
    again = ludus("view", recorded, "--html", tmp_path / "out.html")
    assert (again.exit_code, "expected a path for a new file" in again.stderr) == (2, True)


def test_what_cannot_be_shown_is_one_line(ludus, recorded, tmp_path):
    for file, why in [
        (tmp_path / "none.ludus", "expected a file that can be read"),
        (__file__, "expected a run"),
        (f"{recorded}#9", "episode: expected 0 to 1"),
    ]:
        said = ludus("view", file, "--no-browser")
        assert (said.exit_code, said.stderr.count("\n")) == (2, 1)
        assert why in said.stderr
