"""Agents that do tasks: scripted, random, the author's solutions, replay, a human, a language model; and their loop.

Not here: agents on other environments, which are in `ludus.evaluate`.
"""

from ludus.tasks.agents.agent import RandomTaskAgent, ScriptedTaskAgent, TaskAgent
from ludus.tasks.agents.episode import TaskEpisode, play_episode, resume_episode
from ludus.tasks.agents.replay import Divergence, fork_run, replay_run
from ludus.tasks.agents.solution import nop_agent, solution_agent

__all__ = [
    "TaskAgent",
    "Divergence",
    "TaskEpisode",
    "RandomTaskAgent",
    "ScriptedTaskAgent",
    "nop_agent",
    "replay_run",
    "fork_run",
    "play_episode",
    "resume_episode",
    "solution_agent",
]
