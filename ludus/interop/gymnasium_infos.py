"""Infos from Gymnasium, in which `outcome` is nobody's word yet: ours is an `Outcome`, any other is a fact."""

from typing import Any

import numpy as np

from ludus.core import Info, Outcome
from ludus.core.info import FACTS
from ludus.core.outcome import OUTCOME
from ludus.spaces.kinds import is_dict

__all__ = ["with_known_outcome", "with_known_outcomes"]


def with_known_outcome(info: Info) -> Info:
    """An info with its outcome as an `Outcome`; where it means something else, it is a fact of that name.

    >>> with_known_outcome({"outcome": "success"}), with_known_outcome({"outcome": "draw"})
    ({'outcome': <Outcome.SUCCESS: 'success'>}, {'facts': {'outcome': 'draw'}})
    """
    rest = {key: value for key, value in info.items() if key != OUTCOME}
    told = _known(info[OUTCOME])
    if told is not None:
        return {**rest, OUTCOME: told}
    facts: Any = info.get(FACTS)
    return {**rest, FACTS: {**(facts if isinstance(facts, dict) else {}), OUTCOME: info[OUTCOME]}}


def with_known_outcomes(infos: Info, count: int) -> Info:
    """The infos of a batch of `count` lanes with one column of codes, where every lane that tells one tells ours."""
    final = infos.get("final_info")
    if is_dict(final) and OUTCOME in final:
        infos = {**infos, "final_info": with_known_outcomes(final, count)}
    if OUTCOME not in infos or getattr(infos[OUTCOME], "dtype", None) == np.int8:  # a batch of ours that comes back
        return infos
    column, mask = infos[OUTCOME], infos.get(f"_{OUTCOME}", np.ones(count, np.bool_))
    told = [_known(column[lane]) if mask[lane] else None for lane in range(count)]
    if all(one is not None or not has for one, has in zip(told, mask, strict=True)):
        codes = np.array([0 if one is None else one.code for one in told], np.int8)
        return {**infos, OUTCOME: codes, f"_{OUTCOME}": np.array(mask, np.bool_)}
    rest = {key: value for key, value in infos.items() if key not in (OUTCOME, f"_{OUTCOME}")}
    facts: Any = infos.get(FACTS)
    own = {**(facts if is_dict(facts) else {}), OUTCOME: column, f"_{OUTCOME}": mask}
    return {**rest, FACTS: own, f"_{FACTS}": np.array(mask, np.bool_) | infos.get(f"_{FACTS}", False)}


def _known(told: object) -> Outcome | None:
    """By its text alone: a number may be anything."""
    return next((one for one in Outcome if one == told), None) if isinstance(told, str) else None
