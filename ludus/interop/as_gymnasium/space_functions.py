"""Functions over spaces, open to custom ones: each has `register`, which Gymnasium's programs use for that."""

from collections.abc import Callable
from functools import singledispatch
from typing import Any

from ludus import spaces
from ludus.wrappers.rescale import rescaling

__all__ = [
    "batch_differing_spaces",
    "batch_space",
    "concatenate",
    "create_empty_array",
    "create_shared_memory",
    "create_zero_array",
    "flatdim",
    "flatten",
    "flatten_space",
    "is_space_dtype_shape_equiv",
    "iterate",
    "read_from_shared_memory",
    "rescale_box",
    "unflatten",
    "write_to_shared_memory",
]

flatdim = singledispatch(spaces.flatdim)
flatten = singledispatch(spaces.flatten)
unflatten = singledispatch(spaces.unflatten)
flatten_space = singledispatch(spaces.flatten_space)
is_space_dtype_shape_equiv = singledispatch(spaces.is_space_dtype_shape_equiv)
batch_space = singledispatch(spaces.batch_space)
concatenate = singledispatch(spaces.concatenate)
create_empty_array = singledispatch(spaces.create_empty_array)
create_shared_memory = singledispatch(spaces.create_shared_memory)
iterate = singledispatch(spaces.iterate)
read_from_shared_memory = singledispatch(spaces.read_from_shared_memory)
write_to_shared_memory = singledispatch(spaces.write_to_shared_memory)
batch_differing_spaces = spaces.batch_differing_spaces


@singledispatch
def create_zero_array(space: spaces.Space[object]) -> Any:
    """The value of a space that stands for nothing."""
    return space.default()


def rescale_box(
    box: spaces.Box, new_min: Any, new_max: Any
) -> tuple[spaces.Box, Callable[[Any], Any], Callable[[Any], Any]]:
    """The box from `new_min` to `new_max`, the map into it and the map back."""
    made, gradient, intercept = rescaling(box, new_min, new_max, "rescale_box")
    return made, lambda x: gradient * x + intercept, lambda x: (x - intercept) / gradient
