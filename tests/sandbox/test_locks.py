"""Locks that only this user can hold."""

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from ludus.errors import SandboxError
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.containers import images
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.locks import user_lock

HOLD = """
import sys
from ludus.sandbox.locks import user_lock
with user_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setattr("ludus.sandbox.locks.tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_one_process_at_a_time(own):
    environment = os.environ | {"TMPDIR": str(own)}
    command = [sys.executable, "-c", HOLD, "a"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, env=environment) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(SandboxError, match=r"to be free within 0\.1 seconds"), user_lock("a", patience=0.1):
            pass
        with user_lock("b"):
            pass
        other.communicate()
    with user_lock("a"):
        pass


def test_a_folder_of_somebody_else_is_refused(own):
    (own / f"ludus-locks-{os.getuid()}").mkdir(mode=0o777)
    (own / f"ludus-locks-{os.getuid()}").chmod(0o777)
    with pytest.raises(SandboxError, match="yours alone"), user_lock("a"):
        pass


def test_an_image_is_built_whoever_has_locked_the_interpreter(own, monkeypatch):
    """As sandboxed code may, which can open it: it has the lock for as long as it likes."""
    built: list[str] = []
    monkeypatch.setattr(images, "_build", lambda api, name: built.append(name))
    api: Any = SimpleNamespace(image=lambda name: None)
    with ThreadPoolExecutor(1) as threads, open(interpreter(), "rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        name = threads.submit(images.host_image, api).result(60)
    assert built == [name]


def test_confined_code_cannot_hold_the_lock_of_images():
    """It may lock what it can open, the interpreter among it: nothing of ours waits on that."""
    script = f"import fcntl; f = open({interpreter()!r}); fcntl.flock(f, fcntl.LOCK_EX); print('held')"
    box = Sandbox("bubblewrap", limits=Limits(wall=20))
    assert box.run([interpreter(), "-I", "-S", "-c", script]).stdout == b"held\n"
    reach = f"import os; print(os.path.exists('/tmp/ludus-locks-{os.getuid()}'))"
    with user_lock("host-image"):
        assert box.run([interpreter(), "-I", "-S", "-c", reach]).stdout == b"False\n"
