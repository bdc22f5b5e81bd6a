"""Rules about wrappers: they can be made again from what they recorded, and leave the dynamics' randomness alone."""

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import TypeGuard

from ludus.core import Env, EnvSpec, Wrapper
from ludus.core.env import AnyEnv
from ludus.errors import InvalidType, LudusError, shorten
from ludus.registry import make
from ludus.spaces.kinds import class_of
from ludus.testing.equality import difference
from ludus.testing.report import error
from ludus.testing.rule import Found, Unchecked, raised
from ludus.testing.subject import Subject

__all__ = [
    "arguments_make_it_again",
    "bottom_stream_untouched",
    "close_reaches_the_bottom",
    "is_a_wrapper",
    "spec_makes_it_again",
]

Call = tuple[str, tuple[object, ...], dict[str, object]]


def is_a_wrapper(subject: Subject) -> Found:
    """What is checked makes a `ludus.Wrapper` around an environment."""
    env: object = subject.env()
    if not issubclass(class_of(env), Wrapper):
        yield error(f"{subject.name}: expected a ludus.Wrapper, got {shorten(env)}", "derive it from ludus.Wrapper")
    elif not isinstance(getattr(env, "env", None), Env):
        yield error(f"{subject.name}.env: expected the environment below, got none", "call `super().__init__(env)`")


def _is_wrapper(env: object) -> TypeGuard[Wrapper]:
    return isinstance(env, Wrapper)


def _wrapper(subject: Subject) -> Wrapper:
    env = subject.fresh()
    if not _is_wrapper(env):
        raise InvalidType(f"{subject.name}: expected a ludus.Wrapper, got {shorten(env)}")
    return env


def arguments_make_it_again(subject: Subject) -> Found:
    """The class called with the environment below and `arguments` makes an equal wrapper."""
    wrapper = _wrapper(subject)
    fix = "take no *args after env: only arguments with names can be recorded"
    try:
        again: Wrapper = type(wrapper)(wrapper.env, **wrapper.arguments)
    except Exception as failure:
        yield error(f"{type(wrapper).__name__}(env, **arguments): expected it again, got {raised(failure)}", fix)
        return
    found = difference(wrapper.arguments, again.arguments, "arguments")
    if found or str(again) != str(wrapper):
        yield error(f"made from its arguments: expected {wrapper!s}, got {again!s}", fix)


def spec_makes_it_again(subject: Subject) -> Found:
    """`spec`, through JSON, makes the same stack of wrappers with the same arguments."""
    wrapper = _wrapper(subject)
    if wrapper.spec is None:
        raise Unchecked("the environment below has no spec: make it by ludus.make")
    try:
        spec = EnvSpec.from_json(wrapper.spec.to_json())
        again = make(spec)
    except LudusError as failure:
        raise Unchecked(f"its spec cannot be written, or made again: {failure}") from failure
    with suppress(Exception):
        again.close()
    if str(again) != str(wrapper):
        yield error(
            f"made from its spec: expected {wrapper!s}, got {again!s}", "leave `spec` and `arguments` to Wrapper"
        )


def bottom_stream_untouched(subject: Subject) -> Found:
    """The environment at the bottom draws what it would draw alone: a wrapper draws from `stream(name)`."""
    wrapper, alone = _wrapper(subject), subject.fresh().unwrapped
    calls = _recorded(wrapper.unwrapped)
    subject.play(wrapper)
    for name, args, kwargs in calls:
        getattr(alone, name)(*args, **kwargs)
    if difference(wrapper.np_random.bit_generator.state, alone.np_random.bit_generator.state):
        message = "np_random after an episode: expected it where the bare environment leaves it, got it elsewhere"
        yield error(message, "draw from `self.stream('my-wrapper')`, never from self.np_random")


def _recorded(bottom: AnyEnv) -> list[Call]:
    """The calls of `reset` and `step` that reach an environment from now on."""
    calls: list[Call] = []
    for name in ("reset", "step"):
        setattr(bottom, name, _recording(name, getattr(bottom, name), calls))
    return calls


def _recording(name: str, method: Callable[..., object], calls: list[Call]) -> Callable[..., object]:
    def call(*args: object, **kwargs: object) -> object:
        calls.append((name, deepcopy(args), deepcopy(kwargs)))
        return method(*args, **kwargs)

    return call


def close_reaches_the_bottom(subject: Subject) -> Found:
    """`close` closes the environment at the bottom."""
    wrapper = _wrapper(subject)
    bottom, closed = wrapper.unwrapped, list[bool]()
    close = bottom.close
    setattr(bottom, "close", lambda: (closed.append(True), close()))  # noqa: B010  (a method is not assignable to pyright)
    wrapper.close()
    if not closed:
        message = "close(): expected the environment at the bottom to be closed, got no call"
        yield error(message, "end close with `super().close()`")
