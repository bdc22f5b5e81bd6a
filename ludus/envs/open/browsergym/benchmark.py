"""What an episode is about: a task of a benchmark begins in a context, and is judged after every step."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, NamedTuple, cast

from ludus.envs.open.browsergym.commands import Commands
from ludus.envs.open.browsergym.context import BLANK_PATH, Ahead, Context, Start
from ludus.envs.open.browsergym.miniwob import LIBRARIES_PATH, begin_script, miniwob_page, serve_miniwob, task_url
from ludus.envs.open.browsergym.tab import QUIET_SECONDS, PageView, TabSettings
from ludus.spaces.kinds import is_list

__all__ = ["PageEpisode", "MiniwobEpisode", "Verdict"]


class Verdict(NamedTuple):
    """Where an episode stands."""

    reward: float = 0.0
    """For this step."""
    done: bool = False
    won: bool = False
    facts: Mapping[str, object] = MappingProxyType({})


class PageEpisode(ABC):
    """A task under way. What it knows of the answer stays here."""

    name: str
    """With its benchmark: `miniwob.click-test`."""
    probe: ClassVar[str] = "null"
    """An expression of the page whose value `judge` gets."""
    goal: str = ""

    @abstractmethod
    def start(self, settings: TabSettings) -> Start:
        """What a context is made with; one that begins alike may have been made ahead."""

    @abstractmethod
    def begin(self, context: Context, look: str) -> PageView | None:
        """Put the task up, and give what an expression of the page says then; `goal` is known too."""

    @abstractmethod
    def judge(self, commands: Commands, probed: object) -> Verdict:
        """What the step that was made is worth."""


AHEAD = Ahead(BLANK_PATH, miniwob_page, LIBRARIES_PATH)


class MiniwobEpisode(PageEpisode):
    """A page of MiniWoB++, which generates its task from the seed and grades it itself."""

    probe = "window.core?[WOB_DONE_GLOBAL,WOB_RAW_REWARD_GLOBAL,WOB_REWARD_GLOBAL,WOB_REWARD_REASON,__ludus.now()]:null"

    def __init__(self, task: str, seed: int, time_limit: float | None) -> None:
        self.task, self.name, self.seed, self.time_limit = task, f"miniwob.{task}", seed, time_limit
        self.url = task_url(task)

    def start(self, settings: TabSettings) -> Start:
        return Start(settings, self.url, serve_miniwob, AHEAD)

    def begin(self, context: Context, look: str) -> PageView | None:
        begin = context.opening + begin_script(self.seed, self.time_limit)
        settled = f"await __ludus.advance(0,{QUIET_SECONDS * 1000:g})"
        goal, seen = context.tab.evaluate(f"(async()=>{{{begin}{settled};return [core.getUtterance(),{look}]}})()")
        self.goal = str(goal)
        return seen

    def judge(self, commands: Commands, probed: object) -> Verdict:
        if not is_list(probed) or not probed or not probed[0]:
            return Verdict(facts={"raw_reward": 0.0, "discounted_reward": 0.0})
        raw, discounted = map(float, cast(list[float], probed[1:3]))
        reward = max(0.0, raw if self.time_limit is None else discounted)
        facts = {"raw_reward": raw, "discounted_reward": discounted, "reason": str(probed[3] or "")}
        return Verdict(reward, True, raw > 0.99, facts)
