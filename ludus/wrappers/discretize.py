"""Continuous boxes cut into bins, for observations and for actions."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import Env
from ludus.core.env import ActT, ObsT
from ludus.errors import InvalidArgument, InvalidSpace, shorten
from ludus.spaces import Box, Discrete, MultiDiscrete, Space
from ludus.spaces.array_space import Array
from ludus.wrappers.lanes import expanded
from ludus.wrappers.transform import ActionTransform, ObservationTransform

__all__ = ["DiscretizeAction", "DiscretizeObservation"]


class Bins:
    """A finite box cut into `bins` equal parts along each of its numbers."""

    def __init__(self, space: Space[object], bins: int | tuple[int, ...], label: str) -> None:
        if not isinstance(space, Box) or not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
            raise InvalidSpace(f"{label}: expected a finite Box, got {space!r}")
        self.low, self.high, self.shape, self.dtype = space.low.ravel(), space.high.ravel(), space.shape, space.dtype
        counts: list[object] = [bins] * self.low.size if isinstance(bins, int) else list(bins)
        if len(counts) != self.low.size or not all(isinstance(one, int | np.integer) and one > 0 for one in counts):
            raise InvalidArgument(
                f"{label} bins: expected a positive integer, or {self.low.size} of them, got {shorten(bins)}"
            )
        self.counts: Array = np.array(counts, dtype=np.int64)
        each = zip(self.low, self.high, self.counts.tolist(), strict=True)
        self.edges: list[Array] = [np.linspace(low, high, count + 1) for low, high, count in each]
        self.centers: list[Array] = [0.5 * (edges[:-1] + edges[1:]) for edges in self.edges]

    def space(self, multidiscrete: bool) -> Space[object]:
        """The space of the bins' numbers."""
        return MultiDiscrete(self.counts) if multidiscrete else Discrete(int(self.counts.prod()))

    def places(self, values: Array, lead: tuple[int, ...]) -> Array:
        """The bin of each number, with the numbers of one value in the last axis."""
        rows = np.clip(np.reshape(values, (*lead, -1)), self.low, self.high - 1e-8)
        columns = [np.digitize(rows[..., i], edges[1:-1]) for i, edges in enumerate(self.edges)]
        return np.stack(columns, axis=-1)

    def joined(self, places: Array) -> Array | np.intp:
        """One number for all bins of a value."""
        return np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), tuple(self.counts))

    def parted(self, number: object) -> Array:
        """The bins of one number."""
        return np.stack(np.unravel_index(np.asarray(number), tuple(self.counts)), axis=-1)


class DiscretizeObservation(ObservationTransform[Any, ActT, Array]):
    """Shows the bin an observation falls into: one number, or one for each element with `multidiscrete`.

    >>> import ludus
    >>> env = DiscretizeObservation(ludus.make("MountainCar-v0"), bins=10)
    >>> env.observation_space
    Discrete(100)
    """

    lane_fields = ()

    def __init__(self, env: Env[Array, ActT], bins: int | tuple[int, ...], multidiscrete: bool = False) -> None:
        super().__init__(env)
        self._bins = Bins(self.lane_observation_space, bins, "DiscretizeObservation")
        self.multidiscrete = multidiscrete
        self.show_observation_space(self._bins.space(multidiscrete))

    def convert(self, observation: Array, lead: tuple[int, ...]) -> Array | np.intp | int:
        """Look up the bins."""
        places = self._bins.places(observation, lead)
        if self.multidiscrete:
            return places
        joined = self._bins.joined(places)
        return joined if lead else int(joined)

    def revert_observation(self, obs: object) -> tuple[Array, Array]:
        """The least and greatest observation of a bin."""
        places = np.asarray(obs, dtype=np.int64) if self.multidiscrete else self._bins.parted(obs)
        low = [edges[place] for edges, place in zip(self._bins.edges, places, strict=True)]
        high = [edges[place + 1] for edges, place in zip(self._bins.edges, places, strict=True)]
        return np.array(low, dtype=self._bins.dtype), np.array(high, dtype=self._bins.dtype)


class DiscretizeAction(ActionTransform[ObsT, Any, Array]):
    """Takes the number of a bin and acts with its centre.

    >>> import ludus
    >>> env = DiscretizeAction(ludus.make("MountainCarContinuous-v0"), bins=5)
    >>> env.action_space
    Discrete(5)
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, Array], bins: int | tuple[int, ...], multidiscrete: bool = False) -> None:
        super().__init__(env)
        self._bins = Bins(self.lane_action_space, bins, "DiscretizeAction")
        self.multidiscrete = multidiscrete
        self.show_action_space(self._bins.space(multidiscrete))

    def action(self, action: object) -> Array:
        """The centre of the bin."""
        (self.single_action_space if self._lead else self.action_space).check(action, "action")
        return self._center(action, ())

    def actions(self, actions: npt.ArrayLike) -> Array:
        """The centres of the bins of a batch."""
        if self.stepped is not None:
            actions = np.where(expanded(self.stepped, np.ndim(actions)), actions, 0)
        self.action_space.check(actions, "action")
        return self._center(actions, self._lead)

    def _center(self, action: object, lead: tuple[int, ...]) -> Array:
        places = np.asarray(action) if self.multidiscrete else self._bins.parted(action)
        columns = [centers[places[..., i]] for i, centers in enumerate(self._bins.centers)]
        return np.stack(columns, axis=-1).astype(self._bins.dtype).reshape(lead + self._bins.shape)

    def revert_action(self, action: npt.ArrayLike) -> Array | int:
        """The bin whose centre is nearest to an action of the environment below."""
        row = np.ravel(action)
        places = [int(np.abs(centers - one).argmin()) for centers, one in zip(self._bins.centers, row, strict=True)]
        return np.array(places, dtype=np.int64) if self.multidiscrete else int(self._bins.joined(np.array(places)))
