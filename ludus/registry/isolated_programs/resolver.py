"""Resolving inside the sandbox: what `module:Name`, or an id of another library, means is known only to their code."""

import os

import msgspec

from ludus.registry.shared import registry
from ludus.wire.failures import write_failure
from ludus.wire.messages import FailedReply

__all__ = ["Resolved", "main"]


class Resolved(msgspec.Struct):
    """The spec as JSON text, or why there is none."""

    spec: str = ""
    failed: FailedReply | None = None


def main(question: bytes, answer: int) -> None:
    """Answer with the spec of a text."""
    try:
        reply = Resolved(registry.spec_here(question.decode()).to_json())
    except Exception as error:
        reply = Resolved(failed=write_failure(error))
    data = msgspec.json.encode(reply)
    while data:
        data = data[os.write(answer, data) :]
