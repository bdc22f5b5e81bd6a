"""Importing the client opens little: what a connection needs is loaded with the connection."""

import subprocess
import sys

HEAVY = {"asyncio", "ssl", "http", "websockets", "ludus.sandbox.containers", "ludus.server", "numba", "zstandard"}


def test_importing_the_client_opens_nothing_heavy():
    program = "import sys, numpy; from ludus.client import connect; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "ludus.client.connection" in loaded
    assert HEAVY & set(loaded) == set()
