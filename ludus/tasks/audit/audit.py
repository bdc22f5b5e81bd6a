"""The audit of a task: every agent and every cheat on one seed, and whether the order is what it should be."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from ludus.errors import LudusError, listing
from ludus.sandbox import Backend
from ludus.sandbox.leftovers import temporary_folder
from ludus.tasks.agents import RandomTaskAgent, ScriptedTaskAgent, TaskAgent, nop_agent, play_episode, solution_agent
from ludus.tasks.agents.episode import SavedStart
from ludus.tasks.audit.cheat import Cheat
from ludus.tasks.audit.in_folder import folder_cheats
from ludus.tasks.audit.in_submission import SUBMISSION_CHEATS
from ludus.tasks.audit.in_workspace import WORKSPACE_CHEATS, trivial_calls
from ludus.tasks.env import TaskEnv
from ludus.tasks.folder import Task, find_task
from ludus.tasks.grading import make_data

__all__ = ["CHEATS", "AuditReport", "AuditRow", "audit_task"]

CHEATS: dict[str, Cheat] = {cheat.name: cheat for cheat in (*WORKSPACE_CHEATS, *SUBMISSION_CHEATS)}
"""All cheats, by name."""
SCORE_MARGIN = 1e-9
"""By which a cheat's normalised score may exceed that of doing nothing."""


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    """One agent or cheat.

    >>> AuditRow(name="nop", kind="agent").problem
    ''
    """

    name: str
    kind: str
    """`agent` or `cheat`."""
    value: float | None = None
    normalised: float = 0.0
    outcome: str = ""
    reason: str = ""
    problem: str = ""
    """What is wrong with it; empty where it is as it should be."""


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found.

    >>> AuditReport(task="Guess-v0", seed=0, checksum="", rows=()).passed
    True
    """

    task: str
    seed: int
    checksum: str
    """Of the data of seed 0."""
    rows: tuple[AuditRow, ...]
    problems: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def audit_task(
    task: str | Path | Task,
    *,
    seed: int = 0,
    cheats: Iterable[Cheat] | None = None,
    backend: str | Backend | None = None,
    watch: Callable[[AuditRow], None] | None = None,
) -> AuditReport:
    """Run nop, random, baseline, reference and every cheat that fits, its own too; `watch` sees each row."""
    found = find_task(task)
    problems, checksum = _checked_data(found, backend)
    rows: list[AuditRow] = []
    with TaskEnv(found, backend=backend) as env:
        observation, _ = env.reset(seed=seed)
        start = SavedStart(env.snapshot(), observation)

        def row(agent: TaskAgent, kind: str) -> AuditRow:
            rows.append(_judged(_played(env, agent, start, kind, seed=seed), rows))
            if watch is not None:
                watch(rows[-1])
            return rows[-1]

        for agent in _agents(found, seed):
            row(agent, "agent")
        for cheat in (*CHEATS.values(), *folder_cheats(found)) if cheats is None else cheats:
            if cheat.fits(found):
                row(ScriptedTaskAgent([*trivial_calls(found), *cheat.calls(found)], name=cheat.name), "cheat")
    problems += [f"{one.name}: {one.problem}" for one in rows if one.problem]
    return AuditReport(task=found.spec.id, seed=seed, checksum=checksum, rows=tuple(rows), problems=tuple(problems))


def _agents(task: Task, seed: int) -> list[TaskAgent]:
    return [nop_agent(), RandomTaskAgent(seed), solution_agent(task, "baseline"), solution_agent(task, "reference")]


def _played(env: TaskEnv, agent: TaskAgent, start: SavedStart, kind: str, *, seed: int) -> AuditRow:
    try:
        episode = play_episode(env, agent, seed, start=start)
    except LudusError as error:
        return AuditRow(name=agent.name, kind=kind, problem=f"the environment raised {type(error).__name__}: {error}")
    score = episode.score
    return AuditRow(
        name=agent.name,
        kind=kind,
        value=score.get("value"),
        normalised=score.get("normalised", 0.0),
        outcome=episode.outcome,
        reason=score.get("reason", ""),
    )


def _judged(row: AuditRow, before: list[AuditRow]) -> AuditRow:
    """The row with what is wrong with it, in the order nop, random, baseline, reference, cheats."""
    if row.problem:
        return row
    by_name = {one.name: one for one in before}
    nop = by_name["nop"].normalised if before else 0.0
    problem = ""
    if row.kind == "cheat" or row.name == "random":
        beats = row.normalised > nop + SCORE_MARGIN
        problem = f"expected at most what nop scores ({nop:.4f}), got {row.normalised:.4f}" if beats else ""
    elif row.name == "baseline" and row.normalised <= nop:
        problem = f"expected more than nop scores ({nop:.4f}), got {row.normalised:.4f} {row.reason}"
    elif row.name == "reference":
        baseline = by_name["baseline"].normalised
        worse = row.normalised <= baseline
        problem = (
            f"expected more than the baseline ({baseline:.4f}), got {row.normalised:.4f} {row.reason}" if worse else ""
        )
        problem = problem or (
            "" if row.outcome == "success" else f"expected the threshold to be reached, got {row.value}"
        )
    return msgspec.structs.replace(row, problem=problem)


def _checked_data(task: Task, backend: str | Backend | None) -> tuple[list[str], str]:
    """Whether the generator writes the same twice, and what the task file says it writes."""
    sums: list[str] = []
    for _ in range(2):
        with temporary_folder("audit") as base:
            sums.append(make_data(task.spec, task.folder, Path(base), seed=0, backend=backend).checksum)
    problems = [] if sums[0] == sums[1] else [f"generator: expected the same data for one seed, got {listing(sums)}"]
    expected = task.spec.data.checksum
    if expected is not None and expected != sums[0]:
        problems.append(f"data.checksum: expected {expected}, got {sums[0]}")
    return problems, sums[0]
