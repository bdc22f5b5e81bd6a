"""Logs: one line for what happens to a session. Never a token, and of a session's id never more than its start."""

import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from ludus.packaging.installation import LOGGER as INSTALLATIONS

__all__ = ["JsonLines", "Readable", "event", "log_session", "log_to_stderr", "short"]

LOGGER = logging.getLogger(__package__)
LOGGERS = (LOGGER, INSTALLATIONS)
"""What is shown: installations come before a server is there."""
SHOWN_ID_CHARS = 4
"""Characters of the random part of a session's id."""


def short(session: str) -> str:
    """A session's id, cut so that it can be told from others, and cannot be used.

    >>> short("0.SGVsbG8gd29ybGQhIQ")
    '0.SGVs…'
    """
    worker, _, secret = session.partition(".")
    return f"{worker}.{secret[:SHOWN_ID_CHARS]}…"


def event(name: str, **fields: object) -> None:
    """Log that something happened; without `log_to_stderr`, to Python's logger `ludus.server`."""
    LOGGER.info(name, extra={"fields": fields})


class Readable(logging.Formatter):
    """`12:00:00 opened session=0.SGVs… env=CartPole-v1`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        fields = " ".join(f"{name}={_plain(value)}" for name, value in _fields(record).items())
        return f"{_when(record):%H:%M:%S} {_plain(record.getMessage())} {fields}".rstrip()


class JsonLines(logging.Formatter):
    """One JSON object on each line: `time`, `event`, and what belongs to it."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        data = {"time": _when(record).isoformat(timespec="milliseconds"), "event": record.getMessage()}
        return msgspec.json.encode(data | dict(_fields(record)), enc_hook=str).decode()


def log_to_stderr(*, as_json: bool) -> None:
    """Write events to the standard error stream."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else Readable())
    for one in LOGGERS:
        one.handlers[:] = [handler]
        one.setLevel(logging.INFO)
        one.propagate = False


def _fields(record: logging.LogRecord) -> Mapping[str, object]:
    return getattr(record, "fields", {})


def _when(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _plain(value: object) -> str:
    """Text that stays on its line, and in quotes where it has spaces."""
    text = "".join(char if char.isprintable() else "?" for char in str(value))
    return f'"{text}"' if " " in text else text


# --- sessions ---


def log_session(name: str, fields: dict[str, object]) -> None:
    """Log what happened to a session, as `Sessions` tells it."""
    known = {**fields, "session": short(str(fields["session"]))} if "session" in fields else fields
    event(name, **known)
