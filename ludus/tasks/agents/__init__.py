"""Agents that do tasks: scripted, random, the author's solutions, replay, a human, a language model; and their loop.

Not here: agents on other environments, which are in `ludus.evaluate`.
"""

from ludus.tasks.agents.agent import Agent, RandomAgent, ScriptedAgent
from ludus.tasks.agents.episode import Episode, play_episode
from ludus.tasks.agents.solution import nop_agent, solution_agent

__all__ = ["Agent", "Episode", "RandomAgent", "ScriptedAgent", "nop_agent", "play_episode", "solution_agent"]
