"""`SiteEpisode`: a task of one of the sites, judged by the site's own data."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.envs.open.browsergym.benchmark import PageEpisode, Verdict
from ludus.envs.open.browsergym.commands import Commands
from ludus.envs.open.browsergym.context import BLANK_PATH, Context, Start
from ludus.envs.open.browsergym.sites.forum import Forum
from ludus.envs.open.browsergym.sites.forum_tasks import FORUM_TASKS
from ludus.envs.open.browsergym.sites.shop import Shop
from ludus.envs.open.browsergym.sites.shop_tasks import SHOP_TASKS
from ludus.envs.open.browsergym.sites.site import COOKIE, Site, SiteTask
from ludus.envs.open.browsergym.sites.tracker import Tracker
from ludus.envs.open.browsergym.sites.tracker_tasks import TRACKER_TASKS
from ludus.envs.open.browsergym.tab import PageView, TabSettings

__all__ = ["SITES", "SiteEpisode", "site_tasks"]

SITES: dict[str, tuple[type[Site], dict[str, Callable[[Any], SiteTask[Any]]]]] = {
    "shop": (Shop, SHOP_TASKS),
    "forum": (Forum, FORUM_TASKS),
    "tracker": (Tracker, TRACKER_TASKS),
}
"""By name: what holds the data, and what is asked of it."""


def site_tasks() -> tuple[str, ...]:
    """The names of all tasks, with their site before them."""
    return tuple(f"{site}.{task}" for site, (_, tasks) in SITES.items() for task in tasks)


class SiteEpisode(PageEpisode):
    """A site with data drawn from the seed, a task about it, and a user who is signed in."""

    def __init__(self, task: str, seed: int, time_limit: float | None = None) -> None:
        del time_limit  # of pages that have one
        site, _, name = task.partition(".")
        kind, tasks = SITES[site]
        self.site = kind(np.random.default_rng(seed))
        self.task = tasks[name](self.site)
        self.name, self.goal = f"sites.{task}", self.task.goal

    def start(self, settings: TabSettings) -> Start:
        return Start(settings, f"http://{self.site.host}{BLANK_PATH}")

    def begin(self, context: Context, look: str) -> PageView | None:
        context.serve = self.site
        cookie = {
            "name": COOKIE,
            "value": self.site.open_session(),
            "url": f"http://{self.site.host}/",
            "httpOnly": True,
        }
        context.tools.call("Storage.setCookies", {"cookies": [cookie], "browserContextId": context.id})
        context.tab.navigate(f"http://{self.site.host}/")
        context.tab.post("Page.resetNavigationHistory")
        return context.settle(0, look)

    def judge(self, commands: Commands, probed: object) -> Verdict:
        del probed
        said, task = commands.messages, self.task
        facts = {
            "changes": len(self.site.changes),
            "answered": bool(said),
            "infeasible": commands.infeasible is not None,
        }
        if commands.infeasible is not None:
            won = task.infeasible and task.check(self.site, said)
        elif task.infeasible:
            won = False
        elif task.answer:
            won = bool(said) and not self.site.changes and task.check(self.site, said)
        else:
            won = bool(task.check(self.site, said))
        done = won or bool(said) or commands.infeasible is not None
        return Verdict(float(won), done, won, facts)
