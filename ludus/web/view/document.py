"""One file that shows runs by itself: the page, and answers to all that it will ask, within a size that is said."""

import os
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode
from zlib import compressobj

import msgspec

from ludus.errors import InvalidArgument, InvalidType, TrajectoryError
from ludus.spaces.kinds import is_dict
from ludus.web.bundle import POLICY, bundle, document, hashed
from ludus.web.view.frames import PAGE_FRAMES
from ludus.web.view.steps import PAGE_STEPS, pages
from ludus.web.view.talk import PAGE_EVENTS
from ludus.web.view.viewer import Viewer, as_json

__all__ = ["Written", "write_document"]

LIMIT_BYTES = 32 << 20
"""How large a document may get, unless a limit is given."""
MAX_ROWS = 20_000
"""Rows of a run's table that go into a document."""
MAX_CHOSEN = 20
"""Episodes that go in whole, where none are named."""
FRAMES_SHARE = 0.6
"""Of what is left for an episode, for its frames."""


class Written(msgspec.Struct, frozen=True):
    """What went into a document."""

    bytes: int
    episodes: int
    """That can be opened."""
    left_out: int
    """That are only in the table, or not even there."""
    frames: int


def write_document(viewer: Viewer, path: str | os.PathLike[str], *, limit_bytes: int = LIMIT_BYTES) -> Written:
    """Write a page that needs no server, with the episodes that were named, or the first ones, and their frames.

    Nothing is written over. Where not everything fits, later episodes, then frames are left out, and the page says so.
    """
    if limit_bytes < 1 << 20:
        raise InvalidArgument(f"limit: expected at least {1 << 20} bytes, got {limit_bytes}")
    store = _Store(limit_bytes)
    runs = _runs(viewer, store)
    chosen = viewer.chosen or _first(viewer)
    opened = [place for place in chosen if _episode(viewer, store, *place)]
    frames = sum(_frames(viewer, store, *place, left=len(opened) - at) for at, place in enumerate(opened))
    if len(opened) > 1 and viewer.chosen:
        store.add("compare", viewer, of=",".join(f"{run}.{number}" for run, number in opened))
    total = sum(len(one.run) for one in viewer.runs)
    runs["document"] = {"opened": [list(one) for one in opened], "left_out": total - len(opened), "limit": limit_bytes}
    store.put("runs", runs)
    size = _write(path, _assembled(store))
    return Written(size, len(opened), total - len(opened), frames)


class _Store:
    """Answers by their questions, compressed, as long as there is room."""

    def __init__(self, limit_bytes: int) -> None:
        self.left = limit_bytes
        self.answers: dict[str, str] = {}

    def put(self, key: str, value: object) -> None:
        packer = compressobj(9, wbits=-15)
        packed = b64encode(packer.compress(as_json(value)) + packer.flush()).decode()
        self.answers[key] = packed
        self.left -= len(packed)

    def add(self, name: str, viewer: Viewer, **question: object) -> object:
        """Ask, and keep the answer."""
        value = viewer.answer(name, {key: str(one) for key, one in question.items()})
        self.put(f"{name}?{urlencode(question, safe=',')}", value)
        return value

    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.left += len(self.answers.pop(key))


def _runs(viewer: Viewer, store: _Store) -> dict[str, object]:
    runs = _fields(viewer.answer("runs", {}))
    for number, opened in enumerate(viewer.runs):
        count = min(len(opened.run), MAX_ROWS)
        store.put(f"table?run={number}", [opened.row(row) for row in range(count)])
        store.add("about", viewer, run=number)
    return runs


def _first(viewer: Viewer) -> list[tuple[int, int]]:
    """The first episodes, as many of each run."""
    most = max(1, MAX_CHOSEN // len(viewer.runs))
    return [(run, number) for run, one in enumerate(viewer.runs) for number in range(min(len(one.run), most))]


def _episode(viewer: Viewer, store: _Store, run: int, number: int) -> bool:
    """Everything of an episode but its frames; whether it fits."""
    before = list(store.answers)
    executed = _fields(viewer.answer("about", {"run": str(run)}))["executed"]
    again = {"again": 1} if executed and not viewer.runs[run].run.chunks.has("steps/observation") else {}
    overview = _fields(viewer.answer("episode", {"run": str(run), "n": str(number), **_texts(again)}))
    store.put(f"episode?run={run}&n={number}", overview)
    for page in range(pages(_count(overview, "length") + 1, PAGE_STEPS)):
        if store.left < 0:
            break
        answer = viewer.answer("steps", {"run": str(run), "n": str(number), "page": str(page), **_texts(again)})
        store.put(f"steps?run={run}&n={number}&page={page}", answer)
    events = _count(overview, "events")
    for page in range(pages(events, PAGE_EVENTS) if events else 0):
        if store.left >= 0:
            store.add("events", viewer, run=run, n=number, page=page)
    if store.left < 0:
        store.forget([key for key in store.answers if key not in before])
        return False
    return True


def _fields(answer: object) -> dict[str, object]:
    if not is_dict(answer):
        raise InvalidType(f"answer: expected an object, got a {type(answer).__name__}")
    return answer


def _count(answer: Mapping[str, object], name: str) -> int:
    count = answer[name]
    if not isinstance(count, int):
        raise InvalidType(f"answer: expected a number of {name}, got a {type(count).__name__}")
    return count


def _texts(question: Mapping[str, object]) -> dict[str, str]:
    return {key: str(one) for key, one in question.items()}


def _frames(viewer: Viewer, store: _Store, run: int, number: int, *, left: int) -> int:
    """Frames of an episode within its share of what is left; of a long one, every second, fourth, … of them."""
    room, episode = int(store.left * FRAMES_SHARE / left), viewer.episode(run, number)
    drawer = viewer.frames(run)
    sample = drawer.frame(episode, 0)
    if sample is None or sample["kind"] == "error":
        return 0
    stride = 1
    probe = _packed_size([drawer.frame(episode, step) for step in range(min(4, episode.length + 1))])
    while (episode.length // stride + 1) * probe > room and stride <= episode.length:
        stride *= 2
    steps = range(0, episode.length + 1, stride)
    drawn = 0
    for page in range(pages(len(steps), PAGE_FRAMES)):
        shown = [drawer.frame(episode, step) for step in steps[page * PAGE_FRAMES : (page + 1) * PAGE_FRAMES]]
        if _packed_size(shown) * len(shown) > room:
            break
        before = store.left
        store.put(f"frames?run={run}&n={number}&page={page}", {"frames": shown, "differs": drawer.differs(episode)})
        room -= before - store.left
        drawn += len(shown)
    store.put(f"stride?run={run}&n={number}", {"stride": stride, "drawn": drawn})
    return drawn


def _packed_size(frames: Sequence[object]) -> int:
    """Bytes of one of these frames, as they are stored together."""
    packer = compressobj(6, wbits=-15)
    return (4 * len(packer.compress(msgspec.json.encode(frames)) + packer.flush()) // 3) // max(1, len(frames)) + 1


def _assembled(store: _Store) -> str:
    early, script, style = bundle()
    policy = f"{POLICY}; script-src {hashed(early)} {hashed(script)}; style-src {hashed(style)}"
    # Nothing in here can end the element: base64 has no `<`, and keys are our own.
    data = msgspec.json.encode(store.answers).decode().replace("<", "\\u003c")
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="referrer" content="no-referrer">\n<style>{style}</style>\n<script>{early}</script>'
    )
    tail = f'<script type="application/json" id="answers">{data}</script>\n<script type="module">{script}</script>'
    return document(head=head, tail=tail)


def _write(path: str | os.PathLike[str], text: str) -> int:
    data = text.encode()
    try:
        with open(path, "xb") as file:
            return file.write(data)
    except OSError as error:
        raise TrajectoryError(f"{path}: expected a path for a new file, got {error}") from error
