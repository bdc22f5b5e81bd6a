"""`ProcessExit`: how a process in a sandbox came to its end, as data for `info` and as an error."""

import signal

import msgspec

from ludus.errors import LimitExceeded, SandboxError
from ludus.sandbox.backend import Usage

__all__ = ["ProcessExit", "process_exit"]


class ProcessExit(msgspec.Struct, frozen=True, kw_only=True):
    """What stopped it: a limit, a signal, or itself."""

    reason: str
    limit: str | None = None
    """`"deadline"`, the field of `Limits` that it hit, or `"channel"` where it said what is no message."""
    code: int | None = None
    """Its exit code; None where a signal ended it, or where it is not known."""
    signal: str | None = None
    usage: Usage = Usage()
    output: str = ""
    """The end of what it wrote to its standard error."""

    @property
    def info(self) -> dict[str, object]:
        """For `info["sandbox"]` of the step that it cut short."""
        fields: dict[str, object] = {name: getattr(self, name) for name in ("reason", "limit", "code", "signal")}
        return fields | {"usage": msgspec.structs.asdict(self.usage)}

    def error(self, call: str, advice: str = "; reset() starts it anew") -> SandboxError:
        """For a call that has no episode to cut short."""
        kind = SandboxError if self.limit is None else LimitExceeded
        error = kind(f"{call}: expected an answer, got none: {self.reason}{advice}")
        if self.output:
            error.add_note(f"The end of what it wrote:\n{self.output}")
        return error


def process_exit(
    limit: str | None, code: int | None, usage: Usage, output: str = "", reason: str | None = None
) -> ProcessExit:
    """An ending, made from what is known of it."""
    limit = limit or usage.limit or ("memory" if usage.oom else None)
    name = _signal_name(code)
    return ProcessExit(
        reason=reason or _reason(limit, code, name),
        limit=limit,
        code=None if name is not None else code,
        signal=name,
        usage=usage,
        output=output,
    )


def _reason(limit: str | None, code: int | None, name: str | None) -> str:
    if limit == "deadline":
        return "its process was killed, since it did not answer in time"
    if limit == "channel":
        return "its process was killed, since its channel could not be relied on any more"
    if limit is not None:
        return f"its process was stopped at the limit {limit!r}"
    if name is not None:
        return f"its process was ended by {name}"
    return "its process is gone" if code is None else f"its process exited with code {code}"


def _signal_name(code: int | None) -> str | None:
    if code is None or code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
