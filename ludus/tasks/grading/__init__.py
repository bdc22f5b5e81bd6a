"""Grading: files are copied out of the workspace, scored in another sandbox, and only a number comes back.

Not here: what graders are given and may call, which is `ludus.tasks.inside.case`.
"""

from ludus.tasks.grading.data import TaskData, checksum_of, make_data
from ludus.tasks.grading.grader import Grader
from ludus.tasks.grading.score import TaskScore
from ludus.tasks.grading.submission import copy_submission

__all__ = ["Grader", "TaskScore", "TaskData", "checksum_of", "copy_submission", "make_data"]
