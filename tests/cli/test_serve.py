"""`ludus serve` and `ludus sessions`."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import ludus as library
from ludus.cli.serve import variables
from ludus.cli.tokens import gathered
from ludus.errors import InvalidArgument
from ludus.server import Access
from tests.patience import PATIENCE_S as PATIENCE

RUN, STEP = "orchestrator-of-tests", "the-agent-of-the-tests"


@contextmanager
def serving(*options, cwd=None, **environment):
    """The command as a program: its process, its address, and what else its line says."""
    command = [Path(sys.executable).with_name("ludus"), "serve", "--port", "0", *map(str, options)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=cwd, env=os.environ | environment, **pipes) as process:
        try:
            url, _, rest = process.stdout.readline().rstrip("\n").partition(" ")
            yield process, url, rest
        finally:
            process.kill()


def stopped(process, number=signal.SIGTERM):
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_in_a_line_what_it_serves_and_ends_in_order(number):
    with serving("CartPole-v1", "GridWorld-v0", "--isolation", "process") as (process, url, rest):
        assert rest == "serves CartPole-v1 (isolation: process), GridWorld-v0 (isolation: process)"
        assert httpx.post(f"{url}/reset", json={"seed": 1}, timeout=PATIENCE).status_code == 200
        started = [int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        code, errors = stopped(process, number)
        assert code == 0
        assert "Traceback" not in errors
        assert 'why="the server stops"' in errors
        assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []


def test_a_module_of_the_current_folder_is_served(folder):
    with serving("my_module:Corridor", "--isolation", "none", cwd=folder) as (process, url, rest):
        assert rest == "serves Corridor (isolation: none)"
        assert httpx.post(f"{url}/reset", json={}).status_code == 200
        assert stopped(process)[0] == 0


@pytest.mark.parametrize(("mode", "code"), [("production", 404), ("PRODUCTION", 404), ("simulation", 200)])
def test_openenvs_variable_says_whether_agents_may_reset(mode, code):
    with serving("open/Echo-v0", OPENENV_MODE=mode) as (_, url, _):
        assert httpx.post(f"{url}/reset", json={}, timeout=PATIENCE).status_code == code
        assert httpx.get(f"{url}/health", timeout=PATIENCE).json() == {"status": "healthy"}


def test_tokens_come_from_the_environment_or_a_file_and_are_not_told(tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"# who may step\nagent={STEP}\n")
    file.chmod(0o644)
    options = ("CartPole-v1", "--token-file", file, "--json-logs")
    with serving(*options, LUDUS_TOKENS=f"orchestrator={RUN}") as (process, url, _):
        codes = [
            httpx.post(f"{url}/reset", json={}, headers={"Authorization": f"Bearer {token}"}).status_code
            for token in (RUN, STEP, "another")
        ]
        assert codes == [200, 403, 401]
        code, errors = stopped(process)
    assert code == 0
    warning, *lines = errors.splitlines()
    assert "can be read by others; `chmod 600" in warning
    assert {"opened", "closed"} <= {json.loads(line)["event"] for line in lines}
    assert RUN not in errors
    assert STEP not in errors


def test_a_token_on_the_command_line_is_warned_of_and_a_wrong_one_is_not_shown(ludus):
    shown = ludus("serve", "CartPole-v1", "--token", "secret-without-a-role")
    assert shown.exit_code == 2
    assert "a token on the command line can be read by others" in shown.stderr
    assert "token: expected ROLE=TOKEN" in shown.stderr
    assert "secret-without" not in shown.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "give tokens (LUDUS_TOKENS, --token-file), or say --insecure"),
        (["--token-file", "/nowhere"], "--token-file: expected a file with ROLE=TOKEN on each line"),
        (["--deadline", "0"], "config deadline: expected a number above 0"),
        (["--isolation", "paper"], "isolation"),
        (["--variable", "NOT_SET_HERE"], "--variable: expected NAME=VALUE, or a NAME that is set here, got 'NOT_SET_"),
        (["--tls-cert", "x"], "expected a certificate and its key"),
        (["--port", "0", "--unix", "/"], "unix socket: expected a path that is free"),
    ],
)
def test_what_cannot_be_is_one_line(ludus, options, words):
    shown = ludus("serve", "CartPole-v1", *options)
    assert (shown.exit_code, words in shown.stderr) == (2, True), shown.stderr


def test_an_environment_that_is_not_there_is_one_line(ludus):
    shown = ludus("serve", "CartPool-v1")
    assert (shown.exit_code, "did you mean" in shown.stderr) == (2, True)


def test_variables_of_sessions_have_a_value_or_are_taken_from_here(monkeypatch):
    monkeypatch.setenv("OF_THE_SHELL", "a=b")
    assert variables(["GAME=chess", "EMPTY=", "OF_THE_SHELL"]) == {"GAME": "chess", "EMPTY": "", "OF_THE_SHELL": "a=b"}


def test_tokens_are_taken_out_of_the_environment(monkeypatch):
    monkeypatch.setenv("LUDUS_TOKENS", f"agent={STEP}, orchestrator={RUN}")
    assert gathered(["observer=one-more-of-the-tests"], None) == {
        "one-more-of-the-tests": "observer",
        STEP: "agent",
        RUN: "orchestrator",
    }
    assert "LUDUS_TOKENS" not in os.environ
    for word in ("agent", "agent=", f"={RUN}"):
        with pytest.raises(InvalidArgument, match="expected ROLE=TOKEN"):
            gathered([word], None)


# --- ludus sessions ---


@pytest.fixture(scope="module")
def running():
    access = Access({RUN: "orchestrator", STEP: "agent"})
    with library.serve("CartPole-v1", port=0, block=False, access=access) as running:
        yield running


@pytest.fixture
def session(running):
    """One session; all are closed in the end."""
    headers = {"Authorization": f"Bearer {RUN}"}
    yield httpx.post(f"{running.url}/reset", json={}, headers=headers).headers["x-session-id"]
    for one in httpx.get(f"{running.url}/v1/sessions", headers=headers).json()["sessions"]:
        httpx.delete(f"{running.url}/v1/sessions/{one['id']}", headers=headers)


def test_sessions_are_a_table_or_json(ludus, read, running, session, monkeypatch):
    shown = ludus("sessions", running.url, "--token", RUN).stdout
    assert f"{session[:8]}…" in shown
    assert session not in shown
    assert "CartPole-v1" in shown
    assert "1 session\n" in shown
    monkeypatch.setenv("LUDUS_TOKEN", RUN)
    assert [one["id"] for one in read(ludus("sessions", running.url, "--json").stdout)["sessions"]] == [session]


def test_a_session_is_killed_by_the_start_of_its_id(ludus, read, running, session):
    shown = ludus("sessions", running.url, "--token", RUN, "--kill", f"{session[:8]}…")
    assert shown.stdout == f"closed {session[:8]}…\n"
    assert read(ludus("sessions", running.url, "--token", RUN, "--json").stdout)["sessions"] == []
    again = ludus("sessions", running.url, "--token", RUN, "--kill", session)
    assert (again.exit_code, "got that of 0" in again.stderr) == (2, True)


def test_sessions_without_the_right_or_a_server_are_one_line(ludus, running):
    for arguments, words in (
        ((running.url,), "token: expected one of the server's, got none"),
        ((running.url, "--token", STEP), "expected a role with the right to run, got agent"),
        (("http://127.0.0.1:9",), "expected a Ludus server"),
        (("ftp://127.0.0.1",), "url: expected one like http://127.0.0.1:8000"),
    ):
        shown = ludus("sessions", *arguments)
        assert (shown.exit_code, words in shown.stderr) == (2, True), shown.stderr
