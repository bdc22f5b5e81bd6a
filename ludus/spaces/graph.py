"""`Graph`: nodes and edges with features, and links from node to node."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ludus.errors import CodecError, InvalidArgument, InvalidMask, InvalidSeed, InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces.array_space import Array, array_from_plain
from ludus.spaces.kinds import is_dict, is_list_or_tuple, is_tuple
from ludus.spaces.mask import exclusive
from ludus.spaces.space import Space, Violation

__all__ = ["Graph", "GraphInstance"]


class GraphInstance(NamedTuple):
    """A graph: a batch of node features, a batch of edge features, and a row `(from, to)` for each edge.

    >>> GraphInstance(np.zeros((2, 3)), None, None).edges is None
    True
    """

    nodes: object
    edges: object
    edge_links: Array | None


class Graph(Space[GraphInstance]):
    """Graphs whose nodes are in `node_space` and edges in `edge_space` (None: nodes only).

    >>> from ludus.spaces import Box, Discrete
    >>> space = Graph(Box(-1, 1, shape=(2,)), Discrete(3), seed=42)
    >>> graph = space.sample(num_nodes=4, num_edges=5)
    >>> graph.nodes.shape, graph.edges.shape, graph.edge_links.shape
    ((4, 2), (5,), (5, 2))
    """

    def __init__(
        self,
        node_space: Space[object],
        edge_space: Space[object] | None,
        seed: Seed | tuple[int, ...] | np.random.Generator | None = None,
    ) -> None:
        for name, space in (("node_space", node_space), ("edge_space", edge_space)):
            if not isinstance(space, Space) and not (space is None and name == "edge_space"):
                raise InvalidType(f"Graph {name}: expected a ludus Space, got {shorten(space)}")
        self.node_space, self.edge_space = node_space, edge_space
        self.batch_node_space = node_space.batch(1)
        self.batch_edge_space = None if edge_space is None else edge_space.batch(1)
        super().__init__(None, None, seed)

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The node space, and the edge space if there is one."""
        return (self.node_space,) if self.edge_space is None else (self.node_space, self.edge_space)

    def same_layout(self, other: Space[object]) -> bool:
        """Nodes and edges that fit the same buffers."""
        return (
            isinstance(other, Graph)
            and len(self.subspaces) == len(other.subspaces)
            and all(a.same_layout(b) for a, b in zip(self.subspaces, other.subspaces, strict=True))
        )

    def seed(self, seed: object = None) -> tuple[object, ...]:
        """Seed by one integer, from which the others are drawn, or by one each for graph, nodes and edges."""
        parts = self.subspaces
        if seed is None:
            return (super().seed(None), *[space.seed(None) for space in parts])
        if is_list_or_tuple(seed):
            if len(seed) != 1 + len(parts):
                raise InvalidSeed(
                    f"seed: expected {1 + len(parts)} seeds (graph, nodes, edges if any), got {shorten(seed)}"
                )
            return (super().seed(seed[0]), *[space.seed(one) for space, one in zip(parts, seed[1:], strict=True)])
        own = super().seed(seed)
        drawn = np.atleast_1d(
            self.np_random.integers(np.iinfo(np.int32).max, size=len(parts) if len(parts) > 1 else None)
        )
        # Seeded again, so that one integer and the seeds it stands for leave the same generator.
        return (super().seed(own), *[space.seed(int(one)) for space, one in zip(parts, drawn, strict=True)])

    def sample(
        self, mask: object = None, probability: object = None, num_nodes: int = 10, num_edges: int | None = None
    ) -> GraphInstance:
        """A random graph of `num_nodes`; without `num_edges`, fewer than `num_nodes * (num_nodes - 1)` edges."""
        if num_nodes < 1 or (num_edges is not None and num_edges < 0):
            raise InvalidArgument(
                f"sample: expected num_nodes >= 1 and num_edges >= 0, got {num_nodes} and {num_edges}"
            )
        if num_edges and self.edge_space is None:
            raise InvalidArgument(f"sample: expected num_edges=None for {self!r}, which has no edges, got {num_edges}")
        kind = exclusive(mask, probability)
        node_mask, edge_mask = _pair(mask if kind == "mask" else probability, kind) if kind else (None, None)
        if num_edges is None:
            num_edges = int(self.np_random.integers(num_nodes * (num_nodes - 1))) if num_nodes > 1 else 0
            edge_mask = None if edge_mask is None else (edge_mask,) * num_edges
        nodes = _sample_batch(self.node_space, num_nodes, kind, node_mask)
        if num_edges < 1 or self.edge_space is None:
            return GraphInstance(nodes, None, None)
        edges = _sample_batch(self.edge_space, num_edges, kind, edge_mask)
        links = self.np_random.integers(0, num_nodes, size=(num_edges, 2), dtype=np.int32)
        return GraphInstance(nodes, edges, links)

    def default(self) -> GraphInstance:
        """One node, and one edge from it to itself where there are edges."""
        nodes = self.node_space.concatenate([self.node_space.default()])
        if self.edge_space is None:
            return GraphInstance(nodes, None, None)
        return GraphInstance(
            nodes, self.edge_space.concatenate([self.edge_space.default()]), np.zeros((1, 2), dtype=np.int64)
        )

    # --- membership ---

    def contains(self, x: object) -> bool:
        """Whether every node, edge and link of `x` fits."""
        return not self.validate(x)

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """The violations of every node, edge and link."""
        if not isinstance(x, GraphInstance):
            return [self._violation(x, path, f"a GraphInstance, {self!r}")]
        nodes = _elements(self.batch_node_space, x.nodes)
        if nodes is None:
            return [self._violation(x.nodes, f"{path}.nodes", f"a batch of {self.node_space!r}")]
        found = [one for i, node in enumerate(nodes) for one in self.node_space.validate(node, f"{path}.nodes[{i}]")]
        if x.edges is None and x.edge_links is None:
            return found
        return found + self._edge_violations(x, len(nodes), path)

    def _edge_violations(self, x: GraphInstance, num_nodes: int, path: str) -> list[Violation]:
        if self.edge_space is None or self.batch_edge_space is None:
            return [Violation(f"{path}.edges", "None, since the space has no edges", shorten(x.edges))]
        edges = None if x.edges is None else _elements(self.batch_edge_space, x.edges)
        if edges is None:
            return [self._violation(x.edges, f"{path}.edges", f"a batch of {self.edge_space!r}")]
        found = [one for i, edge in enumerate(edges) for one in self.edge_space.validate(edge, f"{path}.edges[{i}]")]
        links = x.edge_links
        if not isinstance(links, np.ndarray) or links.dtype.kind not in "iu" or links.shape != (len(edges), 2):
            return [
                *found,
                self._violation(links, f"{path}.edge_links", f"an integer array of shape ({len(edges)}, 2)"),
            ]
        wrong = np.argwhere((links < 0) | (links >= num_nodes))
        return found + [
            Violation(f"{path}.edge_links[{i}][{j}]", f"0 to {num_nodes - 1}", str(links[i, j])) for i, j in wrong
        ]

    # --- flattening ---

    def flatten(self, x: GraphInstance) -> GraphInstance:
        """The graph with flattened nodes and edges."""
        nodes = _rejoined(self.node_space, self.batch_node_space, x.nodes, flat=True)
        edges = None
        if x.edges is not None and self.edge_space is not None and self.batch_edge_space is not None:
            edges = _rejoined(self.edge_space, self.batch_edge_space, x.edges, flat=True)
        return GraphInstance(nodes, edges, x.edge_links)

    def unflatten(self, x: GraphInstance) -> GraphInstance:
        """The graph with its nodes and edges restored."""
        nodes = _rejoined(self.node_space, self.node_space.flat_space().batch(1), x.nodes, flat=False)
        edges = None
        if x.edges is not None and self.edge_space is not None:
            edges = _rejoined(self.edge_space, self.edge_space.flat_space().batch(1), x.edges, flat=False)
        return GraphInstance(nodes, edges, x.edge_links)

    def flat_space(self) -> Graph:
        """Graphs of flattened nodes and edges."""
        return Graph(self.node_space.flat_space(), None if self.edge_space is None else self.edge_space.flat_space())

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> tuple[GraphInstance, ...]:
        """Graphs of one node, with one edge where there are edges."""
        edges = self.edge_space
        return tuple(
            GraphInstance(
                self.node_space.empty(1, fn),
                None if edges is None else edges.empty(1, fn),
                None if edges is None else fn((1, 2), dtype=np.int64),
            )
            for _ in range(n)
        )

    # --- the wire ---

    def encode(self, x: GraphInstance, *, binary: bool = False) -> dict[str, object]:
        """An object of nodes and, where there are any, edges and links."""
        coded = {"nodes": self.node_space.encode_many(x.nodes, binary=binary)}
        if x.edges is not None and self.edge_space is not None:
            coded["edges"] = self.edge_space.encode_many(x.edges, binary=binary)
            coded["edge_links"] = np.asarray(x.edge_links).tolist()
        return coded

    def decode(self, data: object) -> GraphInstance:
        """The graph in an object."""
        if not is_dict(data) or data.keys() not in ({"nodes"}, {"nodes", "edges", "edge_links"}):
            raise CodecError(
                f"{self!r}: expected an object with nodes, or nodes, edges and edge_links, got {shorten(data)}"
            )
        nodes = self.node_space.decode_many(data["nodes"])
        if "edges" not in data:
            return GraphInstance(nodes, None, None)
        if self.edge_space is None:
            raise CodecError(f"{self!r}: expected no edges, got {shorten(data['edges'])}")
        links = array_from_plain(data["edge_links"], np.dtype(np.int32), (-1, 2), "edge_links")
        return GraphInstance(nodes, self.edge_space.decode_many(data["edges"]), links)

    def json_schema(self) -> dict[str, object]:
        """An object of nodes, and of edges and links."""
        listed: dict[str, object] = {"nodes": {"type": "array", "items": self.node_space.json_schema()}}
        if self.edge_space is not None:
            link = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
            listed["edges"] = {"type": "array", "items": self.edge_space.json_schema()}
            listed["edge_links"] = {"type": "array", "items": link}
        return {"type": "object", "properties": listed, "required": ["nodes"], "additionalProperties": False}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and (self.node_space, self.edge_space) == (other.node_space, other.edge_space)

    def __repr__(self) -> str:
        return f"Graph({self.node_space!r}, {self.edge_space!r})"


def _pair(given: object, kind: str | None) -> tuple[object, object]:
    if not is_tuple(given) or len(given) != 2:
        raise InvalidMask(f"{kind}: expected a pair (nodes or None, edges or None), got {shorten(given)}")
    return given


def _sample_batch(space: Space[object], n: int, kind: str | None, mask: object) -> object:
    batch = space.batch(n)  # it starts from a copy of the space's generator,
    sample = batch.sample(**({kind: mask} if kind else {}))
    space.np_random.random()  # so one draw here keeps the next sample from being the same
    return sample


def _elements(batch: Space[object], items: object) -> list[object] | None:
    try:
        return list(batch.iterate(items))
    except (TypeError, KeyError, ValueError, IndexError):
        return None


def _rejoined(space: Space[object], source: Space[object], items: object, *, flat: bool) -> object:
    change = space.flatten if flat else space.unflatten
    target = space.flat_space() if flat else space
    changed = [change(item) for item in source.iterate(items)]
    return target.concatenate(changed, target.empty(len(changed)))
