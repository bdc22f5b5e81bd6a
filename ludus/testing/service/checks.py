"""`check_folder` and `check_url`: the suites, put together."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ludus.core.env import AnyEnv
from ludus.errors import EnvError, LudusError
from ludus.registry import make
from ludus.registry.resolution import resolve
from ludus.testing.env_contract import ENV_RULES
from ludus.testing.env_rules import seeds, snapshots
from ludus.testing.report import Finding, Report
from ludus.testing.rule import Examination, Found, Rule, SubjectT, Unchecked
from ludus.testing.service.checkup import Checkup
from ludus.testing.service.folder import EnvFolder
from ludus.testing.service.isolation_rules import ISOLATION_RULES, LIMIT_RULES
from ludus.testing.service.openenv_rules import OPENENV_RULES
from ludus.testing.service.service import Service
from ludus.testing.service.service_rules import SERVICE_RULES
from ludus.testing.service.static_rules import STATIC_RULES
from ludus.testing.subject import Subject

__all__ = ["check_folder", "check_url"]

ELSEWHERE = (
    seeds.another_seed_another_history,
    seeds.reset_continues_the_stream,
    snapshots.snapshot_fits_a_fresh_instance,
)
MAX_REMOTE_STEPS = 25
"""Steps of a history over a connection: each is a message there and back."""


def check_folder(folder: str | Path, *, seed: int = 0, steps: int = 100, serve: bool = True) -> Checkup:
    """Hold a folder to all that is asked of one that is shared; its code is run, here and behind a sandbox.

    Parts: `static`, `contract`, `isolation`, `limits`, and with `serve` what it is as a service: `service`,
    `openenv`, `wire`. An application made for OpenEnv has only the first and the last ones.

    >>> import tempfile
    >>> from ludus.packaging import scaffold
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     _ = scaffold("my_first_maze", parent)
    ...     check_folder(f"{parent}/my_first_maze", steps=10, serve=False).ok
    True
    """
    subject = EnvFolder(folder, seed=seed, steps=steps)
    parts = {"static": Examination(STATIC_RULES, subject).report()}
    if not parts["static"].ok:
        return Checkup(subject.name, parts)
    subject.manifest.enter()
    if subject.manifest.kind == "env":
        parts["contract"] = _contract(subject)
        if parts["contract"].ok:
            parts["isolation"] = Examination(ISOLATION_RULES, subject).report()
            parts["limits"] = Examination(LIMIT_RULES, subject).report()
    if serve:
        parts.update(_served(subject))
    return Checkup(subject.name, parts)


def check_url(url: str, *, token: str | None = None, seed: int = 0, steps: int = 100) -> Checkup:
    """Hold a server to all that is asked of one: by HTTP, and by the contract over the wire.

    Parts: `service`, `openenv` (its own criteria) and `wire` (the contract). ConnectionLost where nobody answers. A
    server of OpenEnv's own is held to the criteria of OpenEnv; what it lacks beside them are warnings.
    """
    service = Service(url, token=token, seed=seed, steps=min(steps, MAX_REMOTE_STEPS))
    service.http.get("/health")
    parts = {
        "service": Examination(SERVICE_RULES, service).report(),
        "openenv": Examination(OPENENV_RULES, service).report(),
    }
    if "handshake-works" in parts["service"].rules and not _failed(parts["service"], "handshake-works"):
        parts["wire"] = _over_the_wire(service)
        if service.is_stock:
            parts.update({name: _as_warnings(parts[name]) for name in ("service", "wire")})
    return Checkup(service.name, parts)


def _failed(report: Report, rule: str) -> bool:
    return any(one.rule == rule for one in report.errors)


def _as_warnings(report: Report) -> Report:
    return replace(report, findings=tuple(replace(one, level="warning") for one in report.findings))


def _contract(folder: EnvFolder) -> Report:
    """In this process, unless it asks for isolation: then none of its code runs outside one."""
    spec = folder.spec
    if resolve(spec).sandbox is None:
        return _examined(ENV_RULES, Subject(spec, seed=folder.seed, steps=folder.steps), folder.name)

    def isolated(**arguments: object) -> AnyEnv:
        return make(spec, disable_env_checker=True, kwargs=arguments)

    return _examined(REMOTE_RULES, Subject(isolated, seed=folder.seed, steps=folder.steps), folder.name)


def _over_the_wire(service: Service) -> Report:
    """The render mode is the server's: there, no window opens."""
    try:
        return _examined(REMOTE_RULES, Subject(service.connected, seed=service.seed, steps=service.steps), service.name)
    finally:
        service.tidy()


def _kept_elsewhere(rule: Rule[Subject]) -> Rule[Subject]:
    """The same rule, not checked where it would need what does not leave the server, or the sandbox."""

    def check(subject: Subject) -> Found:
        try:
            yield from rule.check(subject)
        except EnvError as error:
            raise Unchecked(f"state and generator stay where the environment is: {error}") from error

    check.__name__, check.__doc__ = rule.check.__name__, rule.check.__doc__  # pyright: ignore[reportFunctionMemberAccess]
    return Rule(check, rule.needs)


def _served(folder: EnvFolder) -> dict[str, Report]:
    """What it is as a service: it is served on this machine, and checked at its address."""
    rule = "can-be-served"
    try:
        from ludus.server.run import serve  # it needs the packages of an extra

        running = serve(str(folder.path), port=0, block=False)
    except ImportError as error:
        why = f"the packages that serve are missing: {error}; pip install 'ludus-rl[serve]'"
        if folder.manifest.kind == "asgi":
            return {"service": Report(folder.name, (rule,), (Finding("error", rule, why, "install what it needs"),))}
        return {"service": Report(folder.name, (), (), {rule: why})}
    except LudusError as error:
        return {"service": Report(folder.name, (rule,), (Finding("error", rule, str(error), "install what it needs"),))}
    with running:
        found = check_url(running.url, seed=folder.seed, steps=folder.steps)
    return dict(found.parts)


REMOTE_RULES = tuple(_kept_elsewhere(rule) if rule.check in ELSEWHERE else rule for rule in ENV_RULES)


def _examined(rules: Sequence[Rule[SubjectT]], subject: SubjectT, name: str) -> Report:
    subject.name = name
    return Examination(rules, subject).report()
