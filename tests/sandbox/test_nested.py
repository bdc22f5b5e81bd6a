"""A sandbox in a sandbox: processes of others, which the kernel counts for the same user, are in nobody's way."""

import os
import sys

import pytest

from ludus.sandbox import Limits, Sandbox, enforcement, python_mounts
from ludus.sandbox.user import USER

INNER = """
from ludus.sandbox import Limits, Sandbox
box = Sandbox("landlock", limits=Limits(wall=20, processes=4))
print(box.run(["/bin/echo", "within"]).stdout.decode().strip(), box.guarantees.processes)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's sandboxes share a user")
def test_the_sandbox_around_it_bounds_the_processes_of_an_inner_one():
    outer = Sandbox("bubblewrap", limits=Limits(wall=60, processes=64), mounts=python_mounts())
    other = Sandbox("bubblewrap", limits=Limits(wall=60))
    with other.start(["/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 50 & done; wait"]) as crowd:
        done = outer.run([sys.executable, "-c", INNER])
        crowd.kill()
    assert done.stdout.decode().split("\n")[0] == "within the sandbox around it", done.stderr


def test_outside_of_a_sandbox_nothing_is_nested(monkeypatch):
    assert not enforcement.is_nested()
    monkeypatch.setattr(os, "getuid", lambda: USER)
    assert not enforcement.is_nested()
    monkeypatch.setattr(os, "readlink", lambda path: "pid:[4026532000]")
    assert enforcement.is_nested()
