"""Arguments: checked against a signature before the call, so that the error names what is accepted."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from ludus.errors import InvalidArgument, listing
from ludus.registry.suggestion import did_you_mean

__all__ = ["accepted", "check_arguments"]

NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def accepted(call: Callable[..., Any], given: int = 0) -> dict[str, Parameter] | None:
    """The parameters that may be passed by name, after the first `given`; None where any name is good."""
    try:
        parameters = list(signature(call).parameters.values())
    except (TypeError, ValueError):  # some compiled callables tell nothing
        return None
    if any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        return None
    return {one.name: one for one in parameters[given:] if one.kind in NAMED}


def check_arguments(call: Callable[..., Any], arguments: Mapping[str, Any], what: str, given: int = 0) -> None:
    """Raise InvalidArgument for an argument that `call` does not take, and for one that it needs and does not get.

    `given` counts the positional arguments that the caller adds.
    """
    known = accepted(call, given)
    if known is None:
        return
    takes = f"{getattr(call, '__name__', 'it')} takes {listing(known) if known else 'no arguments'}"
    for name in arguments:
        if name not in known:
            raise InvalidArgument(f"{what}: unknown argument {name!r}{did_you_mean(name, list(known)) or ';'} {takes}")
    missing = [name for name, one in known.items() if one.default is Parameter.empty and name not in arguments]
    if missing:
        raise InvalidArgument(f"{what}: expected the argument {listing(map(repr, missing))}, got none; {takes}")
