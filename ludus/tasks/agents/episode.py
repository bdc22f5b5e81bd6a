"""One agent through one task: the loop, and what came of it."""

from collections.abc import Callable
from typing import Any

import msgspec

from ludus.core import Env, Outcome
from ludus.tasks.agents.agent import Agent
from ludus.tools import Call
from ludus.trajectory import Recorder

__all__ = ["Episode", "play_episode"]


class Episode(msgspec.Struct, kw_only=True):
    """What came of an episode.

    >>> Episode(agent="nop", seed=0, steps=1, total=0.0, outcome="failure").outcome
    'failure'
    """

    agent: str
    seed: int
    steps: int
    total: float
    """The sum of all rewards."""
    outcome: str
    score: dict[str, Any] = {}
    """Of the hidden split."""
    seconds: float = 0.0


def play_episode(
    env: Env[Any, Any], agent: Agent, seed: int, *, watch: Callable[[Call, Any], None] | None = None
) -> Episode:
    """Play to the end; `watch` sees every call with the step that came of it. A Recorder gets the agent's events."""
    observation, info = env.reset(seed=seed)
    agent.begin(observation.result, env.unwrapped.action_space)  # type: ignore[arg-type]
    recorder = env if isinstance(env, Recorder) else None
    steps, total = 0, 0.0
    while True:
        action = agent.act(observation)
        call = Call("text", {"message": action}) if isinstance(action, str) else action
        step = env.step(call)
        steps, total, observation, info = steps + 1, total + float(step.reward), step.observation, step.info
        for event in agent.events() if recorder is not None else ():
            recorder.record(event) if recorder else None
        if watch is not None:
            watch(call, step)
        if step.terminated or step.truncated:
            outcome = Outcome.told(info.get("outcome"))
            return Episode(
                agent=agent.name,
                seed=seed,
                steps=steps,
                total=total,
                outcome="" if outcome is None else outcome.value,
                score=info.get("score", {}),
                seconds=info["usage"]["seconds"],
            )
