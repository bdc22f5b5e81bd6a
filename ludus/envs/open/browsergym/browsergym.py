"""BrowserGym: a real browser, tasks of the web, and BrowserGym's language of actions."""

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.envs.open.browsergym.actions import parse
from ludus.envs.open.browsergym.benchmark import PageEpisode, Verdict
from ludus.envs.open.browsergym.choices import page_choices
from ludus.envs.open.browsergym.chromium import Chromium, acquire, release
from ludus.envs.open.browsergym.commands import Commands
from ludus.envs.open.browsergym.context import Context, Spares
from ludus.envs.open.browsergym.devtools import ProtocolError
from ludus.envs.open.browsergym.picture import browser_picture, marked
from ludus.envs.open.browsergym.remote import RemoteTask, remote
from ludus.envs.open.browsergym.suite import NOWHERE, TaskSuite, suite
from ludus.envs.open.browsergym.tab import ElementBox, PageError, PageView, TabSettings
from ludus.errors import ChannelError, InvalidAction, InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Choice, Drawn
from ludus.seeding import Seed
from ludus.spaces import Record, Text

__all__ = ["BrowserAction", "BrowserGym", "BrowserGymAction", "BrowserGymObservation", "BrowserGymState"]

LONGEST_ACTION = 16_384
MAX_TEXT_CHARS = 200_000
"""Characters of the tree, and of the HTML, that an observation shows."""
MAX_STEPS = 100
HURRIED_TIMES = 1
"""An episode is short if it took less than so many times what a context takes to make."""
Screenshot = Literal["none", "plain", "marks"]
LongText = Annotated[str, Text(1 << 22, min_length=0, charset=None)]

_spares = Spares()


@dataclass
class BrowserGymAction:
    """What to do, as calls (`click('12')`) or in plain form (`click [id=12]`)."""

    action_str: Annotated[str, Text(LONGEST_ACTION, min_length=0, charset=None)]


class BrowserAction(BrowserGymAction):
    """The same, by the name of OpenEnv's guide.

    >>> BrowserAction(action="noop()").action_str
    'noop()'
    """

    def __init__(self, action: str) -> None:
        super().__init__(action_str=action)


@dataclass
class BrowserGymObservation:
    """What the page shows."""

    text: LongText = ""
    """The page as text: its accessibility tree."""
    url: LongText = ""
    screenshot: bytes | None = None
    """What is in view, as PNG; None unless it was asked for."""
    goal: LongText = ""
    axtree_txt: LongText = ""
    """A line for each element that matters: its number, role, name and states."""
    pruned_html: LongText = ""
    error: LongText = ""
    """Why the last action could not be done."""
    last_action_error: bool = False


@dataclass
class BrowserGymState:
    """What is shown of the episode."""

    benchmark: str = ""
    task_name: str = ""
    task_id: str = ""
    goal: str = ""
    current_url: str = ""
    max_steps: int = MAX_STEPS
    cum_reward: float = 0.0


@dataclass
class Chosen:
    """What an episode is made of: enough to begin it again."""

    task: str
    seed: int
    dialogs: bool = True
    actions: list[str] = field(default_factory=list[str])


class BrowserGym(Drawn, Env[BrowserGymObservation, BrowserGymAction]):
    """A task in a browser: MiniWoB++, or a site of ours, in a context that is fresh for every episode.

    The page's clock is ours: a call takes half a second of it, timers that are due run at once, and nothing is waited
    for that has come. `timeout` is in milliseconds of real time, for whatever a step waits for.

    >>> env = BrowserGym(task_name="click-test")
    >>> observation, info = env.reset(seed=0)
    >>> observation.goal
    'Click the button.'
    >>> [line.strip() for line in observation.axtree_txt.splitlines() if "button '" in line]
    ["[4] button 'Click Me!'"]
    >>> step = env.step(BrowserGymAction("click('4')"))
    >>> step.reward, step.terminated, step.info["facts"]["won"]
    (1.0, True, True)
    >>> env.close()
    """

    metadata = Drawn.metadata | {
        "render_fps": 2,
        "openenv_arguments": {"screenshot": "plain"},
        "openenv_pictures": ["screenshot"],
    }
    snapshot_shared: ClassVar[tuple[str, ...]] = (
        *("_context", "_commands", "_episode", "_suite", "_remote", "_began", "_window"),
    )

    def __init__(
        self,
        benchmark: str | None = None,
        task_name: str | None = None,
        viewport: Sequence[int] | None = None,
        timeout: int | None = None,
        screenshot: Screenshot = "none",
        time_limit: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._remote = remote(benchmark, task_name)
        self._suite = suite(benchmark, task_name) if self._remote is None else NOWHERE
        self._size = _viewport(viewport) or self._suite.viewport
        self._seconds = _timeout(timeout)
        if screenshot not in ("none", "plain", "marks"):
            raise InvalidArgument(f"screenshot: expected 'none', 'plain' or 'marks', got {shorten(screenshot)}")
        if time_limit is not None and not 0 < time_limit < 1e6:
            raise InvalidArgument(
                f"time_limit: expected seconds of the page's clock above 0, got {shorten(time_limit)}"
            )
        self._screenshot, self._time_limit = screenshot, time_limit
        self.action_space, self.observation_space = Record(BrowserGymAction), Record(BrowserGymObservation)
        self.render_mode = render_mode
        self.state: BrowserGymState | None = None
        self._episode: PageEpisode | None = None
        self._context: Context | None = None
        self._commands: Commands | None = None
        self._choice: Chosen | None = None
        self._over = self._stale = self._holds = False
        self._began = -math.inf
        """When the last reset was done, by the clock."""
        self._seen: tuple[str, list[ElementBox]] = "", []
        """The tree that was observed last, and where its elements are."""

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[BrowserGymObservation, Info]:
        """Draw a task, and put it up in a new context; options `task_name` and `dialogs` ("accept", "dismiss")."""
        if self._remote is not None:
            return self._reset_remote(self._remote, seed, options)
        tasks, dialogs = _options(options, self._suite)
        super().reset(seed=seed)
        task = tasks[int(self.np_random.integers(len(tasks)))]
        self._choice = Chosen(task, int(self.np_random.integers(1 << 31)), dialogs)
        self._over = self._stale = False
        episode, observation = self._begin_anew(self._choice)
        self.state = BrowserGymState(
            benchmark=self._suite.benchmark,
            task_name=task,
            task_id=f"{episode.name}",
            goal=episode.goal,
            current_url=observation.url,
        )
        return observation, {"task": episode.name, "goal": episode.goal}

    def step(self, action: BrowserGymAction) -> Step[BrowserGymObservation]:
        """Do what the action says; what cannot be done is told in the observation, and the episode goes on."""
        if self.state is None or self._choice is None or self._over:
            got = "an episode that has ended" if self._over else "no episode under way"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        self.action_space.check(action, "action", InvalidAction)
        if self._remote is not None:
            return self._step_remote(self._remote, str(action.action_str))
        try:
            if self._stale:
                self._replay(self._choice)
            return self._acted(self._choice, str(action.action_str))
        except (ProtocolError, ChannelError) as error:
            return self._failed(str(error))

    def _acted(self, choice: Chosen, text: str) -> Step[BrowserGymObservation]:
        episode, commands, context = self._parts()
        context.dialogs.clear()
        error, malformed, seen = self._done(commands, text, _look(episode))
        choice.actions = [*choice.actions, text]
        observation, verdict = self._observed(episode, error, seen)
        facts: dict[str, object] = {"won": verdict.won, "invalid_format": malformed, "action_error": bool(error)}
        info: Info = {"reward_components": {"task": verdict.reward}, "facts": {**facts, **verdict.facts}}
        if context.dialogs:
            info["dialogs"] = list(context.dialogs)
        if len(context.tabs) > 1:
            info["tabs"], info["active_tab"] = len(context.tabs), context.active
        if verdict.done:
            self._over = True
            info["outcome"] = Outcome.SUCCESS if verdict.won else Outcome.FAILURE
        if self.state is not None:
            self.state.current_url = observation.url
            self.state.cum_reward += verdict.reward
        return Step(observation, verdict.reward, verdict.done, False, info)

    def _done(self, commands: Commands, text: str, look: str) -> tuple[str, bool, PageView | None]:
        """Do an action: why not all of it was done, whether it was no action at all, and what one sees then."""
        try:
            calls = parse(text)
        except PageError as error:
            return str(error), True, commands.context.settle(0, look)
        seen = None
        for call in calls:
            try:
                seen = commands.run(call, look if call is calls[-1] else "null")
            except PageError as error:
                said = f"{call.name}: {error}".replace(f"{call.name}: {call.name}:", f"{call.name}:")
                return said, False, commands.context.settle(0, look)
        return "", False, seen

    def _failed(self, reason: str) -> Step[BrowserGymObservation]:
        """The browser, or the page, is no more: the episode is over, and nobody's fault in the statistics."""
        self._drop()
        self._over = True
        observation = BrowserGymObservation(
            goal=self.state.goal if self.state else "", error=reason, last_action_error=True
        )
        facts = {"won": False, "invalid_format": False, "action_error": True}
        info: Info = {"reward_components": {"task": 0.0}, "facts": facts, "outcome": Outcome.ENVIRONMENT_FAILED}
        if "no answer within" in reason or "not quiet" in reason:
            info["limit"] = "time"
        return Step(observation, 0.0, False, True, info)

    # --- benchmarks on sites that somebody runs ---

    def _reset_remote(
        self, remote: RemoteTask, seed: Seed | None, options: Options | None
    ) -> tuple[BrowserGymObservation, Info]:
        if options:
            raise InvalidArgument(f"options: expected none for {remote.benchmark}, got {shorten(options)}")
        super().reset(seed=seed)
        seen = remote.reset(int(self.np_random.integers(1 << 31)))
        self._choice, self._over = Chosen(remote.task, 0), False
        observation = BrowserGymObservation(**seen)
        self.state = BrowserGymState(remote.benchmark, remote.task, remote.id, observation.goal, observation.url)
        return observation, {"task": remote.id, "goal": observation.goal}

    def _step_remote(self, remote: RemoteTask, text: str) -> Step[BrowserGymObservation]:
        seen, reward, terminated, truncated = remote.step(text)
        self._over = terminated or truncated
        won = terminated and reward > 0
        info: Info = {"reward_components": {"task": reward}, "facts": {"won": won, "invalid_format": False}}
        if terminated:
            info["outcome"] = Outcome.SUCCESS if won else Outcome.FAILURE
        if self.state is not None:
            self.state.cum_reward += reward
        return Step(BrowserGymObservation(**seen), reward, terminated, truncated, info)

    # --- the browser ---

    def _begin_anew(self, choice: Chosen) -> tuple[PageEpisode, BrowserGymObservation]:
        """As `_begin`; in another browser, if the one before has died meanwhile. ChannelError where that fails too."""
        try:
            return self._begin(choice)
        except (ProtocolError, ChannelError):
            self._drop()
        try:
            return self._begin(choice)
        except ProtocolError as error:
            self._drop()
            raise ChannelError(f"reset: expected a page that answers, got: {error}") from None

    def _begin(self, choice: Chosen) -> tuple[PageEpisode, BrowserGymObservation]:
        """A fresh context with the task in it, and what it shows; another is made ahead for the next reset."""
        last, browser = self._context, self._browser()
        episode = self._suite.episode(choice.task, choice.seed, self._time_limit)
        start = episode.start(TabSettings(*self._size, choice.dialogs, self._seconds))
        coming = start if len(self._suite.tasks) == 1 else start.empty
        hurried = time.monotonic() - self._began < HURRIED_TIMES * _spares.seconds
        maker = None
        try:
            self._context = _spares.take(browser, start)
            self._episode, self._commands = episode, Commands(self._context)
            if hurried:  # beside the task that is put up: what is left for later would slow the few steps there are
                maker = _spares.prepare(browser, coming, bare=True)
            with self._context.setting_up():
                seen = self._observed(episode, "", episode.begin(self._context, _look(episode)))[0]
        finally:
            # Only now, as the one made ahead: both keep the browser busy, and nobody waits for them.
            if last is not None:
                last.close()
        if maker is not None:
            maker.join(_spares.seconds * HURRIED_TIMES)
        elif not hurried:
            _spares.prepare(browser, coming)
        self._began = time.monotonic()
        return episode, seen

    def _browser(self) -> Chromium:
        """The one that runs, held as long as this environment uses it."""
        if self._holds and self._context is not None and self._context.browser.lives:
            return self._context.browser
        if self._holds:
            release()
        browser, self._holds = acquire(), True
        return browser

    def _observed(
        self, episode: PageEpisode, error: str, seen: PageView | None
    ) -> tuple[BrowserGymObservation, Verdict]:
        _, commands, context = self._parts()
        seen = seen or context.tab.view(_look(episode))
        boxes = [ElementBox(*one) for one in seen.get("boxes", [])]
        observation = BrowserGymObservation(
            text=seen.get("tree", ""),
            url=seen["url"],
            goal=episode.goal,
            axtree_txt=seen.get("tree", ""),
            pruned_html=seen.get("html", ""),
            error=error,
            last_action_error=bool(error),
        )
        self._seen = observation.axtree_txt, boxes
        if self._screenshot != "none":
            observation.screenshot = context.tab.screenshot()
            if self._screenshot == "marks":
                observation.screenshot = marked(observation.screenshot, boxes)
        return observation, episode.judge(commands, seen["probed"])

    def _parts(self) -> tuple[PageEpisode, Commands, Context]:
        if self._episode is None or self._commands is None or self._context is None:
            raise ResetNeeded("step: expected reset() first, got an environment that was closed")
        return self._episode, self._commands, self._context

    def _replay(self, choice: Chosen) -> None:
        """The episode as it was: begun again from its seed, with every action done again."""
        self._stale = False
        episode, _ = self._begin(choice)
        for text in choice.actions:
            _, commands, _ = self._parts()
            error, _, seen = self._done(commands, text, _look(episode))
            self._observed(episode, error, seen)

    def _reinstate(self, state: dict[str, object], memo: Memo) -> None:
        super()._reinstate(state, memo)
        self._stale = True

    def _drop(self) -> None:
        if self._context is not None:
            self._context.close()
        self._context = self._commands = self._episode = None
        if self._holds:
            self._holds = False
            release()

    def close(self) -> None:
        """Dispose of the context; the browser ends when nobody has used it for a while."""
        self._drop()
        if self._remote is not None:
            self._remote.close()
        super().close()

    def get_choices(self) -> list[Choice] | None:
        """What one may click in the picture, keys, and a line for any other action; None for sites that others run."""
        return [] if self._over else None if self._remote is not None else page_choices(*self._seen, self._size)

    def draw(self) -> Canvas:
        """The page as it is in view, under its goal and address; ChannelError where it does not answer any more."""
        try:
            if self._stale and self._choice is not None:
                self._replay(self._choice)
            if self._context is None or self.state is None:
                return browser_picture(None, self.state.goal if self.state else "", "", self._size)
            return browser_picture(self._context.tab.screenshot(), self.state.goal, self.state.current_url, self._size)
        except ProtocolError as error:
            raise ChannelError(f"render: expected a page that answers, got: {error}; reset() begins another") from None


def _look(episode: PageEpisode) -> str:
    """What a page is asked after everything that was done in it."""
    nothing = "{url:location.href,probed:null}"
    return f"window.__ludus?{{...__ludus.observe({MAX_TEXT_CHARS}),probed:{episode.probe}}}:{nothing}"


def _viewport(given: Sequence[int] | None) -> tuple[int, int] | None:
    if given is None:
        width, height = os.environ.get("BROWSERGYM_VIEWPORT_WIDTH"), os.environ.get("BROWSERGYM_VIEWPORT_HEIGHT")
        if not width or not height:
            return None
        given = (int(width), int(height)) if width.isdigit() and height.isdigit() else (0, 0)
    size = tuple(given)
    if len(size) != 2 or not all(type(one) is int and 100 <= one <= 4096 for one in size):
        raise InvalidArgument(f"viewport: expected width and height from 100 to 4096, got {shorten(given)}")
    return size[0], size[1]


def _timeout(given: int | None) -> float:
    text = os.environ.get("BROWSERGYM_TIMEOUT", "")
    value = given if given is not None else int(text) if text.isdigit() else 10_000
    if isinstance(value, bool) or not 100 <= value <= 600_000:
        raise InvalidArgument(f"timeout: expected milliseconds from 100 to 600000, got {shorten(value)}")
    return value / 1000


def _options(options: Options | None, known: TaskSuite) -> tuple[tuple[str, ...], bool]:
    given = dict(options or {})
    dialogs, task = given.pop("dialogs", "accept"), given.pop("task_name", None)
    if given:
        raise InvalidArgument(f"options: expected only 'task_name' and 'dialogs', got {shorten(given)}")
    if dialogs not in ("accept", "dismiss"):
        raise InvalidArgument(f"options dialogs: expected 'accept' or 'dismiss', got {shorten(dialogs)}")
    return (known.tasks if task is None else (known.named(task),)), dialogs == "accept"
