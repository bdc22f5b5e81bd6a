"""`Viewer`: the files that are looked at, and the answers to all that a page asks of them, as JSON."""

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from ludus.errors import InvalidArgument, shorten
from ludus.server.protocols.web_api.frame import Frame
from ludus.server.protocols.web_api.page_json import plain
from ludus.trajectory import RecordedEpisode
from ludus.web.view.comparison import compare
from ludus.web.view.curves import curves
from ludus.web.view.frames import PAGE_FRAMES, Frames
from ludus.web.view.opened_run import OpenedRun
from ludus.web.view.steps import PAGE_STEPS, bounds, has_observations, steps
from ludus.web.view.talk import PAGE_EVENTS, IndexedEvent, events_page, find, summary

__all__ = ["Viewer", "as_json"]

RECORD = "run.ludus"
"""The name of the record in the folder of a task's run."""
MAX_COMPARED = 8
MAX_EXECUTED = 20_000
"""Steps up to which an episode is executed again for the rewards that its file does not have."""
MAX_KEPT_EPISODES = 8
Question = Mapping[str, str]
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Unicode's embeddings, overrides and isolates. Marks that single letters need are left alone."""
TURNING_BYTES = re.compile(b"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


class Viewer:
    """Opens files, `path` or `path#episode`, and answers by the name of a question; for one thread at a time.

    `trust` has any environment that a file names made and drawn; without it only those of the library. `isolation` is
    what they are made behind.

    >>> import ludus, tempfile
    >>> from ludus.trajectory import Recorder
    >>> path = tempfile.mkdtemp() + "/run.ludus"
    >>> with Recorder(ludus.make("CartPole-v1"), path) as env:
    ...     _ = env.reset(seed=7), env.step(1), env.step(1)
    >>> viewer = Viewer([path])
    >>> viewer.answer("episodes", {"run": "0"})["rows"][0]["seed"]
    7
    >>> viewer.answer("frames", {"run": "0", "n": "0", "page": "0"})["frames"][0]["kind"]
    'svg'
    """

    def __init__(
        self, files: Sequence[str | os.PathLike[str]], *, trust: bool = False, isolation: str | None = None
    ) -> None:
        if not files:
            raise InvalidArgument("view: expected files, as `run.ludus` or `run.ludus#3`, got none")
        self._trust, self._isolation = trust, isolation
        self.runs: list[OpenedRun] = []
        self.chosen: list[tuple[int, int]] = []
        """Episodes that were named, as run and number."""
        places: dict[str, int] = {}
        for path, number in map(_named, files):
            if path not in places:
                places[path] = len(self.runs)
                self.runs.append(OpenedRun(path))
            if number is not None:
                self.chosen.append((places[path], number))
                self.episode(places[path], number)
        self._drawers: dict[int, tuple[tuple[int, ...], Frames]] = {}
        self._kept: OrderedDict[tuple[object, ...], list[IndexedEvent]] = OrderedDict()
        self.questions: Final[dict[str, Callable[[Question], object]]] = {
            name: getattr(self, f"_{name}")
            for name in ("runs", "episodes", "about", "episode", "steps", "events", "find", "frames", "compare")
        }

    def answer(self, name: str, question: Question) -> object:
        """The answer to a question by its name; raises LudusError for what cannot be answered."""
        ask = self.questions.get(name)
        if ask is None:
            raise InvalidArgument(f"question: expected one of {', '.join(self.questions)}, got {shorten(name)}")
        return ask(question)

    def close(self) -> None:
        """Close files and environments."""
        for _, frames in self._drawers.values():
            frames.close()
        for one in self.runs:
            one.run.close()

    def episode(self, run: int, number: int) -> RecordedEpisode:
        """An episode by its run and number."""
        opened = self._opened(run)
        if not 0 <= number < len(opened.run):
            raise InvalidArgument(
                f"episode: expected 0 to {len(opened.run) - 1} of {os.path.basename(opened.path)}, got {number}"
            )
        return RecordedEpisode(opened.run, number)

    def _opened(self, run: int) -> OpenedRun:
        if not 0 <= run < len(self.runs):
            raise InvalidArgument(f"run: expected 0 to {len(self.runs) - 1}, got {run}")
        return self.runs[run]

    # --- questions ---

    def _runs(self, question: Question) -> object:
        """What is open; files that have grown are read anew."""
        del question
        for one in self.runs:
            one.refresh()
        chosen = [{"run": run, "n": number} for run, number in self.chosen]
        names = _distinct([one.path for one in self.runs])
        return {
            "runs": [one.about() | {"name": name} for one, name in zip(self.runs, names, strict=True)],
            "chosen": chosen,
        }

    def _episodes(self, question: Question) -> object:
        opened = self._opened(_number(question, "run"))
        outcomes = tuple(filter(None, question.get("outcome", "").split(",")))
        sort, down = question.get("sort", "number"), question.get("down") == "1"
        return opened.episodes(sort, down, outcomes, question.get("text", ""), _number(question, "page"))

    def _about(self, question: Question) -> object:
        return self.frames(_number(question, "run")).about()

    def _episode(self, question: Question) -> object:
        run, episode = self._episode_of(question)
        events = self._events_of(run, episode)
        rewards = episode.rewards if episode.run.chunks.has("steps/reward") else None
        overview = {
            **self.runs[run].row(episode.number),
            "options": plain(episode.options),
            "page_steps": PAGE_STEPS,
            "page_events": PAGE_EVENTS,
            "page_frames": PAGE_FRAMES,
            "kept": {"rewards": rewards is not None, "observations": has_observations(episode)},
            "bounds": bounds(episode.run.observed.space),
            "curves": curves(episode, rewards, events),
            **summary(events),
        }
        if question.get("again") == "1" and rewards is None and episode.length <= MAX_EXECUTED:
            seen = self.frames(run).executed(episode, 1, episode.length + 1)
            overview["curves"] = curves(episode, [np.asarray(one[1], np.float64) for one in seen], events)
        return overview

    def _steps(self, question: Question) -> object:
        run, episode = self._episode_of(question)
        page = _number(question, "page")
        first, end = page * PAGE_STEPS, min((page + 1) * PAGE_STEPS, episode.length + 1)
        again = None
        if not has_observations(episode) and question.get("again") == "1":
            again = self.frames(run).executed(episode, first, end)
        return {"first": first, "steps": steps(episode, page, again), "executed": bool(again)}

    def _events(self, question: Question) -> object:
        run, episode = self._episode_of(question)
        page = _number(question, "page")
        return {"events": events_page(episode.run, self._events_of(run, episode), page)}

    def _frames(self, question: Question) -> object:
        run, episode = self._episode_of(question)
        frames, first = self.frames(run), _number(question, "page") * PAGE_FRAMES
        drawn: list[Frame | None] = []
        for step in range(first, min(first + PAGE_FRAMES, episode.length + 1)):
            last = drawn[-1] if drawn else None
            failed = last is not None and last["kind"] == "error"
            drawn.append(last if failed else frames.frame(episode, step))
        return {"first": first, "frames": drawn, "differs": frames.differs(episode)}

    def _find(self, question: Question) -> object:
        run, episode = self._episode_of(question)
        kinds = tuple(filter(None, question.get("kind", "").split(",")))
        step = _number(question, "step") if "step" in question else None
        return {"found": find(self._events_of(run, episode), kinds, question.get("text", ""), step)}

    def _compare(self, question: Question) -> object:
        places = [one.partition(".") for one in question.get("of", "").split(",")]
        if not 2 <= len(places) <= MAX_COMPARED:
            raise InvalidArgument(f"compare: expected 2 to {MAX_COMPARED} episodes, got {len(places)}")
        return compare([self.episode(_whole(run, "of"), _whole(number, "of")) for run, _, number in places])

    # --- how ---

    def _episode_of(self, question: Question) -> tuple[int, RecordedEpisode]:
        run = _number(question, "run")
        return run, self.episode(run, _number(question, "n"))

    def _events_of(self, run: int, episode: RecordedEpisode) -> list[IndexedEvent]:
        key = run, self.runs[run].stamp, episode.number
        if key not in self._kept:
            self._kept[key] = episode.run.stored_events(episode)
            if len(self._kept) > MAX_KEPT_EPISODES:
                self._kept.popitem(last=False)
        return self._kept[key]

    def frames(self, run: int) -> Frames:
        """What draws a run, as its file is now."""
        opened = self._opened(run)
        stamp, frames = self._drawers.get(run, ((), None))
        if frames is None or stamp != opened.stamp:
            if frames is not None:
                frames.close()
            frames = Frames(opened.run, trust=self._trust, isolation=self._isolation)
            self._drawers[run] = opened.stamp, frames
        return frames


def as_json(value: object) -> bytes:
    r"""An answer as JSON, in which characters that turn text around are written out: what one reads is what is there.

    >>> as_json(["a\u202eb"])
    b'["a\\\\u202eb"]'
    """
    data = msgspec.json.encode(value)
    if TURNING_BYTES.search(data) is None:
        return data
    return TURNING.sub(lambda found: f"\\\\u{ord(found[0]):04x}", data.decode()).encode()


def _distinct(paths: list[str]) -> list[str]:
    """What files are called: by their own names, and with as many folders as it takes where two have one name.

    >>> _distinct(["/runs/a/run.ludus", "/runs/b/run.ludus", "/c.ludus"])
    ['a/run.ludus', 'b/run.ludus', 'c.ludus']
    """
    parts, depth = [Path(one).parts for one in paths], [1] * len(paths)
    names = [one[-1] for one in parts]
    for _ in range(max(map(len, parts))):
        depth = [count + (names.count(name) > 1) for count, name in zip(depth, names, strict=True)]
        names = [os.path.join(*one[-count:]) for one, count in zip(parts, depth, strict=True)]
    return [plain(name) for name in names]


def _named(file: str | os.PathLike[str]) -> tuple[str, int | None]:
    """The path and the episode of `path#3`; a file whose own name ends so is itself. A run's folder is its record."""
    text = os.fspath(file)
    found = re.fullmatch(r"(.+)#(\d{1,12})", text, re.DOTALL)
    path, number = (text, None) if found is None or Path(text).exists() else (found[1], int(found[2]))
    record = os.path.join(path, RECORD)
    return (record if os.path.isfile(record) else path), number


def _number(question: Question, name: str) -> int:
    return _whole(question.get(name, "0"), name)


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 15:
        raise InvalidArgument(f"{name}: expected a number, got {shorten(text)}")
    return int(text)
