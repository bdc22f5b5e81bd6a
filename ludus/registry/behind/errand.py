"""Errands: a program of `ludus.registry.behind`, run behind a wall to its end. What it answers is a stranger's word."""

from collections.abc import Iterable

from ludus.sandbox import Limits, Result, Sandbox
from ludus.sandbox.environment.interpreter import Interpreter

__all__ = ["errand"]

RUN = "from ludus.registry.behind.program import run; from ludus.registry.behind.{} import main; run(main)"


def errand(
    program: str, question: bytes, backend: str, limits: Limits, modules: Iterable[str] = (), network: str = "none"
) -> Result:
    """Run it with nothing but the interpreter and the packages of `modules` in sight."""
    interpreter = Interpreter(modules)
    policy = interpreter.policy(Sandbox(backend, limits=limits).policy)
    environment = dict(policy.environment)
    box = Sandbox(backend, limits=limits, mounts=policy.mounts, environment=environment, network=network)
    return box.run(interpreter.command(RUN.format(program)), input=question)
