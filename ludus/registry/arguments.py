"""Arguments: whose each is, and whether it is taken, checked before the call, so that the error names what is."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import NamedTuple

from ludus.errors import InvalidArgument, InvalidType, did_you_mean, listing, shorten
from ludus.spaces.kinds import is_mapping

__all__ = ["LIMITS", "NOTHING", "Creator", "Given", "check_arguments", "given_by"]

NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
NOTHING: Mapping[str, object] = {}
LIMITS = ("max_episode_steps", "disable_env_checker")
"""Keywords that `make` has for itself, and a batch has for each of its lanes."""


class Given(NamedTuple):
    """What the caller of `make` or `make_vec` gave the environment."""

    arguments: Mapping[str, object] = NOTHING
    own: Mapping[str, object] = NOTHING
    """Keywords of the function itself, passed without `kwargs=`: an environment that takes one may have been meant."""
    function: str = "make"


def given_by(
    function: str, kwargs: Mapping[str, object] | None, env_kwargs: Mapping[str, object], own: Mapping[str, object]
) -> Given:
    """Put together `kwargs=…` and the other keywords; None in `own` stands for what was not passed."""
    if kwargs is None:
        return Given(env_kwargs, own, function)
    given: object = kwargs
    if not is_mapping(given) or not all(isinstance(name, str) for name in given):
        raise InvalidType(f"kwargs: expected a dictionary of the environment's arguments, got {shorten(kwargs)}")
    twice = [name for name in kwargs if name in env_kwargs]
    if twice:
        raise InvalidArgument(
            f"kwargs: expected each argument once, got {listing(map(repr, twice))} in kwargs and as a keyword as well"
        )
    return Given({**kwargs, **env_kwargs}, NOTHING, function)


class Creator(NamedTuple):
    """What makes an environment, and the arguments that it takes by name."""

    call: Callable[..., object]
    name: str
    parameters: Mapping[str, Parameter]
    takes_any: bool
    """Whether it takes other names as well, or tells nothing of those it takes."""

    @classmethod
    def of(cls, call: Callable[..., object], positional: int = 0) -> "Creator":
        """The creator that `call` is; the first `positional` arguments are not passed by name."""
        name = getattr(call, "__name__", "it")
        try:
            found = list(signature(call).parameters.values())
        except (TypeError, ValueError):  # some compiled callables tell nothing
            return cls(call, name, {}, True)
        known = {one.name: one for one in found[positional:] if one.kind in NAMED}
        return cls(call, name, known, bool(found) and found[-1].kind is Parameter.VAR_KEYWORD)

    @property
    def takes(self) -> str:
        """The end of a message: what it takes."""
        return f"{self.name} takes {listing(self.parameters) if self.parameters else 'no arguments'}"

    def check(self, arguments: Mapping[str, object], label: str) -> None:
        """Raise InvalidArgument for an argument that it does not take, and for one that it needs and does not get."""
        if self.takes_any:
            return
        for name, value in arguments.items():
            if name not in self.parameters:
                hint = respelt(name, value) or did_you_mean(name, list(self.parameters)) or ";"
                raise InvalidArgument(f"{label}: unknown argument {name!r}{hint} {self.takes}")
        missing = [
            name for name, one in self.parameters.items() if one.default is Parameter.empty and name not in arguments
        ]
        if missing:
            raise InvalidArgument(
                f"{label}: expected the argument {listing(map(repr, missing))}, got none; {self.takes}"
            )

    def explain(self, error: InvalidArgument, arguments: Mapping[str, object]) -> None:
        """Raise again what the creator raised over an argument, where there is another way to write that."""
        for name, value in arguments.items():
            hint = respelt(name, value) if name not in self.parameters and name in str(error) else None
            if hint is not None:
                raise InvalidArgument(f"{error}{hint.rstrip(';')}") from error

    def check_meant(self, given: Given, label: str) -> None:
        """Raise InvalidArgument where the caller may have meant the environment by a keyword of the function's own."""
        rules: object = getattr(self.call, "rules", None)
        fields: tuple[str, ...] = getattr(getattr(rules, "params", None), "_fields", ()) if self.takes_any else ()
        for name, value in given.own.items():
            if value is not None and (name in self.parameters or name in fields):
                shown = shorten(value, 40)
                raise InvalidArgument(
                    f"{label}: expected {name!r} to be meant for {given.function} or for {self.name}, "
                    f"got {name}={shown}, which both take; write kwargs={{{name!r}: {shown}}} for {self.name}, "
                    f"or {name}={shown}, kwargs={{}} for {given.function}"
                )


def check_arguments(
    call: Callable[..., object], arguments: Mapping[str, object], label: str, positional: int = 0
) -> None:
    """Raise InvalidArgument for what `call` does not take, or needs; `positional` counts what the caller adds."""
    Creator.of(call, positional).check(arguments, label)


# --- other spellings ---

MODES = {"sync": "'serial'", "async": "'process'", "vector_entry_point": "'kernel'"}
"""Gymnasium's names of executors, and ours."""
OPTIONS = {
    "num_workers": "Process(workers={})",
    "num_threads": "Thread(threads={})",
    "threads": "Thread(threads={0}) or executor=Kernel(threads={0})",
    "statistics": "Kernel(statistics={})",
    "copy": "Serial(copy={0}), Thread(copy={0}) or Process(copy={0})",
    "shared_memory": "Process(), whose memory is always shared",
    "vector_kwargs": "Serial(…), Thread(…), Process(…) or Kernel(…), which have the options of an executor",
    **{name: f"Process({name}={{}})" for name in ("timeout", "batch_size", "context", "max_restarts", "on_failure")},
}
"""Options of executors, as others and we ourselves have spelt them, and the value that carries them."""


def respelt(name: str, value: object) -> str | None:
    """For an argument that no environment takes: what to write instead, as the middle of a message."""
    if name in ("deadline", "deadlines"):
        return f"; write isolation=Sandbox(deadlines={shorten(value, 40)});"
    if name == "vectorization_mode":
        mode = MODES.get(str(getattr(value, "value", value)), "'serial', 'thread', 'process' or 'kernel'")
        return f"; write make_vec(…, executor={mode});"
    if name in OPTIONS:
        return f"; write make_vec(…, executor={OPTIONS[name].format(shorten(value, 40))});"
    return None
