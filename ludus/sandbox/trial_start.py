"""Probing: really start something, and see whether the isolation holds."""

import subprocess
import time
from collections.abc import Sequence

from ludus.errors import SandboxError
from ludus.sandbox.backend import Backend, Probe
from ludus.sandbox.policy import Limits, Policy

__all__ = ["try_start"]

POLICY = Policy(limits=Limits(wall=10.0))


def try_start(backend: Backend, argv: Sequence[str], version: str = "") -> Probe:
    """Run a command that must end with 0; what it prints is the reason where it does not."""
    begin = time.perf_counter()
    try:
        with backend.start(argv, POLICY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            output = process.stdout.read(4096).decode("utf8", "replace").strip()
            code = process.wait()
    except (OSError, SandboxError) as error:
        return Probe(False, str(error))
    took = (time.perf_counter() - begin) * 1000
    return Probe(True, version, took) if code == 0 else Probe(False, f"exit code {code}: {output}", took)
