"""What happened: runs recorded into files, read as episodes, steps and columns, and re-executed.

Not here: scores and statistics of runs, which are `evaluate`'s.
"""

from ludus.trajectory.recorder import Recorder

__all__ = ["Recorder"]
