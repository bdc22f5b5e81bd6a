"""The kinds of tasks, each drawn from a generator, with what judges it."""

from ludus.envs.open.git.tasks.investigations import INVESTIGATIONS
from ludus.envs.open.git.tasks.maintenance import MAINTENANCE
from ludus.envs.open.git.tasks.merges import MERGES
from ludus.envs.open.git.tasks.recoveries import RECOVERIES
from ludus.envs.open.git.tasks.rewrites import REWRITES
from ludus.envs.open.git.tasks.task import Checkout, Checks, Found, GitTask, Kind

__all__ = ["KINDS", "Checkout", "Checks", "Found", "Kind", "GitTask"]

KINDS = {
    make.__name__: Kind(make.__name__, make)
    for make in (*MERGES, *REWRITES, *INVESTIGATIONS, *MAINTENANCE, *RECOVERIES)
}
"""By name."""
