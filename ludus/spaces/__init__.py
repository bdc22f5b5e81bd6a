"""What values look like: one file for each space, and each space owns all its operations.

Not here: how environments use them. A custom space is one class derived from `Space` or `ArraySpace`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ludus.spaces.array_space import ArraySpace
from ludus.spaces.box import Box
from ludus.spaces.codec import dumps, loads
from ludus.spaces.description import describe, from_description, from_json, to_json
from ludus.spaces.dict import Dict
from ludus.spaces.discrete import Discrete
from ludus.spaces.functions import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    flatdim,
    flatten,
    flatten_space,
    is_space_dtype_shape_equiv,
    iterate,
    read_from_shared_memory,
    unflatten,
    write_to_shared_memory,
)
from ludus.spaces.graph import Graph, GraphInstance
from ludus.spaces.json import Json
from ludus.spaces.multi_binary import MultiBinary
from ludus.spaces.multi_discrete import MultiDiscrete
from ludus.spaces.one_of import OneOf
from ludus.spaces.sequence import Sequence
from ludus.spaces.space import Space, Violation
from ludus.spaces.text import Text
from ludus.spaces.tuple import Tuple

if TYPE_CHECKING:
    from ludus.spaces.bound_models import bind_models, find_models
    from ludus.spaces.record import Record
    from ludus.spaces.scalar import Scalar

_HOME = {"Record": "record", "Scalar": "scalar", "bind_models": "bound_models", "find_models": "bound_models"}
"""What is loaded when it is used: an environment of arrays never needs the types of fields."""

__all__ = [
    "ArraySpace",
    "Box",
    "Dict",
    "Discrete",
    "Graph",
    "GraphInstance",
    "Json",
    "MultiBinary",
    "MultiDiscrete",
    "OneOf",
    "Record",
    "Scalar",
    "Sequence",
    "Space",
    "Text",
    "Tuple",
    "Violation",
    "batch_differing_spaces",
    "batch_space",
    "bind_models",
    "concatenate",
    "create_empty_array",
    "create_shared_memory",
    "describe",
    "dumps",
    "find_models",
    "flatdim",
    "flatten",
    "flatten_space",
    "from_description",
    "from_json",
    "is_space_dtype_shape_equiv",
    "iterate",
    "loads",
    "read_from_shared_memory",
    "to_json",
    "unflatten",
    "write_to_shared_memory",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
