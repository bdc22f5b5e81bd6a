"""The installer: uv is told whatever pip is told about where packages come from."""

import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def uv(script):
    return script("uv")


def test_what_pip_is_set_up_with_holds_for_uv(uv):
    assert uv.settings(
        [
            "global.index-url='https://one.example/simple'",
            "global.extra-index-url='https://two.example/simple\\nfile:///three/simple'",
            "global.find-links='/wheels /more wheels'",
            "global.cert='/etc/ca.pem'",
            "install.trusted-host='two.example'",
            "list.format='json'",
        ]
    ) == {
        "UV_DEFAULT_INDEX": "https://one.example/simple",
        "UV_INDEX": "https://two.example/simple file:///three/simple",
        "UV_FIND_LINKS": "/wheels,/more,wheels",
        "SSL_CERT_FILE": "/etc/ca.pem",
        "UV_INSECURE_HOST": "two.example",
    }


def test_the_nearest_setting_counts(uv):
    lines = [":env:.timeout='3'", "install.timeout='2'", "global.timeout='1'", "download.timeout='4'"]
    assert uv.settings(lines) == {"UV_HTTP_TIMEOUT": "3"}
    assert uv.settings(lines[1:]) == {"UV_HTTP_TIMEOUT": "2"}


def test_what_somebody_set_for_uv_goes_before_pip(uv):
    known = uv.environment({"UV_INDEX": "pips", "UV_NO_INDEX": "1"}, {"UV_INDEX": "mine"})
    assert (known["UV_INDEX"], known["UV_NO_INDEX"]) == ("mine", "1")


def test_whoever_has_another_lock_has_another_uv_and_no_clone_has_one_of_its_own(uv, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    mine = uv.place("uv==1", {})
    assert mine.parent == Path("/home/ada/.cache/ludus/uv")
    assert mine == uv.place("uv==1", {"XDG_CACHE_HOME": ""}) != uv.place("uv==2", {})


def written_wheel(folder):
    """A package `nothing` in a folder."""
    wheel = folder / "nothing-1.0-py3-none-any.whl"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(wheel, "w") as parts:
        parts.writestr("nothing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n")
        parts.writestr("nothing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        parts.writestr("nothing-1.0.dist-info/RECORD", "")
    return wheel


def test_what_was_installed_before_needs_no_index_and_no_network(tmp_path):
    wheel = written_wheel(tmp_path / "site" / "nothing")
    page = f'<a href="{wheel.name}">{wheel.name}</a>'
    (wheel.parent / "index.html").write_text(f"<!DOCTYPE html><html><body>{page}</body></html>")
    lock, digest = tmp_path / "lock", hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock.write_text(f"nothing==1.0 --hash=sha256:{digest}\n")
    serve = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        variables = {"UV_DEFAULT_INDEX": f"http://127.0.0.1:{server.server_port}/", "UV_CACHE_DIR": str(tmp_path / "c")}
        known = {**os.environ, **variables, "UV_INDEX": "", "UV_FIND_LINKS": ""}

        def install(name):
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / name], check=True)
            command = [
                sys.executable,
                "scripts/uv.py",
                "pip",
                "install",
                "--python",
                tmp_path / name / "bin" / "python",
            ]
            subprocess.run([*command, "--require-hashes", "-r", lock], cwd=ROOT, env=known, check=True)
            return list((tmp_path / name).rglob("nothing-1.0.dist-info"))

        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert install("first")
        finally:
            server.shutdown()
            thread.join()
    assert install("second")


def test_what_is_not_in_a_lock_is_refused(tmp_path):
    """By uv itself, as we start it: a requirement without its hash, and a file that has another."""
    wheel = written_wheel(tmp_path / "wheels")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    for lock, said in {
        "nothing==1.0": "all requirements must have",
        f"nothing==1.0 --hash=sha256:{'a' * 64}": "Hash mismatch",
    }.items():
        (tmp_path / "lock").write_text(f"{lock}\n")
        command = [sys.executable, "scripts/uv.py", "pip", "install", "--python", tmp_path / "venv" / "bin" / "python"]
        where = ["--no-index", "--find-links", wheel.parent, "--require-hashes", "-r", tmp_path / "lock"]
        done = subprocess.run([*command, *where], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert said in done.stderr, done.stderr
