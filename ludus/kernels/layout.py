"""From an environment of rules to the layout of its batch: what lies in the block, and what the loop has to know."""

from typing import Any

import numpy as np

from ludus.errors import KernelError, shorten
from ludus.kernels.action import plain_action
from ludus.kernels.block import Column, column_of
from ludus.kernels.parameters import fitted
from ludus.kernels.random import WORDS
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.source import Layout
from ludus.kernels.values import ParameterTable
from ludus.seeding import np_random
from ludus.spaces import Discrete, Tuple

__all__ = ["layout_of"]

OWN = (
    Column("words", "uint64", (WORDS,)),
    Column("elapsed", "int64"),
    Column("returns", "float64"),
    Column("ended", "bool_"),
    Column("chosen", "bool_"),
    Column("fresh", "bool_"),
)
"""What every lane has beside its state."""


def layout_of(env: RuleEnv, parameters: ParameterTable) -> Layout:
    """The layout for an environment: the same for every mode, so that it is compiled once."""
    rules, space, acts = env.rules, env.observation_space, env.action_space
    names, rng = rules.state._fields, np_random(0)[0]
    sample = rules.reset(rng, parameters.params)
    # A field is what its annotation says: a first state of 0 must not make a column of integers for a float.
    sample = [fitted("State", rules.state, name, one) for name, one in zip(names, sample, strict=True)]
    state = [column_of(f"s_{name}", value) for name, value in zip(names, sample, strict=True)]
    _check_types(env, state, sample, rng, parameters.params)
    told = rules.inform(rules.state._make(sample), parameters.params) if rules.inform else None
    information = () if told is None else tuple(told._fields)
    informed = [] if told is None else [column_of(f"i_{name}", value) for name, value in told._asdict().items()]
    many = isinstance(space, Tuple)
    width = len(space) if many else 0 if isinstance(space, Discrete) else space.flatdim
    dtype = "int64" if many else np.dtype(space.dtype).name  # pyright: ignore[reportArgumentType]
    kept = [
        Column("last", dtype, (width,) if width else ()),
        *(one._replace(name=f"l{one.name[1:]}") for one in informed),
    ]
    kept += [Column("last_returns", "float64"), Column("last_lengths", "int64")]
    return Layout(
        (*state, *OWN, *informed),
        tuple(kept),
        names,
        parameters.fields,
        width,
        information,
        len(acts) if isinstance(acts, Tuple) else 0,
        (int(acts.start), int(acts.start + acts.n - 1)) if isinstance(acts, Discrete) else None,
        rules.renew is not None,
    )


def _check_types(env: RuleEnv, state: list[Column], sample: list[Any], rng: np.random.Generator, params: Any) -> None:
    """Take one step as the single environment would: a column of integers would cut a float, and say nothing."""
    kind, space = env.rules.state, env.action_space
    after, _, _ = env.rules.step(kind(*sample), plain_action(space), rng, params)
    for name, column, value in zip(kind._fields, state, after, strict=True):
        if not column.dtype.startswith("float") and np.asarray(value).dtype.kind == "f":
            raise KernelError(
                f"{kind.__name__}.{name}: expected {column.dtype} from step, as from reset, got {shorten(value)}; "
                f"annotate it as float, or return int({name})"
            )
