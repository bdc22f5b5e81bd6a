"""A suite evaluated: a folder with a result for each environment, some of them at once in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

from ludus.errors import InvalidArgument
from ludus.evaluate.agent_names import AgentLike, agent_name, as_agent
from ludus.evaluate.evaluation import Evaluation
from ludus.evaluate.result_file import ResultFile
from ludus.evaluate.runner import Evaluated, evaluated
from ludus.evaluate.suite import Suite, suite_named

__all__ = ["evaluate_suite"]


def evaluate_suite(
    suite: str | Suite,
    agent: AgentLike,
    folder: str | os.PathLike[str],
    *,
    jobs: int = 1,
    num_envs: int | None = None,
    key: str | os.PathLike[str] | None = None,
    progress: Callable[[Evaluation], None] | None = None,
) -> dict[str, Evaluation]:
    """Evaluate an agent in every environment of a suite, and give what came of each, by id.

    Seeds are the suite's own. What is in the folder already is not played again, and what was interrupted goes on.
    With several `jobs` environments are evaluated in processes of their own, to which the agent is sent.

    >>> import tempfile
    >>> mine = Suite(name="mine", version=1, ids=("GridWorld-v0",), episodes=3)
    >>> found = evaluate_suite(mine, "random", tempfile.mkdtemp())
    >>> found["GridWorld-v0"].declaration.seed_name
    'suite:mine/1/GridWorld-v0'
    """
    chosen = suite_named(suite) if isinstance(suite, str) else suite
    if jobs < 1:
        raise InvalidArgument(f"jobs: expected at least 1, got {jobs}")
    Path(folder).mkdir(parents=True, exist_ok=True)
    one = partial(_evaluated, chosen, agent, Path(folder), key, num_envs)
    found: dict[str, Evaluation] = {}
    for evaluation in map(one, chosen.ids) if jobs == 1 else _in_processes(one, chosen.ids, jobs):
        found[evaluation.name] = evaluation
        if progress is not None:
            progress(evaluation)
    return {name: found[name] for name in chosen.ids}


def _evaluated(
    suite: Suite, agent: object, folder: Path, key: str | os.PathLike[str] | None, num_envs: int | None, id: str
) -> Evaluation:
    file = ResultFile(folder / f"{id.replace('/', '.')}.ludus", resume=True, key=key)
    declaration = suite.declaration(id, agent_name(agent))
    made = as_agent(agent)
    try:
        return evaluated(Evaluated(id, made, declaration, None, file, {}), num_envs=num_envs)
    finally:
        if made is not agent:
            made.close()


def _in_processes(one: Callable[[str], Evaluation], ids: tuple[str, ...], jobs: int) -> Iterator[Evaluation]:
    # Not by fork: an agent may hold threads of a library that does not survive it.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(one, name) for name in ids]):
            yield done.result()
