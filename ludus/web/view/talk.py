"""Talk: the events of an episode as a page shows them: messages, calls, outputs, diffs, usage; and finding in them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

from ludus.errors import LudusError
from ludus.server.protocols.web_api.page_json import plain
from ludus.spaces.kinds import is_dict, is_list
from ludus.trajectory import FileDiff, ModelUsage, Run
from ludus.trajectory.event import EventValue, StoredEvent, value_of

__all__ = ["PAGE_EVENTS", "IndexedEvent", "events_page", "find", "summary", "values"]

PAGE_EVENTS = 40
MAX_TEXT_CHARS = 40_000
"""Characters of one text on the page; what is longer is cut, and says so."""
IndexedEvent = tuple[int, StoredEvent]
"""An event as the file has it, after how many steps of its episode. Most of many are never looked at."""
ValueT = TypeVar("ValueT", bound=EventValue)


def events_page(run: Run, events: list[IndexedEvent], page: int) -> list[dict[str, object]]:
    """The events on a page, each with its number."""
    first = page * PAGE_EVENTS
    return [_shown(run, number, *one) for number, one in enumerate(events[first : first + PAGE_EVENTS], first)]


def _shown(run: Run, number: int, step: int, event: StoredEvent) -> dict[str, object]:
    try:
        value = value_of(event.kind, event.data)
        kind, fields = event.kind, dict(plain(value.data()))
        if isinstance(value, FileDiff) and value.blob and not value.diff:
            fields["diff"] = _blob(run, value.blob)
    except LudusError as error:  # no fields of its kind: shown, and not believed
        kind, fields = f"broken {event.kind}", plain({"error": str(error), **event.data})
    return {
        "number": number,
        "step": step,
        "seconds": plain(event.seconds),
        "kind": plain(kind),
        "fields": _cut(fields),
    }


def _blob(run: Run, name: str) -> str:
    try:
        return run.blob(name).decode("utf8", "replace")
    except LudusError as error:
        return str(error)


def _cut(value: object) -> object:
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARS:
        return f"{value[:MAX_TEXT_CHARS]}\n… {len(value) - MAX_TEXT_CHARS} characters more"
    if is_dict(value):
        return {key: _cut(one) for key, one in value.items()}
    return [_cut(one) for one in value] if is_list(value) else value


def find(events: list[IndexedEvent], kinds: tuple[str, ...], text: str, step: int | None = None) -> list[int]:
    """The numbers of the events of these kinds, or of any, in which the text is, however it is capitalised.

    With a step, of those that belong to it.
    """
    needle = text.lower().strip()
    return [
        number
        for number, (at, event) in enumerate(events)
        if (step is None or at == step)
        and (not kinds or event.kind in kinds)
        and (not needle or needle in _text_of(event))
    ]


def _text_of(event: StoredEvent) -> str:
    return "\n".join([event.kind, *_texts(event.data)]).lower()


def _texts(value: object) -> Iterator[str]:
    if is_dict(value):
        for key, one in value.items():
            yield str(key)
            yield from _texts(one)
    elif is_list(value):
        for one in value:
            yield from _texts(one)
    elif value is not None:
        yield str(value)


def summary(events: list[IndexedEvent]) -> dict[str, object]:
    """How many events there are of each kind, and what models used."""
    used = [one for _, one in values(events, ModelUsage)]
    costs = [one.cost_usd for one in used if one.cost_usd is not None]
    total = {
        "calls": len(used),
        "prompt_tokens": sum(one.prompt_tokens for one in used),
        "completion_tokens": sum(one.completion_tokens for one in used),
        "cached_tokens": sum(one.cached_tokens for one in used),
        "cost_usd": sum(costs) if costs else None,
    }
    kinds = Counter(event.kind for _, event in events)
    return plain({"events": len(events), "kinds": dict(kinds), "usage": total if used else None})


def values(events: list[IndexedEvent], kind: type[ValueT]) -> Iterator[tuple[int, ValueT]]:
    """The events of one kind that can be read, each after how many steps it came."""
    for step, event in events:
        if event.kind == kind.kind:
            with suppress(LudusError):
                value = value_of(event.kind, event.data)
                if isinstance(value, kind):
                    yield step, value
