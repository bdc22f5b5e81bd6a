"""Overrides: what a subclass changes of an environment made of rules, and whether compiled rules still say it.

A method that the rules stand for is marked as a `hook`. One environment calls a subclass's own; a batch of it runs
interpreted, since compiled rules call no method. What a class sets for a parameter is the parameter's default.
"""

import inspect
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import numpy as np

from ludus.errors import InvalidArgument, InvalidType, KernelError, listing, shorten
from ludus.kernels.kinds import is_array, is_dict

__all__ = ["Fixed", "RuleParameter", "hook", "overridden", "read_only", "refuse_overrides", "take_class"]


class OwnRules(Protocol):
    """An environment that knows what it does otherwise than its rules."""

    def own_rules(self) -> list[str]:
        """What that is, by name."""
        ...


Method = TypeVar("Method", bound=Callable[..., object])
FUNCTIONS = ("observe", "inform", "renew", "legal", "turn", "opponent")
"""Functions of the rules that no method stands for."""


def hook(method: Method) -> Method:
    """Mark a method that the rules stand for: a compiled lane does what it does, and never calls it.

    >>> from ludus.envs.classic import Pendulum
    >>> class Blind(Pendulum):
    ...     def _get_obs(self):
    ...         return Pendulum._get_obs(self) * 0
    >>> Blind().reset(seed=0)[0] == 0
    array([ True,  True,  True])
    >>> overridden(Blind())
    ['_get_obs']
    """
    method.follows_rules = True  # type: ignore[attr-defined]
    return method


class RuleParameter:
    """A parameter of the rules as an attribute: of an environment its own, of a class the default.

    >>> from ludus.envs.classic import CartPole
    >>> class MoonPole(CartPole):
    ...     gravity = 1.6
    >>> MoonPole.gravity, CartPole.gravity, MoonPole().params.gravity
    (1.6, 9.8, 1.6)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"The parameter `{name}` of the rules."

    def __get__(self, env: Any, kind: Any = None) -> Any:
        return getattr(kind._default_params() if env is None else env.params, self.name)

    def __set__(self, env: Any, value: object) -> None:
        env._set_params(**{self.name: value})


class Fixed:
    """An attribute that says what the rules have written into them: it can be read, and set to nothing else.

    Without a value it is what the constructor first sets.

    >>> from ludus.envs.toy_text import CliffWalking
    >>> class Wide(CliffWalking):
    ...     shape = (4, 20)
    >>> CliffWalking.shape
    (4, 12)
    >>> Wide()
    Traceback (most recent call last):
    ludus.errors.InvalidArgument: Wide.shape: expected (4, 12), which the rules are written for, got (4, 20); change P
    """

    def __init__(self, value: object = None, *, instead: str) -> None:
        self.value, self.instead = value, instead

    def __set_name__(self, owner: object, name: str) -> None:
        self.name = name

    def __get__(self, env: object, kind: object = None) -> Any:
        return self.value if env is None or self.value is not None else getattr(env, f"_{self.name}")

    def __set__(self, env: object, value: Any) -> None:
        known: Any = self.value if self.value is not None else getattr(env, f"_{self.name}", None)
        if known is None:
            setattr(env, f"_{self.name}", read_only(value))
        elif not np.array_equal(known, value):
            raise InvalidArgument(
                f"{type(env).__name__}.{self.name}: expected {shorten(known)}, which the rules are written for, "
                f"got {shorten(value)}; {self.instead}"
            )


# --- classes ---


def take_class(kind: Any) -> None:
    """Take up what a class sets: called when it is made, and when it is used, since a class can be changed as well."""
    if not hasattr(kind, "rules"):
        return
    managed: dict[str, object] | None = kind.__dict__.get("_managed")
    if managed is None:
        _refuse_functions(kind)
        managed = kind._managed = _managed(kind)
        marked = {name for one in _classes(kind) for name, value in vars(one).items() if _follows(value)}
        kind._hooks = tuple(sorted(marked))
        kind._inner_hooks = tuple(sorted(marked - {"step", "reset"}))
    elif not _is_changed(kind, managed):
        return  # setting anything would make Python forget what it knows of the class
    settings = dict(kind._class_settings)
    for name, descriptor in managed.items():
        value = _static(kind, name)
        if value is descriptor:
            continue
        if hasattr(value, "__get__"):
            _refuse_computed(kind, name, descriptor)
            continue
        _refuse_argument(kind, name, value)
        settings[name] = value
        setattr(kind, name, descriptor)
    kind._class_settings = settings


def _classes(kind: type[object]) -> tuple[type[object], ...]:
    return kind.__mro__


def _is_changed(kind: type[object], managed: dict[str, object]) -> bool:
    known = [one.__dict__ for one in kind.__mro__]
    for name, descriptor in managed.items():
        for names in known:
            if name in names:
                if names[name] is not descriptor:
                    return True
                break
    return False


def _managed(kind: Any) -> dict[str, object]:
    """The attributes whose value is kept elsewhere: parameters, and properties that can be set."""
    found: dict[str, object] = {}
    for one in reversed(_classes(kind)):
        found |= {name: value for name, value in vars(one).items() if _is_settable(value)}
    fields: tuple[str, ...] = kind.rules.params._fields
    for name in fields:
        # A method or a property of the author's own goes before a parameter of that name; so does what every `Env` has.
        if name not in found and (name in _plain_names(kind) or not hasattr(kind, name)):
            found[name] = RuleParameter(name)
            if not hasattr(kind, name):
                setattr(kind, name, found[name])
    return found


def _is_settable(value: object) -> bool:
    return isinstance(value, RuleParameter | Fixed) or (isinstance(value, property) and value.fset is not None)


def _plain_names(kind: type[object]) -> set[str]:
    """What the author's classes set to a value; names that every environment has are none of them."""
    own = [one for one in kind.__mro__ if not one.__module__.startswith(("ludus.core.", "ludus.kernels."))]
    return {name for one in own for name, value in vars(one).items() if not hasattr(value, "__get__")}


def _static(kind: type[object], name: str) -> object:
    return next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)


def _refuse_functions(kind: type[object]) -> None:
    for name in FUNCTIONS:
        if inspect.isroutine(vars(kind).get(name)):
            raise InvalidArgument(
                f"{kind.__name__}.{name}: expected a function of the rules, got a method, which rules do not call; "
                f"write rules = {kind.__mro__[1].__name__}.rules._replace({name}=…), or give the method another name"
            )


def _refuse_computed(kind: type[object], name: str, descriptor: object) -> None:
    if isinstance(descriptor, RuleParameter):
        raise InvalidType(
            f"{kind.__name__}.{name}: expected a value, since it is a parameter of the rules, got "
            f"{shorten(_static(kind, name))}; set self.{name} where it changes, in reset or step"
        )


def _refuse_argument(kind: type[object], name: str, value: object) -> None:
    """A constructor that takes a parameter would put its own default over what the class sets."""
    for one in kind.__mro__:
        taken = vars(one).get("__init__")
        if inspect.isfunction(taken) and name in inspect.signature(taken).parameters:
            raise InvalidArgument(
                f"{kind.__name__}.{name}: expected no class attribute, since {one.__name__} takes {name} as an "
                f"argument, got {shorten(value)}; call super().__init__({name}={value!r}) instead"
            )


# --- environments ---


def _follows(value: object) -> bool:
    return getattr(value, "follows_rules", False) is True


def overridden(env: Any) -> list[str]:
    """The hooks that an environment, or its class, has methods of its own for."""
    # Not by the object's `__dict__`: one that was asked for makes every attribute slower from then on.
    hooks: tuple[str, ...] = env._hooks
    return [name for name in hooks if not _follows(getattr(env, name))]


def read_only(value: object) -> object:
    """A table or an array of which compiled lanes have taken what they need: writing into it is an error.

    >>> read_only({0: {1: 2}})[0][1] = 3
    Traceback (most recent call last):
    TypeError: 'mappingproxy' object does not support item assignment
    """
    if is_dict(value):
        return MappingProxyType({name: read_only(one) for name, one in value.items()})
    if is_array(value):
        value = value.view()
        value.flags.writeable = False
    return value


def refuse_overrides(env: OwnRules) -> None:
    """Raise KernelError for an environment whose rules are not the ones that would be compiled."""
    changed = env.own_rules()
    if changed:
        raise KernelError(
            f"{type(env).__name__}: expected an environment that does what its rules say, got its own "
            f"{listing(changed)}, which compiled rules do not call; "
            f"write it as rules = {type(env).__name__}.rules._replace(…), or run with executor='serial'"
        )
