"""Tasks of others as folders of ours: MLGym's YAML, Harbor's task.toml folders, MLE-bench's competitions.

Only what can be run here, offline and with a grader that nobody can talk to, is converted; the rest is refused with the
reason. Not here: our own task files, which are in `ludus.tasks.task_file`.
"""

from ludus.tasks.conversion.converted_task import ConversionError, Converted
from ludus.tasks.conversion.source import import_task

__all__ = ["ConversionError", "Converted", "import_task"]
