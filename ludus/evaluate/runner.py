"""`evaluate`: an agent plays episodes whose seeds are derived; wherever they are played, they are the same ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode
from ludus.core.env import is_env
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument, InvalidType, TrajectoryError, shorten
from ludus.evaluate.agent_names import AgentLike, agent_name, as_agent
from ludus.evaluate.agents import Agent
from ludus.evaluate.declaration import Declaration
from ludus.evaluate.evaluation import EpisodeResult, Evaluation, summarized
from ludus.evaluate.execution_target import single_hash
from ludus.evaluate.play import PlayConfig, play_episodes
from ludus.evaluate.result import Result, open_result
from ludus.evaluate.result_file import ResultFile, ResultWriter, result_header
from ludus.evaluate.signature import signer
from ludus.registry import make_vec
from ludus.registry.resolution import Target, spec_meant
from ludus.spaces.kinds import is_integer
from ludus.trajectory.header import RunHeader

__all__ = ["Evaluated", "evaluate", "evaluated"]

LANES = 16
"""How many episodes are played at once, if nobody says."""
MAX_MASKED = 0.1
Progress = Callable[[EpisodeResult], None]


def evaluate(
    env: Target | Sequence[Target],
    agent: AgentLike,
    *,
    episodes: int = 50,
    seed: int | Sequence[int] = 0,
    num_envs: int | None = None,
    max_steps: int = 100_000,
    max_masked: float = MAX_MASKED,
    out: str | os.PathLike[str] | ResultFile | None = None,
    progress: Progress | None = None,
    kwargs: Mapping[str, object] | None = None,
    **options: object,
) -> Evaluation:
    """Play `episodes` episodes and give what came of each; the same seed plays the same ones.

    `env` is whatever `make_vec` takes, and `options` are `make_vec`'s (`executor`, `isolation`, `wrappers` …); `kwargs`
    go to the environment. Seeds are derived from the id, `seed` and the episode's number, so that nobody can have
    picked them; a sequence of seeds is a free choice, and marked as one. `num_envs` only says how many are played at
    once: it changes nothing else. An episode that is not over after `max_steps` counts as truncated.

    An agent that raises, or does what cannot be done, has failed in that episode, which is played to its end without
    it and counts. One whose environment raises is masked: left out of statistics; EvaluationError is raised where a
    larger share than `max_masked` is. `out` writes a file that `verify` checks.

    >>> found = evaluate("CartPole-v1", "random", episodes=3, seed=7)
    >>> [one.length for one in found.episodes] == [one.length for one in evaluate("CartPole-v1", "random",
    ...     episodes=3, seed=7, num_envs=1, executor="serial").episodes]
    True
    """
    _check_target(env, options)
    chosen = None if isinstance(seed, int) else _chosen(seed)
    if (count := episodes if chosen is None else len(chosen)) < 1 or max_steps < 1:
        raise InvalidArgument(f"expected at least 1 episode and 1 step, got {count} and {max_steps}")
    declaration = Declaration(
        id=spec_meant(env).id,
        agent=agent_name(agent),
        seed=seed if isinstance(seed, int) else 0,
        seeds="derived" if chosen is None else "chosen",
        episodes=count,
        max_steps=max_steps,
    )
    file = out if out is None or isinstance(out, ResultFile) else ResultFile(out)
    made = as_agent(agent)
    task = Evaluated(env, made, declaration, chosen, file, {"kwargs": kwargs, **options})
    try:
        return evaluated(task, num_envs=num_envs, max_masked=max_masked, progress=progress)
    finally:
        if made is not agent:
            made.close()


def _check_target(env: object, options: Mapping[str, object]) -> None:
    if is_env(env) or "episodes" in options or "autoreset_mode" in options:
        wrong = sorted({"episodes", "autoreset_mode"} & set(options))
        given: object = env if is_env(env) else wrong
        raise InvalidType(
            f"evaluate: expected an id, a spec, a class or a function that makes an environment, got {shorten(given)}; "
            "each episode is begun by the evaluation, with a seed of its own"
        )


class Evaluated(NamedTuple):
    """What is evaluated, and where the result goes."""

    env: Target | Sequence[Target]
    agent: Agent
    declaration: Declaration
    seeds: npt.NDArray[np.uint64] | None
    """Those that were chosen; None for derived ones."""
    file: ResultFile | None
    options: Mapping[str, Any]
    """Those of `make_vec`."""

    def batch(self, lanes: int) -> AnyVectorEnv:
        """A batch of so many lanes, which are reset by hand."""
        return make_vec(self.env, lanes, autoreset_mode=AutoresetMode.DISABLED, **self.options)


def evaluated(
    task: Evaluated, *, num_envs: int | None = None, max_masked: float = MAX_MASKED, progress: Progress | None = None
) -> Evaluation:
    """Play what is not in the file yet, and give all of it."""
    declaration = task.declaration
    results = list[EpisodeResult]()
    sign = None if task.file is None else signer(task.file.key)  # a key that cannot be read fails before hours pass
    writer, before = (None, None) if task.file is None else _writer(task, task.file)
    if before is not None:
        results += before.results()
    if writer is None and before is not None:  # all of it was there
        return _whole(declaration, results, max_masked)
    count, first = declaration.episodes, ""
    seeds = declaration.derived(0, count) if task.seeds is None else task.seeds
    agent_seeds = declaration.derived(0, count, "agent")
    lanes = min(count, LANES if num_envs is None else num_envs)
    course = PlayConfig(task.batch, task.agent, lanes, seeds, agent_seeds, declaration.max_steps, writer is not None)
    try:
        for record in play_episodes(course, range(len(results), count)):
            results.append(record.result)
            outcome = record.result.outcome
            if not first and record.failure is not None and outcome is not None and outcome.masked:
                first = ": ".join(record.failure)
            if writer is not None:
                writer.add(record)
            if progress is not None:
                progress(record.result)
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
    results.sort(key=lambda one: one.number)
    found = Evaluation(declaration.id, declaration.seed, tuple(results), declaration)
    if writer is not None:
        writer.close(_summary(found), sign)
    found.check_masked(max_masked, first)
    return found


def _whole(declaration: Declaration, results: list[EpisodeResult], max_masked: float) -> Evaluation:
    found = Evaluation(declaration.id, declaration.seed, tuple(results), declaration)
    found.check_masked(max_masked)
    return found


def _summary(found: Evaluation) -> dict[str, float]:
    masked = np.array([one.outcome is not None and one.outcome.masked for one in found.episodes])
    totals = np.array([one.total for one in found.episodes])
    return summarized(totals, np.array([one.length for one in found.episodes]), masked)


def _writer(task: Evaluated, file: ResultFile) -> tuple[ResultWriter | None, Result | None]:
    """What the result is written by, and what was there already; no writer where that is all of it."""
    with task.batch(1) as envs:
        # What runs isolated has no source here, and is not made a second time to look for it.
        near = (
            envs.spec is not None
            and envs.spec.isolation_record is None
            and task.options.get("isolation") in (None, "none")
        )
        rules = single_hash(envs.spec) if near and envs.spec is not None else ""
        header = result_header(envs, task.declaration, file.level, rules)
    if not file.resume or not os.path.exists(file.path):
        return ResultWriter(file.path, header), None
    before = open_result(file.path)
    _check_same(before.run.header, header, file)
    if not before.run.missing:
        return None, before
    return ResultWriter(file.path, header, before.run), before


def _check_same(before: RunHeader, now: RunHeader, file: ResultFile) -> None:
    for name in ("metadata", "spec", "level", "rules", "versions", "action_space", "observation_space"):
        if getattr(before, name) != getattr(now, name):
            raise TrajectoryError(
                f"{file.path}: resume: expected the same evaluation, got another {name}: "
                f"{shorten(getattr(before, name))} in the file, {shorten(getattr(now, name))} now; write to a new file"
            )


def _chosen(seeds: Sequence[object]) -> npt.NDArray[np.uint64]:
    for one in seeds:
        if isinstance(one, bool) or not is_integer(one) or not 0 <= one < 1 << 63:
            raise InvalidArgument(f"seed: expected integers of 0 up to 2**63, got {shorten(one)}")
    return np.array(list(seeds), np.uint64)
