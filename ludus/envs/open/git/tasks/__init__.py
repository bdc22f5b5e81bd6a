"""The kinds of tasks, each drawn from a generator, with what judges it."""

from ludus.envs.open.git.tasks.finding import FINDING
from ludus.envs.open.git.tasks.keeping import KEEPING
from ludus.envs.open.git.tasks.merging import MERGING
from ludus.envs.open.git.tasks.recovering import RECOVERING
from ludus.envs.open.git.tasks.rewriting import REWRITING
from ludus.envs.open.git.tasks.task import Checkout, Checks, Found, Kind, Task

__all__ = ["KINDS", "Checkout", "Checks", "Found", "Kind", "Task"]

KINDS = {make.__name__: Kind(make.__name__, make) for make in (*MERGING, *REWRITING, *FINDING, *KEEPING, *RECOVERING)}
"""By name."""
