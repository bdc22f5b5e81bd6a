"""Values, from Ludus to Gymnasium and back: the same, except that graphs and records have classes of their own."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludus.interop.gymnasium_library import gymnasium
from ludus.spaces import Dict, Graph, GraphInstance, Json, OneOf, Record, Sequence, Space, Tuple
from ludus.spaces.message import read_json, write_json

__all__ = ["Passage", "passage"]

Map = Callable[[Any], Any]
theirs: Any = gymnasium.spaces
batches: Any = gymnasium.vector.utils


class Passage(NamedTuple):
    """What happens to a value on its way to Gymnasium (`out`) and back (`back`); None where it stays what it is."""

    out: Map | None = None
    back: Map | None = None

    def leave(self, value: Any) -> Any:
        """The value for Gymnasium."""
        return value if self.out is None else self.out(value)

    def enter(self, value: Any) -> Any:
        """The value for Ludus."""
        return value if self.back is None else self.back(value)


STAY = Passage()


def passage(space: Space[object], other: Any) -> Passage:
    """The passage of values between a Ludus space and its equal in Gymnasium.

    >>> from ludus.interop.gymnasium_spaces import space_to_gymnasium
    >>> space = Graph(Dict(), None)
    >>> passage(space, space_to_gymnasium(space)).leave(GraphInstance({}, None, None)).__module__
    'gymnasium.spaces.graph'
    """
    make = _MAKERS.get(type(space))
    return STAY if make is None else make(space, other)


def _parts(space: Any, other: Any) -> list[Passage]:
    inner = other.spaces.values() if isinstance(other, theirs.Dict) else other.spaces
    return [passage(one, their) for one, their in zip(space.subspaces, inner, strict=True)]


def _tuple(space: Any, other: Any) -> Passage:
    parts = _parts(space, other)
    if all(part is STAY for part in parts):
        return STAY

    def out(value: Any) -> Any:
        return tuple(part.leave(one) for part, one in zip(parts, value, strict=True))

    def back(value: Any) -> Any:
        return tuple(part.enter(one) for part, one in zip(parts, value, strict=True))

    return Passage(out, back)


def _dict(space: Any, other: Any) -> Passage:
    parts = dict(zip(space.spaces, _parts(space, other), strict=True))
    if all(part is STAY for part in parts.values()):
        return STAY

    def out(value: Any) -> Any:
        return {key: part.leave(value[key]) for key, part in parts.items()}

    def back(value: Any) -> Any:
        return {key: part.enter(value[key]) for key, part in parts.items()}

    return Passage(out, back)


def _one_of(space: Any, other: Any) -> Passage:
    parts = _parts(space, other)
    if all(part is STAY for part in parts):
        return STAY

    def out(value: Any) -> Any:
        at: int = value[0]
        return at, parts[at].leave(value[1])

    def back(value: Any) -> Any:
        at: int = value[0]
        return at, parts[at].enter(value[1])

    return Passage(out, back)


def _sequence(space: Any, other: Any) -> Passage:
    part = passage(space.feature_space, other.feature_space)
    if part is STAY:
        return STAY
    if space.stack:
        return _many(part, space.feature_space, other.feature_space)

    def out(value: Any) -> Any:
        return tuple(map(part.leave, value))

    def back(value: Any) -> Any:
        return tuple(map(part.enter, value))

    return Passage(out, back)


def _many(part: Passage, space: Any, other: Any) -> Passage:
    """The passage of a batch of values, however many."""
    batch, their_batch = space.batch(1), batches.batch_space(other, 1)

    def out(value: Any) -> Any:
        items = [part.leave(one) for one in batch.iterate(value)]
        return batches.concatenate(other, items, batches.create_empty_array(other, len(items)))

    def back(value: Any) -> Any:
        items = [part.enter(one) for one in batches.iterate(their_batch, value)]
        return space.concatenate(items, space.empty(len(items)))

    return STAY if part is STAY else Passage(out, back)


def _graph(space: Any, other: Any) -> Passage:
    nodes = _many(passage(space.node_space, other.node_space), space.node_space, other.node_space)
    edges = STAY
    if space.edge_space is not None:
        edges = _many(passage(space.edge_space, other.edge_space), space.edge_space, other.edge_space)

    def out(value: Any) -> Any:
        features = None if value.edges is None else edges.leave(value.edges)
        return theirs.GraphInstance(nodes.leave(value.nodes), features, value.edge_links)

    def back(value: Any) -> Any:
        features = None if value.edges is None else edges.enter(value.edges)
        return GraphInstance(nodes.enter(value.nodes), features, value.edge_links)

    return Passage(out, back)


def _record(space: Any, other: Any) -> Passage:
    parts = dict(zip(space.fields, _parts(space, other), strict=True))

    def out(value: Any) -> Any:
        return {name: parts[name].leave(one) for name, one in space.to_fields(value).items()}

    def back(value: Any) -> Any:
        return space.from_fields({name: part.enter(value[name]) for name, part in parts.items()})

    return Passage(out, back)


def _json(space: Any, other: Any) -> Passage:
    del space, other

    def out(value: Any) -> Any:
        return write_json(value).decode()

    def back(text: Any) -> Any:
        return read_json(text, "value")

    return Passage(out, back)


_MAKERS: dict[type, Callable[[Any, Any], Passage]] = {
    Tuple: _tuple,
    Dict: _dict,
    OneOf: _one_of,
    Sequence: _sequence,
    Graph: _graph,
    Record: _record,
    Json: _json,
}
