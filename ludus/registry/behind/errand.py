"""Errands: a program of `ludus.registry.behind`, run behind a wall to its end. What it answers is a stranger's word."""

import sys
from collections.abc import Iterable

from ludus.sandbox import Limits, Result, Sandbox
from ludus.sandbox.environment.interpreter import FLAGS, Interpreter

__all__ = ["errand"]

BOOT = (
    "import sys; sys.prefix = sys.exec_prefix = sys.argv[1]; sys.path += sys.argv[2:]; del sys.argv[1:]; "
    "from ludus.registry.behind.program import run; from ludus.registry.behind.{} import main; run(main)"
)


def errand(program: str, question: bytes, backend: str, limits: Limits, modules: Iterable[str] = ()) -> Result:
    """Run it with nothing but the interpreter and the packages of `modules` in sight."""
    interpreter = Interpreter(modules)
    policy = interpreter.policy(Sandbox(backend, limits=limits).policy)
    box = Sandbox(backend, limits=limits, mounts=policy.mounts, environment=dict(policy.environment))
    argv = [sys.executable, *FLAGS, "-c", BOOT.format(program), sys.prefix, *interpreter.paths]
    return box.run(argv, input=question)
