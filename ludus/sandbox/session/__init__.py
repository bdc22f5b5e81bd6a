"""Long-lived shells inside a sandbox: commands one after the other, jobs in the background, and files.

Not here: what a command may touch, which is the sandbox's policy.
"""

from ludus.sandbox.session.job import Job
from ludus.sandbox.session.result import CommandResult, FileEntry, JobStatus, ShellState
from ludus.sandbox.session.session import ShellSession, ShellSessionOptions

__all__ = ["CommandResult", "FileEntry", "Job", "JobStatus", "ShellSession", "ShellSessionOptions", "ShellState"]
