"""`StepUsage`: what a step took by the clock: kept beside the history, never in it.

Observations, rewards and infos of a seed are the same wherever and whenever they are played; seconds, processor time
and memory are not. So `info` counts (steps, commands, bytes), and this is for the journal, the trajectory and pictures.
Two tools do tell an agent the time, because it has to plan with it: `budget` what is left of it, `poll` and `kill` how
long a job has run. Those words are measurements, and `unmeasured` is what a comparison of histories goes by.
"""

import re

import msgspec

from ludus.tools import ToolOutcome

__all__ = ["StepUsage", "unmeasured"]

TIME_LEFT = re.compile(r"^time: \d+ (?:second|minute)s of \d+ (?:second|minute)s left$", re.MULTILINE)
JOB_TIME = re.compile(r"\A(job \d+ [\w -]*?) after \d+\.\d s,")
WORDS = {"": TIME_LEFT, "budget": TIME_LEFT, "poll": JOB_TIME, "kill": JOB_TIME}
"""What is measured in the words of each tool; the first observation is no tool's."""


def unmeasured(observation: ToolOutcome) -> ToolOutcome:
    r"""An observation without what its tool told of the clock; all else is as it was.

    >>> unmeasured(ToolOutcome("budget", "steps: 3 of 4 left\ntime: 29 minutes of 30 minutes left")).result
    'steps: 3 of 4 left\ntime'
    >>> unmeasured(ToolOutcome("poll", "job 2 ended with 0 after 1.3 s, 4 bytes printed\n")).result
    'job 2 ended with 0, 4 bytes printed\n'
    """
    words = WORDS.get(observation.tool)
    if words is None:
        return observation
    told = words.sub("time", observation.result) if words is TIME_LEFT else words.sub(r"\1,", observation.result)
    return msgspec.structs.replace(observation, result=told)


class StepUsage(msgspec.Struct, kw_only=True):
    """What the last step took; None where the sandbox cannot tell.

    >>> StepUsage(step_seconds=0.5).cpu_seconds is None
    True
    """

    seconds: float = 0.0
    """Of the episode so far."""
    step_seconds: float = 0.0
    command_seconds: float | None = None
    """Of the command alone, where the step ran one."""
    grading_seconds: float = 0.0
    cpu_seconds: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None
    peak_memory: int | None = None
    """Since the shell was opened."""
    processes: int | None = None
    out_of_memory: bool = False
