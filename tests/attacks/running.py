"""Running attacks: a scene, a start, a look, a judgement."""

import os
import pty
import time
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any

import msgspec

from ludus.errors import InvalidArgument, SandboxError, SandboxUnavailable
from ludus.sandbox import Mount, Policy, Sandbox
from tests.attacks.attack import Account, Attack, Moment, Outcome
from tests.attacks.isolated import is_isolated, isolated
from tests.attacks.no_isolation import NoIsolation
from tests.attacks.playing import Playground, play_moment, sandboxed_env
from tests.attacks.scene import Scene
from tests.attacks.trial import Trial, command
from tests.patience import PATIENCE_S as PATIENCE

__all__ = ["Deeds", "run_attack", "run_probes"]

HELD_KINDS = ("", "OSError", "MemoryError", "signal")
"""What may keep an attack from more; anything else is a mistake of its own."""
RELEASE = os.uname().release
ENDED_BY = {"wall", "cpu"}
"""Limits that alone end an attack; whatever is tried on others ends by itself, however slow the machine is."""
SOON = 1.5
"""Seconds for an attack that nothing ends, where there is no isolation."""


def run_attack(attack: Attack, sandbox: Sandbox) -> Outcome:
    """Run one attack, in a start of its own; without isolation in namespaces of its own, and one of `attacks()`.

    >>> from tests.attacks import attacks, without_isolation
    >>> [attack] = [attack for attack in attacks() if attack.name == "read-keys"]
    >>> run_attack(attack, without_isolation()).held
    False
    """
    if attack.kind == "probe":
        return run_probes([attack], sandbox)[attack.name]
    if _is_bare(sandbox) and not is_isolated():
        return _run_isolated([attack])[attack.name]
    if attack.kind == "step":
        with Deeds(sandbox) as deeds:
            return deeds.run(attack)
    if attack.kind == "moment":
        return _outcome(attack, None, play_moment(attack.program, partial(sandboxed_env, sandbox)))
    with Scene([attack.name], bare=_is_bare(sandbox)) as scene:
        policy = _policy(attack, sandbox, scene)
        try:
            if attack.kind == "command":
                account = _run_command(attack, sandbox, policy, scene)
            else:
                account = _run_alone(attack, sandbox, policy, scene)
        except (SandboxUnavailable, InvalidArgument) as refused:
            return Outcome(attack=attack.name, held=True, evidence=f"refused to start: {refused}")
        except SandboxError as error:
            return Outcome(attack=attack.name, held=False, mistake=True, evidence=str(error))
        return _outcome(attack, scene, account)


def run_probes(attacks: Sequence[Attack], sandbox: Sandbox) -> dict[str, Outcome]:
    """Run several probes in one start, each in a process of its own, and judge each."""
    if _is_bare(sandbox) and not is_isolated():
        return _run_isolated(attacks)
    mark = os.urandom(8).hex()
    with Scene([attack.name for attack in attacks], bare=_is_bare(sandbox)) as scene:
        policy = _policy(None, sandbox, scene)
        if any("sibling" in attack.name for attack in attacks):
            scene.add_sibling(sandbox)
        programs = {attack.name: attack.program for attack in attacks}
        trial = Trial(sandbox, policy, command(programs, scene.aim(), mark))
        trial.finish(PATIENCE)
        if scene.sibling is not None:
            scene.sibling.close()
        return {attack.name: _outcome(attack, scene, _account(trial, attack.name)) for attack in attacks}


class Deeds:
    """Deeds of hostile environments, one after the other: environments that survive one are kept for the next.

    >>> from ludus.sandbox import Sandbox
    >>> from tests.attacks import attacks
    >>> lies = [attack for attack in attacks() if attack.name in ("channel-reward-nan", "channel-flag-number")]
    >>> with Deeds(Sandbox("process")) as deeds:
    ...     [deeds.run(lie).held for lie in lies]
    [True, True]
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._playground = Playground(sandbox)

    def run(self, attack: Attack) -> Outcome:
        """Run one attack of the kind `step`."""
        try:
            return _outcome(attack, None, self._playground.play(attack.program))
        except SandboxError as error:
            return Outcome(attack=attack.name, held=False, mistake=True, evidence=str(error))

    def close(self) -> None:
        """Close the environments; harmless twice."""
        self._playground.close()

    def __enter__(self) -> "Deeds":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _is_bare(sandbox: Sandbox) -> bool:
    return isinstance(sandbox.backend, NoIsolation)


def _run_isolated(attacks: Sequence[Attack]) -> dict[str, Outcome]:
    told = isolated().call("tests.attacks.suite:run_bare", [attack.name for attack in attacks])
    return msgspec.convert(told, dict[str, Outcome])


def _policy(attack: Attack | None, sandbox: Sandbox, scene: Scene) -> Policy:
    """The sandbox's own, with what the attack changes of it; without isolation a folder is named: none is hit."""
    base = msgspec.structs.replace(sandbox.policy, mounts=(*sandbox.policy.mounts, *scene.mounts))
    if scene.bare:
        return msgspec.structs.replace(base, folder=scene.canaries.own)
    if attack is None:
        return base
    limits = msgspec.structs.replace(base.limits, **attack.limits)
    shared = f"{scene.canaries.folder}/shared/{attack.name}"
    base = msgspec.structs.replace(base, mounts=(*base.mounts, *(Mount(f"{shared}/{name}") for name in attack.mounts)))
    network = (f"127.0.0.1:{scene.aim()['permitted']}",) if attack.network == "proxy" else attack.network
    return msgspec.structs.replace(base, limits=limits, network=network or base.network)


def _run_alone(attack: Attack, sandbox: Sandbox, policy: Policy, scene: Scene) -> Account:
    mark = os.urandom(8).hex()
    argv = command({attack.name: attack.program}, scene.aim(), mark)
    master, terminal = pty.openpty() if attack.kind == "terminal" else (None, None)
    try:
        trial = Trial(sandbox, policy, argv, stdin=terminal)
        seen = ""
        try:
            if attack.look is not None and (ready := trial.until_ready(attack.patience)) is not None:
                there = trial.process
                seen = attack.look(Moment(scene=scene, sandbox=sandbox, process=there, ready=ready, mark=mark))
                trial.go_on()
        finally:
            unending = scene.bare and not ENDED_BY.isdisjoint(attack.limits)  # and here is none
            trial.finish(SOON + scene.aim()["stay"] if unending else attack.patience, 0.5 if scene.bare else 3.0)
        if terminal is not None:
            seen = _typed(terminal)
        return msgspec.structs.replace(_account(trial, attack.name), seen=seen)
    finally:
        for one in (master, terminal):
            if one is not None:
                os.close(one)


def _typed(terminal: int) -> str:
    """What is waiting in a terminal to be read."""
    os.set_blocking(terminal, False)
    with suppress(OSError):
        return f"it typed {os.read(terminal, 100)!r}"
    return ""


def _account(trial: Trial, name: str) -> Account:
    told: dict[str, Any] = trial.told.get(name, {})
    silent = {} if name in trial.told else {"error": f"no word from it; {trial.errors}", "kind": "silence"}
    return Account(
        did=told.get("did", ""),
        error=told.get("error", silent.get("error", "")),
        kind=told.get("kind", silent.get("kind", "")),
        ready=trial.ready,
        code=trial.code,
        usage=trial.usage,
        seconds=trial.seconds,
        left=trial.left,
        own_kernel=any(line.get("kernel", RELEASE) != RELEASE for line in trial.said),
    )


def _run_command(attack: Attack, sandbox: Sandbox, policy: Policy, scene: Scene) -> Account:
    """To its end, as anybody would run a command."""
    own = copy(sandbox)
    own.policy = policy
    began = time.monotonic()
    result = own.run(command({attack.name: attack.program}, scene.aim(), os.urandom(8).hex()))
    return Account(
        code=result.code,
        usage=result.usage,
        output=len(result.stdout) + len(result.stderr),
        seconds=time.monotonic() - began,
    )


def _outcome(attack: Attack, scene: Scene | None, account: Account) -> Outcome:
    through = attack.judge(scene, account)
    if through:
        return Outcome(attack=attack.name, held=False, evidence=through, seconds=account.seconds)
    if account.kind not in HELD_KINDS and not _may_be_silent(attack, account):
        evidence = f"the attack failed by itself: {account.error}"
        return Outcome(attack=attack.name, held=False, mistake=True, evidence=evidence, seconds=account.seconds)
    stopped = account.usage.limit and f"stopped at the limit {account.usage.limit}"
    evidence = stopped or account.error or (account.did and f"it only managed: {account.did}") or "nothing got through"
    return Outcome(attack=attack.name, held=True, evidence=" ".join(evidence.split()), seconds=account.seconds)


def _may_be_silent(attack: Attack, account: Account) -> bool:
    """Whoever was stopped at a limit, or attacked its own keeper, need not live to tell."""
    return account.kind == "silence" and (account.usage.limit is not None or attack.guarantee == "kill")
