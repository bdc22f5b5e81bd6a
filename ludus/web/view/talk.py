"""Talk: the events of an episode as a page shows them: messages, calls, outputs, diffs, usage; and finding in them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ludus.errors import LudusError
from ludus.serve.doors.browse.shown import plain
from ludus.trajectory import Event, FileDiff, ModelUsage, Run

__all__ = ["PAGE_EVENTS", "events_page", "find", "summary"]

PAGE_EVENTS = 40
LONGEST_TEXT = 40_000
"""Characters of one text on the page; what is longer is cut, and says so."""


def events_page(run: Run, events: list[Event], page: int) -> list[dict[str, Any]]:
    """The events on a page, each with its number."""
    first = page * PAGE_EVENTS
    return [_shown(run, number, one) for number, one in enumerate(events[first : first + PAGE_EVENTS], first)]


def _shown(run: Run, number: int, event: Event) -> dict[str, Any]:
    fields: Any = plain(event.value.data())
    if isinstance(event.value, FileDiff) and event.value.blob and not event.value.diff:
        fields["diff"] = _blob(run, event.value.blob)
    return {
        "number": number,
        "step": event.step,
        "seconds": plain(event.seconds),
        "kind": plain(event.kind),
        "fields": _cut(fields),
    }


def _blob(run: Run, name: str) -> str:
    try:
        return run.blob(name).decode("utf8", "replace")
    except LudusError as error:
        return str(error)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}\n… {len(value) - LONGEST_TEXT} characters more"
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    return [_cut(one) for one in value] if isinstance(value, list) else value


def find(events: list[Event], kinds: tuple[str, ...], text: str) -> list[int]:
    """The numbers of the events of these kinds, or of any, in which the text is, however it is capitalised."""
    wanted = text.lower().strip()
    return [
        number
        for number, event in enumerate(events)
        if (not kinds or event.kind in kinds) and (not wanted or wanted in _said(event))
    ]


def _said(event: Event) -> str:
    return "\n".join([event.kind, *_texts(plain(event.value.data()))]).lower()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif value is not None:
        yield str(value)


def summary(events: list[Event]) -> dict[str, Any]:
    """How many events there are of each kind, and what models used."""
    used = [event.value for event in events if isinstance(event.value, ModelUsage)]
    costs = [one.cost_usd for one in used if one.cost_usd is not None]
    return plain(
        {
            "events": len(events),
            "kinds": dict(Counter(event.kind for event in events)),
            "usage": {
                "calls": len(used),
                "prompt_tokens": sum(one.prompt_tokens for one in used),
                "completion_tokens": sum(one.completion_tokens for one in used),
                "cached_tokens": sum(one.cached_tokens for one in used),
                "cost_usd": sum(costs) if costs else None,
            }
            if used
            else None,
        }
    )
