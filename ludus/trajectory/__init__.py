"""What happened: runs recorded into files, read as episodes, steps and columns, and re-executed.

Not here: scores and statistics of runs, which are `evaluate`'s.
"""

from ludus.core import Outcome
from ludus.trajectory.episode import Episode, Transition
from ludus.trajectory.event import (
    Event,
    Failure,
    FileDiff,
    LimitReached,
    Message,
    ModelUsage,
    Note,
    Reasoning,
    ResourceUse,
    Score,
    ToolCall,
    ToolResult,
    Unknown,
)
from ludus.trajectory.recorder import Recorder
from ludus.trajectory.replay import Difference, Replay, replay
from ludus.trajectory.run import Run
from ludus.trajectory.table import EpisodeTable

__all__ = [
    "Difference",
    "Episode",
    "EpisodeTable",
    "Event",
    "Failure",
    "FileDiff",
    "LimitReached",
    "Message",
    "ModelUsage",
    "Note",
    "Outcome",
    "Reasoning",
    "Recorder",
    "Replay",
    "ResourceUse",
    "Run",
    "Score",
    "ToolCall",
    "ToolResult",
    "Transition",
    "Unknown",
    "replay",
]
