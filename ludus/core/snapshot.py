"""Snapshots: the exact state of an environment, its wrappers and their random streams, as a value.

The default copies every attribute of every layer at once, so that two names for one object stay two names for one.
References to the layers themselves are kept as places: a snapshot of one environment fits another made alike.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from types import ModuleType
from typing import ClassVar, Protocol, TypeVar

from ludus.errors import SnapshotError, shorten
from ludus.spaces.kinds import is_dict, is_list_or_tuple
from ludus.spaces.space import is_space

__all__ = ["Memo", "Snapshot", "capture_attributes", "put", "reinstate_attributes", "take"]

LayerT = TypeVar("LayerT")
Memo = dict[int, object]
"""What `deepcopy` has copied already, by the `id` of the original."""


class Layer(Protocol):
    """What a snapshot has to know of an environment or wrapper."""

    snapshot_shared: ClassVar[tuple[str, ...]]


class LayerReference:
    """Stands for layer `number` of the stack inside a snapshot."""

    def __init__(self, number: int) -> None:
        self.number = number


class Snapshot:
    """The state of an environment at one moment, as `Env.snapshot` gives it; it never changes.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> env = GridWorld()
    >>> _ = env.reset(seed=0)
    >>> before = env.snapshot()
    >>> first = env.step(1)
    >>> env.restore(before)
    >>> env.step(1).reward == first.reward
    True
    """

    def __init__(self, kinds: Sequence[str], states: Sequence[object], places: Sequence[LayerReference]) -> None:
        self.kinds = tuple(kinds)
        self.states = tuple(states)
        self.places = tuple(places)

    def __repr__(self) -> str:
        return f"Snapshot({' of '.join(kind.rpartition('.')[2] for kind in self.kinds)})"


def take(layers: Sequence[LayerT], capture: Callable[[LayerT, Memo], object]) -> Snapshot:
    """A snapshot of a stack of layers, outermost first."""
    places = [LayerReference(number) for number in range(len(layers))]
    memo: Memo = {id(layer): place for layer, place in zip(layers, places, strict=True)}
    return Snapshot([_kind(layer) for layer in layers], [capture(layer, memo) for layer in layers], places)


def put(layers: Sequence[LayerT], snapshot: Snapshot, reinstate: Callable[[LayerT, object, Memo], None]) -> None:
    """Bring a stack of layers to the state of a snapshot; nothing changes unless all of it fits."""
    if not isinstance(snapshot, Snapshot):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SnapshotError(f"restore: expected what snapshot() returned, got {shorten(snapshot)}")
    kinds = tuple(_kind(layer) for layer in layers)
    if kinds != snapshot.kinds:
        raise SnapshotError(
            f"restore: expected a snapshot of {' of '.join(kinds)}, got one of {' of '.join(snapshot.kinds)}; "
            "make the environment with the same wrappers"
        )
    memo: Memo = {id(place): layer for place, layer in zip(snapshot.places, layers, strict=True)}
    for layer, state in zip(layers, snapshot.states, strict=True):
        reinstate(layer, state, memo)


def _kind(layer: object) -> str:
    return f"{type(layer).__module__}.{type(layer).__qualname__}"


def capture_attributes(layer: Layer, memo: Memo) -> dict[str, object]:
    """A deep copy of a layer's attributes, without those in its class's `snapshot_shared`."""
    attributes = {name: value for name, value in _attributes(layer).items() if name not in layer.snapshot_shared}
    memo.update(_modules(attributes))
    for space in filter(is_space, attributes.values()):
        space.ensure_seeded()  # a generator that is seeded later would not be the snapshot's
    before = dict(memo)  # a copy that fails leaves half-made objects in the memo
    try:
        return deepcopy(attributes, memo)
    except Exception as error:
        where, value, reason = _blame(attributes, before, type(layer).__name__) or (type(layer).__name__, layer, error)
        raise SnapshotError(
            f"snapshot: expected attributes that can be copied, got {where} = {shorten(value)} ({reason}); "
            f"name it in `snapshot_shared` if it is no state, or override `_capture` and `_reinstate`"
        ) from error


def reinstate_attributes(layer: Layer, state: dict[str, object], memo: Memo) -> None:
    """Give a layer a fresh copy of captured attributes; its spaces stay the objects they are."""
    current = _attributes(layer)
    for name, value in state.items():
        present = current.get(name)
        if is_space(value) and is_space(present) and present == value:
            present.copy_rng_from(value)
            memo[id(value)] = present
    memo.update(_modules(state))
    restored = deepcopy(state, memo)
    for name in current.keys() - restored.keys() - set(layer.snapshot_shared):
        delattr(layer, name)
    for name, value in restored.items():
        if current.get(name) is not value:
            object.__setattr__(layer, name, value)


def _modules(attributes: dict[str, object]) -> Memo:
    """Modules for a memo: they are what they are, though `deepcopy` refuses them."""
    return {id(value): value for value in attributes.values() if isinstance(value, ModuleType)}


def _attributes(layer: object) -> dict[str, object]:
    found: dict[str, object] = {}
    for kind in type(layer).__mro__:
        slots: str | Iterable[str] = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(layer, name):
                found[name] = getattr(layer, name)
    for name in ("observation_space", "action_space"):  # their generators are state, even where the class holds them
        held: object = getattr(type(layer), name, None)
        if is_space(held):
            found[name] = held
    own: dict[str, object] = vars(layer)
    return found | own


def _blame(children: dict[str, object], memo: Memo, path: str, depth: int = 0) -> tuple[str, object, Exception] | None:
    """The innermost child that cannot be copied: where it is, what it is, why."""
    for name, value in children.items():
        where = f"{path}{name}" if name.startswith("[") else f"{path}.{name}"
        try:
            deepcopy(value, dict(memo))
        except Exception as error:
            inner = _children(value) if depth < 6 else {}
            return _blame(inner, memo, where, depth + 1) or (where, value, error)
    return None


def _children(value: object) -> dict[str, object]:
    if is_dict(value):
        return {f"[{key!r}]": one for key, one in value.items()}
    if is_list_or_tuple(value):
        return {f"[{place}]": one for place, one in enumerate(value)}
    return {**vars(value)} if hasattr(value, "__dict__") and not isinstance(value, type) else {}
