"""`ludus ui`."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx

from ludus.registry import list_envs
from ludus.web.ui import built_in
from tests.patience import PATIENCE_S as PATIENCE


@contextmanager
def shown(*options, **environment):
    """The command as a program, and its address."""
    command = [Path(sys.executable).with_name("ludus"), "ui", *map(str, options)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=os.environ | environment, **pipes) as process:
        try:
            yield process, process.stdout.readline().split()[0]
        finally:
            process.kill()


def test_it_shows_everything_built_in_and_ends_in_order():
    with shown("--port", 0) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert "<title>Ludus</title>" in httpx.get(url).text
        names = [one["name"] for one in httpx.get(f"{url}/v1/envs").json()["envs"]]
        assert {"CartPole-v1", "open/Echo-v0"} <= set(names)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, "Traceback" in errors) == (0, False)


def test_it_shows_what_it_is_told_and_opens_a_browser(tmp_path):
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    with shown("GridWorld-v0", "--port", 0, "--open", BROWSER=f"{browser} %s") as (process, url):
        [env] = httpx.get(f"{url}/v1/envs").json()["envs"]
        assert env["name"] == "GridWorld-v0"
        while not opened.exists():
            assert process.poll() is None
        assert opened.read_text().strip() == url


def test_a_port_that_is_taken_is_one_line(ludus):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = ludus("ui", "CartPole-v1", "--port", taken.getsockname()[1])
    assert said.exit_code == 2
    assert "expected an address to be free" in said.stderr


def test_all_twelve_are_shown_and_a_class_of_many_games_once():
    shown = set(built_in())
    twelve = [
        "Echo",
        "OpenSpiel",
        "Connect4",
        "Atari",
        "BrowserGym",
        "Coding",
        "Chat",
        "Git",
        "FinRL",
        "SumoRL",
        "TextArena",
        "DIPGSafety",
    ]
    assert {f"open/{name}-v0" for name in twelve} <= shown
    assert not {spec.id for family in ("atari", "openspiel") for spec in list_envs(family=family)} & shown
    assert len(shown) > 40


def test_without_a_web_server_it_says_what_to_install():
    source = "import sys; sys.modules['starlette'] = None; from ludus.cli.main import app; app(['ui'])"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (
        done.stderr
        == "serve: expected the packages of the extra 'serve', got no starlette; pip install 'ludus-rl[serve]'\n"
    )
