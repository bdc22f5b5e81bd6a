"""`run_isolated`: a program of this package, run in a sandbox to its end. What it answers is not trusted."""

from collections.abc import Iterable

from ludus.sandbox import Limits, Sandbox, SandboxResult
from ludus.sandbox.environment.interpreter import Interpreter

__all__ = ["run_isolated"]

RUN = f"from {__package__}.program import run; from {__package__}.{{}} import main; run(main)"


def run_isolated(
    program: str, question: bytes, backend: str, limits: Limits, modules: Iterable[str] = (), network: str = "none"
) -> SandboxResult:
    """Run it with nothing but the interpreter and the packages of `modules` in sight."""
    interpreter = Interpreter(modules)
    policy = interpreter.policy(Sandbox(backend, limits=limits).policy)
    environment = dict(policy.environment)
    box = Sandbox(backend, limits=limits, mounts=policy.mounts, environment=environment, network=network)
    return box.run(interpreter.command(RUN.format(program)), input=question)
