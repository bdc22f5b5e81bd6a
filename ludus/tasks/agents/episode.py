"""One agent through one task: the loop, and what came of it."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import msgspec

from ludus.core import Env, Info, Outcome, Snapshot, Step
from ludus.tasks.agents.agent import TaskAgent
from ludus.tasks.agents.events import AgentLog, step_events
from ludus.tasks.env import TaskEnv
from ludus.tasks.journal import JournalEntry
from ludus.tools import Call, Calls, ToolOutcome
from ludus.trajectory import Recorder
from ludus.trajectory.event import EventValue, Failure

__all__ = ["TaskEpisode", "SavedStart", "ended_episode", "play_episode", "resume_episode"]


class TaskEpisode(msgspec.Struct, kw_only=True):
    """What came of an episode.

    >>> TaskEpisode(agent="nop", seed=0, steps=1, total=0.0, outcome="failure").outcome
    'failure'
    """

    agent: str
    seed: int
    steps: int = 0
    total: float = 0.0
    """The sum of all rewards."""
    outcome: str = ""
    score: Info = {}
    """Of the hidden split."""
    seconds: float = 0.0


class SavedStart(NamedTuple):
    """An episode as it begins.

    >>> SavedStart(Snapshot((), (), ()), ToolOutcome(result="what is asked")).observation.result
    'what is asked'
    """

    snapshot: Snapshot
    observation: ToolOutcome


Watch = Callable[[Call, Step[ToolOutcome]], None]


def play_episode(
    env: Env[ToolOutcome, Call],
    agent: TaskAgent,
    seed: int,
    *,
    watch: Watch | None = None,
    start: SavedStart | None = None,
) -> TaskEpisode:
    """Play to the end; `watch` sees every call with the step that came of it. A Recorder gets the agent's events.

    `start` is the beginning of the same seed's episode, to play it many times: it is restored, and its data
    are not made again.
    """
    if start is None:
        observation, _ = env.reset(seed=seed)
    else:
        env.restore(start.snapshot)
        observation = start.observation
    record = _Record(env)
    record.add(())
    with _noted(agent, record):
        agent.begin(observation.result, Calls(env.unwrapped.action_space.tools))  # type: ignore[attr-defined]
    return _played(env, agent, TaskEpisode(agent=agent.name, seed=seed), observation, watch)


def resume_episode(env: TaskEnv, agent: TaskAgent, *, watch: Watch | None = None) -> TaskEpisode:
    """Take up the episode of the environment's folder: the agent learns what happened, and goes on."""
    first, *steps = env.resume()
    agent.begin(first.observation.result, Calls(env.tools))
    episode, observation = TaskEpisode(agent=agent.name, seed=first.seed), first.observation
    for entry in steps:
        if entry.call is not None:
            agent.recall(entry.call, observation)
        observation = entry.observation
        episode.steps, episode.total = episode.steps + 1, episode.total + entry.reward
    return _played(env, agent, episode, observation, watch)


def ended_episode(entries: Sequence[JournalEntry], agent: str) -> TaskEpisode:
    """An episode that its journal has to the end, as `play_episode` gave it."""
    first, *_, last = entries
    return TaskEpisode(
        agent=agent,
        seed=first.seed,
        steps=last.step,
        total=sum(one.reward for one in entries),
        outcome=str(last.info.get("outcome", "")),
        score=last.info.get("score", {}),
        seconds=0.0 if last.measured is None else last.measured.seconds,
    )


def _played(
    env: Env[ToolOutcome, Call], agent: TaskAgent, episode: TaskEpisode, observation: ToolOutcome, watch: Watch | None
) -> TaskEpisode:
    record = _Record(env)
    while True:
        with _noted(agent, record):
            action = agent.act(observation)
        call = Call("text", {"message": action}) if isinstance(action, str) else action
        step = env.step(call)
        episode.steps, episode.total, observation = (
            episode.steps + 1,
            episode.total + float(step.reward),
            step.observation,
        )
        record.add(agent.events())
        if watch is not None:
            watch(call, step)
        if step.terminated or step.truncated:
            outcome = Outcome.told(step.info.get("outcome"))
            episode.outcome = "" if outcome is None else outcome.value
            episode.score = step.info.get("score", {})
            if isinstance(env.unwrapped, TaskEnv):
                episode.seconds = env.unwrapped.measured.seconds
            return episode


@contextmanager
def _noted(agent: TaskAgent, record: "_Record") -> Generator[None, None, None]:
    """Where the agent fails, the record says why it ends there, and what the agent said before."""
    try:
        yield
    except (Exception, SystemExit) as error:
        with suppress(Exception):
            record.add(agent.events(), step=False)
        record.add([Failure(type(error).__name__, _words(error))], step=False)
        raise


def _words(error: BaseException) -> str:
    """What an error of somebody else's says, as far as it can."""
    try:
        return str(error)
    except Exception:
        return ""


class _Record:
    """Where the events of an episode go: into a trajectory that is being recorded, into the folder of the run."""

    def __init__(self, env: Env[ToolOutcome, Call]) -> None:
        self._recorder = env if isinstance(env, Recorder) else None
        self._task = env.unwrapped if isinstance(env.unwrapped, TaskEnv) else None

    def add(self, agent_events: Sequence[EventValue], *, step: bool = True) -> None:
        """Write what the agent said and what its step was, if it made one; who looks at the file sees it at once."""
        entry = None if self._task is None else self._task.last
        if self._task is not None and self._task.folder is not None and entry is not None:
            AgentLog(self._task.folder).add(entry.step, agent_events)
        if self._recorder is None:
            return
        events = [*agent_events]
        if step and self._task is not None and entry is not None:
            events += step_events(self._task.task.spec, entry, self._task.changes)
        for event in events:
            self._recorder.record(event)
        self._recorder.flush()
