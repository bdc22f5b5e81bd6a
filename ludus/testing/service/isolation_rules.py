"""Isolation and limits: whether an environment runs in a sandbox, and within what it says it needs."""

import time
from collections.abc import Sequence
from pathlib import Path

from ludus.core import Env
from ludus.errors import IsolationNeeded, LudusError, SandboxError, SandboxUnavailable, listing
from ludus.registry.audit.permission import declared, undeclared
from ludus.registry.audit.probe import probe
from ludus.registry.resolution import resolve
from ludus.sandbox import Deadlines, Limits, Sandbox
from ludus.testing.history import HistoryEvent, Interrupted, first_difference, plain_history
from ludus.testing.report import error, warning
from ludus.testing.rule import Found, Rule, Unchecked, raised
from ludus.testing.service.folder import EnvFolder

__all__ = ["LIMIT_RULES", "ISOLATION_RULES"]

PERMISSIONS = "declare what it needs in [permissions], or have it do without"


def runs_behind_a_sandbox(folder: EnvFolder) -> Found:
    """It is made and played behind a sandbox, which is seen to be there."""
    try:
        env = folder.make("sandbox")
    except IsolationNeeded as failure:
        raise Unchecked(f"no sandbox starts here: {failure}") from failure
    except LudusError as failure:
        yield error(f"behind a sandbox: expected it to be made, got {raised(failure)}", PERMISSIONS)
        return
    record = None if env.spec is None else env.spec.isolation_record
    if record is None or record.isolation != "sandbox":
        yield error(f"behind a sandbox: expected the record of one, got {record}", "do not replace env.spec")
    try:
        cut = _cut(folder.play(env))
    except Interrupted as failure:
        cut = str(failure)
    if cut:
        yield error(f"behind a sandbox: expected {folder.steps} steps, got {cut}", PERMISSIONS)


def same_history_behind_a_sandbox(folder: EnvFolder) -> Found:
    """Behind a sandbox, in another process, it plays the history that it plays as it is usually made."""
    here, there = folder.make(), folder.make("sandbox")
    found = first_difference(plain_history(here, folder.play(here)), plain_history(there, folder.play(there)))
    if found is not None:
        yield error(
            f"seed {folder.seed}, here and behind a sandbox: expected the same history, got {found}",
            "what it draws or reads has to come from the seed: not from a set's order, the clock, or a file",
        )


def permissions_are_kept(folder: EnvFolder) -> Found:
    """It is seen to use nothing that it does not declare."""
    try:
        backend = Sandbox().backend.name
    except SandboxUnavailable as failure:
        raise Unchecked(f"no sandbox starts here: {failure}") from failure
    [run] = probe([folder.spec], backend)
    if run.seen is None or run.ended:
        raise Unchecked(f"what it uses could not be watched: {run.ended}")
    beyond = undeclared(run.seen, declared(folder.spec.security))
    for kind in ("network", "files", "subprocesses"):
        uses = [one for one in getattr(beyond, kind) if not _is_own(one, folder)]
        if uses:
            yield error(f"permissions.{kind}: expected what is declared, got {listing(uses, 5)} as well", PERMISSIONS)


def memory_is_enough(folder: EnvFolder) -> Found:
    """It runs within the memory that its manifest asks for, which is enforced."""
    megabytes = folder.manifest.resources.memory_mb
    try:
        box = Sandbox(limits=Limits(memory=megabytes << 20, wall=None))
        cut = _cut(folder.play(folder.make(box)))
    except SandboxUnavailable as failure:
        raise Unchecked(f"no sandbox starts here: {failure}") from failure
    except (Interrupted, SandboxError) as failure:
        cut = raised(failure)
    if cut:
        yield error(
            f"resources.memory_mb: expected {folder.steps} steps within {megabytes} MiB, got {cut}", "ask for more"
        )


def steps_keep_their_time(folder: EnvFolder) -> Found:
    """Each step takes less than its manifest says, here by a margin."""
    seconds = folder.manifest.resources.step_seconds
    env = _Timed(folder.make())
    folder.play(env.env)
    longest = env.longest
    if longest > seconds:
        yield error(
            f"resources.step_seconds: expected at most {seconds:g} s for a step, got {longest:.3g} s",
            "make it faster, or ask for more",
        )
    elif longest > seconds / 2:
        yield warning(
            f"resources.step_seconds: expected a margin below {seconds:g} s, got {longest:.3g} s",
            "ask for more: a step that takes longer is stopped",
        )


def rewards_keep_their_range(folder: EnvFolder) -> Found:
    """Each reward is in the range that its manifest names."""
    if folder.manifest.reward_range is None:
        raise Unchecked("the manifest names no reward_range")
    low, high = folder.manifest.reward_range
    for one in folder.play(folder.make()):
        if one.reward is not None and not low <= float(one.reward) <= high:
            yield error(
                f"{one.label} reward: expected {low:g} to {high:g} as in the manifest, got {one.reward!r}",
                "widen reward_range, or scale the reward",
            )
            return


def deadlines_are_kept(folder: EnvFolder) -> Found:
    """Behind a sandbox with the deadlines of its manifest, it plays to the end."""
    seconds = folder.manifest.resources.step_seconds
    limits = Deadlines(step=seconds, other=seconds, reset=5 * seconds, start=5 * seconds)
    try:
        box = resolve(folder.spec, "sandbox").sandbox
        cut = _cut(folder.play(folder.make("sandbox" if box is None else box.with_deadlines(limits))))
    except IsolationNeeded as failure:
        raise Unchecked(f"no sandbox starts here: {failure}") from failure
    except (Interrupted, SandboxError) as failure:
        cut = raised(failure)
    if cut:
        yield error(
            f"resources.step_seconds: expected {folder.steps} steps of at most {seconds:g} s, got {cut}",
            "make it faster, or ask for more",
        )


ISOLATED = (runs_behind_a_sandbox,)
ISOLATION_RULES: tuple[Rule[EnvFolder], ...] = (
    Rule(runs_behind_a_sandbox),
    Rule(same_history_behind_a_sandbox, needs=ISOLATED),
    Rule(permissions_are_kept, needs=ISOLATED),
)
LIMIT_RULES: tuple[Rule[EnvFolder], ...] = (
    Rule(steps_keep_their_time),
    Rule(rewards_keep_their_range),
    Rule(deadlines_are_kept),
    Rule(memory_is_enough),
)


def _cut(history: Sequence[HistoryEvent]) -> str:
    """What stopped it, where the sandbox did: the step that it cut short says so."""
    for one in history:
        report: object = one.info.get("sandbox")
        if isinstance(report, dict) and "reason" in report:
            return f"{one.label}: {report['reason']}"
    return ""


def _is_own(use: str, folder: EnvFolder) -> bool:
    """Whether it reads its own folder."""
    kind, _, path = use.partition(":")
    return kind == "read" and any(Path(path).is_relative_to(own) for own in folder.manifest.paths)


class _Timed:
    """Measures the longest step of an environment."""

    def __init__(self, env: "Env[object, object]") -> None:
        self.env, self.longest = env, 0.0
        step = env.step

        def timed(action: object) -> object:
            begin = time.perf_counter()
            try:
                return step(action)
            finally:
                self.longest = max(self.longest, time.perf_counter() - begin)

        env.step = timed  # pyright: ignore[reportAttributeAccessIssue]
