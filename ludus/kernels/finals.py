"""What SAME_STEP tells of the episodes that just ended."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import Info
from ludus.spaces import Space, Tuple

__all__ = ["finals"]

Array = npt.NDArray[Any]


def finals(space: Space[Any], names: tuple[str, ...], ended: Array, last: Array, informed: list[Array]) -> Info:
    """`final_obs` and `final_info` of the ended lanes, as the serial executor gives them.

    >>> from ludus.spaces import Discrete
    >>> finals(Discrete(9), (), np.array([False, True]), np.array([3, 5]), [])["final_obs"]
    array([None, 5], dtype=object)
    """
    column = np.full(len(ended), None, dtype=object)
    shape = space.shape
    for lane in np.flatnonzero(ended):
        row = last[lane]
        if isinstance(space, Tuple):
            column[lane] = tuple(int(one) for one in row)
        else:
            column[lane] = row.reshape(shape).copy() if shape else row.item()
    final: Info = {}
    for name, values in zip(names, informed, strict=True):
        shown = np.zeros_like(values)
        shown[ended] = values[ended]
        final[name], final[f"_{name}"] = shown, ended.copy()
    return {"final_obs": column, "_final_obs": ended.copy(), "final_info": final, "_final_info": ended.copy()}
