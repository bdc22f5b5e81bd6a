"""Agents that do tasks: scripted, random, the author's solutions, replay, a human, a language model; and their loop.

Not here: agents on other environments, which are in `ludus.evaluate`.
"""

from ludus.tasks.agents.agent import Agent, RandomAgent, ScriptedAgent
from ludus.tasks.agents.episode import Episode, play_episode, resume_episode
from ludus.tasks.agents.replay import Divergence, fork_run, replay_run
from ludus.tasks.agents.solution import nop_agent, solution_agent

__all__ = [
    "Agent",
    "Divergence",
    "Episode",
    "RandomAgent",
    "ScriptedAgent",
    "nop_agent",
    "replay_run",
    "fork_run",
    "play_episode",
    "resume_episode",
    "solution_agent",
]
