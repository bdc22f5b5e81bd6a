"""Images at another size."""

import numpy as np

from ludus.core import Env
from ludus.core.env import ActT
from ludus.errors import InvalidArgument, shorten
from ludus.rendering.resize import resize
from ludus.spaces import Box
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_integer, is_tuple
from ludus.wrappers.observations import image_space
from ludus.wrappers.transform import ObservationTransform

__all__ = ["ResizeObservation"]


class ResizeObservation(ObservationTransform[Array, ActT, Array]):
    """Shows an image at another size, `(height, width)`: averaged when it shrinks, interpolated when it grows.

    >>> resize(np.full((4, 4), 7, np.uint8), (2, 2)).tolist()
    [[7, 7], [7, 7]]
    """

    lane_fields = ()

    def __init__(self, env: Env[Array, ActT], shape: tuple[int, int]) -> None:
        super().__init__(env)
        space = image_space("ResizeObservation", self.lane_observation_space, (2, 3))
        given: object = shape
        lengths = [int(one) for one in given if is_integer(one) and one >= 1] if is_tuple(given) else []
        if len(lengths) != 2 or len(shape) != 2:
            raise InvalidArgument(
                f"ResizeObservation shape: expected a tuple of two positive integers, got {shorten(shape)}"
            )
        self.shape = (lengths[0], lengths[1])
        self.show_observation_space(Box(0, 255, shape=self.shape + space.shape[2:], dtype=np.uint8))

    def convert(self, observation: Array, lead: tuple[int, ...]) -> Array:
        """Resize one image, or each lane's."""
        size = (self.shape[1], self.shape[0])
        return np.stack([resize(one, size) for one in observation]) if lead else resize(observation, size)
