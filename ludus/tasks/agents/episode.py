"""One agent through one task: the loop, and what came of it."""

from collections.abc import Callable
from typing import Any

import msgspec

from ludus.core import Env, Outcome
from ludus.tasks.agents.agent import Agent
from ludus.tasks.env import TaskEnv
from ludus.tools import Call, Calls
from ludus.trajectory import Recorder

__all__ = ["Episode", "play_episode", "resume_episode"]


class Episode(msgspec.Struct, kw_only=True):
    """What came of an episode.

    >>> Episode(agent="nop", seed=0, steps=1, total=0.0, outcome="failure").outcome
    'failure'
    """

    agent: str
    seed: int
    steps: int = 0
    total: float = 0.0
    """The sum of all rewards."""
    outcome: str = ""
    score: dict[str, Any] = {}
    """Of the hidden split."""
    seconds: float = 0.0


Watch = Callable[[Call, Any], None]


def play_episode(env: Env[Any, Any], agent: Agent, seed: int, *, watch: Watch | None = None) -> Episode:
    """Play to the end; `watch` sees every call with the step that came of it. A Recorder gets the agent's events."""
    observation, _ = env.reset(seed=seed)
    agent.begin(observation.result, Calls(env.unwrapped.action_space.tools))  # type: ignore[attr-defined]
    return _played(env, agent, Episode(agent=agent.name, seed=seed), observation, watch)


def resume_episode(env: TaskEnv, agent: Agent, *, watch: Watch | None = None) -> Episode:
    """Take up the episode of the environment's folder: the agent is told what happened, and goes on."""
    first, *steps = env.resume()
    agent.begin(first.observation.result, Calls(env.tools))
    episode, observation = Episode(agent=agent.name, seed=first.seed), first.observation
    for entry in steps:
        if entry.call is not None:
            agent.recall(entry.call, observation)
        observation = entry.observation
        episode.steps, episode.total = episode.steps + 1, episode.total + entry.reward
    return _played(env, agent, episode, observation, watch)


def _played(env: Env[Any, Any], agent: Agent, episode: Episode, observation: Any, watch: Watch | None) -> Episode:
    recorder = env if isinstance(env, Recorder) else None
    while True:
        action = agent.act(observation)
        call = Call("text", {"message": action}) if isinstance(action, str) else action
        step = env.step(call)
        episode.steps, episode.total, observation = (
            episode.steps + 1,
            episode.total + float(step.reward),
            step.observation,
        )
        for event in agent.events():
            if recorder is not None:
                recorder.record(event)
        if watch is not None:
            watch(call, step)
        if step.terminated or step.truncated:
            outcome = Outcome.told(step.info.get("outcome"))
            episode.outcome = "" if outcome is None else outcome.value
            episode.score, episode.seconds = step.info.get("score", {}), step.info["usage"]["seconds"]
            return episode
