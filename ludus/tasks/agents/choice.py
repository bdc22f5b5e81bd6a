"""Agents by name, as the command line chooses them."""

from pathlib import Path

from ludus.errors import InvalidArgument, did_you_mean, listing
from ludus.tasks.agents.agent import RandomTaskAgent, ScriptedTaskAgent, TaskAgent
from ludus.tasks.agents.config import ToolSet, check_key, read_agent
from ludus.tasks.agents.human import HumanAgent
from ludus.tasks.agents.model import ModelAgent, ModelOptions
from ludus.tasks.agents.replay import replay_agent
from ludus.tasks.agents.solution import nop_agent, solution_agent
from ludus.tasks.folder import Task
from ludus.tasks.journal import NAME as JOURNAL

__all__ = ["AGENTS", "chosen_agent"]

AGENTS = ("nop", "random", "baseline", "reference", "human", "model")


def chosen_agent(name: str, task: Task, seed: int = 0, *, model: ModelOptions | None = None) -> TaskAgent:
    """The agent of a name, of a YAML file, or of a run's folder, whose calls it makes again; `model`: how to reach one.

    >>> from ludus.tasks import find_task
    >>> chosen_agent("nop", find_task("sat_heuristic")).name
    'nop'
    """
    if name.endswith((".yaml", ".yml")):
        config = read_agent(Path(name))
        if config.model is not None and (model is None or model.url != config.model.url):
            check_key(config.model, name)
        if config.agent == "scripted":
            return ToolSet(ScriptedTaskAgent(config.calls), config)
        return ToolSet(chosen_agent(config.agent, task, seed, model=config.model or model), config)
    if (Path(name) / JOURNAL).is_file():
        return replay_agent(Path(name))
    if name == "nop":
        return nop_agent()
    if name == "random":
        return RandomTaskAgent(seed)
    if name == "human":
        return HumanAgent()
    if name == "model":
        if model is None:
            raise InvalidArgument("agent model: expected how to reach it, got nothing; give --url and --model")
        return ModelAgent(model)
    if name == "baseline" or name == "reference":
        return solution_agent(task, name)
    raise InvalidArgument(
        f"agent: expected one of {listing(AGENTS)}, the folder of a run or a YAML file, got {name!r}"
        f"{did_you_mean(name, AGENTS)}"
    )
