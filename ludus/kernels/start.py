"""How lanes begin: the parameters of a reset, and the options that rules take."""

from typing import NamedTuple

from ludus.core.lane_options import check_each, lane_options
from ludus.kernels.lane_values import fitting, known, state_parts
from ludus.kernels.parameters import coerce_parameters
from ludus.kernels.state_arrays import own_copy
from ludus.kernels.tree import composed, tree_of
from ludus.kernels.values import ParameterTable

__all__ = ["EpisodeStart", "option_rows", "options_of"]


class EpisodeStart(NamedTuple):
    """What `reset(options=…)` comes to."""

    parameters: ParameterTable
    options: tuple[object, ...] = ()
    """One of the rules' `options` for all lanes, or one for each; none where rules take none."""


def options_of(kind: type[NamedTuple], given: dict[str, object]) -> object:
    """The rules' options, each of the type, dtype and shape of its default, and the caller's own.

    >>> import numpy as np
    >>> class Options(NamedTuple):
    ...     place: int = 0
    ...     board: np.ndarray = np.zeros(2, np.int8)
    >>> options_of(Options, {"board": [1, 0]})
    Options(place=0, board=array([1, 0], dtype=int8))
    """
    chosen = coerce_parameters("options", kind, given)
    if not given:
        return own_copy(chosen)
    tree = tree_of("o", "options", coerce_parameters("options", kind, {}))
    parts = {leaf.column.name: fitting(leaf, value) for leaf, value in state_parts(tree, chosen)}
    return composed(tree, lambda leaf: known(leaf, parts[leaf.column.name]))


def option_rows(kind: type[NamedTuple], options: dict[str, object], lanes: int) -> tuple[object, ...]:
    """The rules' options for all lanes; for each lane, where `options["each"]` has lists of one value a lane.

    >>> class Options(NamedTuple):
    ...     place: int = 0
    ...     speed: float = 1.0
    >>> option_rows(Options, {"speed": 2, "each": {"place": [3, 4]}}, 2)
    (Options(place=3, speed=2.0), Options(place=4, speed=2.0))
    """
    if "each" not in options:
        return (options_of(kind, options),)
    check_each(options, lanes)
    return tuple(options_of(kind, lane_options(options, lane) or {}) for lane in range(lanes))
