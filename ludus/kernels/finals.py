"""What SAME_STEP tells of the episodes that just ended."""

from collections.abc import Sequence

import numpy as np

from ludus.core import Info
from ludus.core.outcome import OUTCOME, code_column
from ludus.kernels.legal_actions import lane_masks
from ludus.kernels.source import RulesLayout
from ludus.kernels.tree import Leaf, composed
from ludus.spaces.array_space import Array

__all__ = ["finals", "outcomes"]


def finals(layout: RulesLayout, ended: Array, last: dict[str, Array], informed: Sequence[Array]) -> Info:
    """`final_obs` and `final_info` of the ended lanes, as the serial executor gives them.

    `last` has the last observations by column, `informed` the last infos in the layout's order.
    """
    column = np.full(len(ended), None, dtype=object)
    for lane in np.flatnonzero(ended).tolist():
        column[lane] = composed(layout.seen, lambda leaf, lane=lane: _seen(leaf, last[leaf.column.name][lane]))
    final: Info = {}
    for field, values in zip((*layout.information, *layout.facts), informed, strict=True):
        if field.key == OUTCOME:
            final |= outcomes(values, ended)
            continue
        if field.sizes:
            shown = lane_masks(values, field.sizes, ended)
        else:
            shown = np.zeros_like(values)
            shown[ended] = values[ended]
        final[field.key], final[f"_{field.key}"] = shown, ended.copy()
    return {"final_obs": column, "_final_obs": ended.copy(), "final_info": final, "_final_info": ended.copy()}


def outcomes(codes: Array, lanes: Array) -> Info:
    """What these lanes tell of how their episodes ended, as every batch tells it; nothing where none does."""
    mask = lanes & (codes != 0)
    return {OUTCOME: code_column(np.where(mask, codes, 0)), f"_{OUTCOME}": mask} if mask.any() else {}


def _seen(leaf: Leaf, row: Array) -> object:
    return row.item() if leaf.form == "number" else np.array(row)
