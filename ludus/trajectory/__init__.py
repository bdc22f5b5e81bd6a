"""What happened: runs recorded into files, read as episodes, steps and columns, and re-executed.

Not here: scores and statistics of runs, which are `evaluate`'s.
"""

from ludus.core import Outcome
from ludus.trajectory.atif import from_atif, to_atif
from ludus.trajectory.dataset import StepDataset, flat_columns, to_arrow, to_pandas
from ludus.trajectory.episode import RecordedEpisode, RecordedTransition
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
from ludus.trajectory.frames import episode_frames
from ludus.trajectory.inspect_log import from_inspect
from ludus.trajectory.messages import messages_of, to_jsonl
from ludus.trajectory.minari import from_minari, to_minari
from ludus.trajectory.parquet import from_parquet, to_parquet
from ludus.trajectory.recorder import Recorder
from ludus.trajectory.replay import Replay, ReplayDifference, recompute, replay
from ludus.trajectory.run import Run
from ludus.trajectory.selection import diff, merge, select, split
from ludus.trajectory.table import EpisodeTable

__all__ = [
    "ReplayDifference",
    "RecordedEpisode",
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
    "StepDataset",
    "ToolCall",
    "ToolResult",
    "RecordedTransition",
    "Unknown",
    "diff",
    "episode_frames",
    "flat_columns",
    "from_atif",
    "from_inspect",
    "from_minari",
    "from_parquet",
    "merge",
    "messages_of",
    "recompute",
    "replay",
    "select",
    "split",
    "to_arrow",
    "to_atif",
    "to_jsonl",
    "to_minari",
    "to_pandas",
    "to_parquet",
]
