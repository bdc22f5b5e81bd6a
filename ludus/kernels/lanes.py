"""The lanes of a compiled batch: their memory, their parameters and streams, and copies of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ludus.core.lane_options import check_each, lane_options
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import (
    ClosedEnvironment,
    InvalidAction,
    InvalidArgument,
    InvalidType,
    MissingAttribute,
    ResetNeeded,
    shorten,
)
from ludus.kernels.block import BlockColumn, columns_of, new_block
from ludus.kernels.call import FAULT, KernelCall
from ludus.kernels.exact.fault import FAULTS, fault_of
from ludus.kernels.forms import parts_of
from ludus.kernels.lane_values import filled, fitting, state_parts, value_at
from ludus.kernels.layout import layout_of
from ludus.kernels.loop import CompiledLoop, loop_of
from ludus.kernels.overrides import read_only
from ludus.kernels.parameters import coerce_parameter
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.seeds import fresh_entropy, seeded_words
from ludus.kernels.source import RESET, SAME_STEP
from ludus.kernels.split import ThreadSplit
from ludus.kernels.start import EpisodeStart, option_rows
from ludus.kernels.stream import generator_of, write_stream
from ludus.kernels.tree import Leaf, composed, leaves
from ludus.kernels.values import ParameterTable
from ludus.seeding import derived_stream
from ludus.spaces import Discrete, Space
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_list_or_tuple

__all__ = ["KernelLanes"]

OF_THIS_MEMORY = {"_loop", "_call", "_run", "_begins", "_columns", "_ended"}
LAID_OUT = ("C_CONTIGUOUS", "ALIGNED")
"""How an array lies that a loop reads by its address."""

BatchState = tuple[
    Array,
    list[int | None],
    npt.NDArray[np.int64],
    bool,
    ParameterTable,
    dict[str, list[np.random.Generator]],
    tuple[Space[object], Space[object]],
]
"""The block, the seeds and numbers of episodes, whether all were reset, parameters, streams and spaces."""


class KernelLanes(AnyVectorEnv):
    """What a compiled batch holds; how it is stepped is `KernelVectorEnv`'s."""

    executor = "kernel"
    compiled = True
    checks: bool
    """Whether integers are checked to fit 64 bits, and what they are written to."""
    _loop_mode: int
    _bare: bool
    """Whether a step has nothing to tell or to plan beside what the loop gives."""
    _lane_streams: dict[str, list[np.random.Generator]]

    def _open(
        self, single: RuleEnv, num_envs: int, limit: int, params: Sequence[object] | None, threads: int | None
    ) -> None:
        self._single, self.rules, self.num_envs, self._limit = single, single.rules, num_envs, limit
        self.clips_actions = single.clips_actions
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = single.observation_space.batch(num_envs)
        self.action_space = single.action_space.batch(num_envs)
        self._parameters = ParameterTable([single.params] if params is None else params, num_envs)
        self._layout = layout_of(single, self._parameters)
        self._loop = loop_of(self.rules, self._layout, self.checks)
        self._split = ThreadSplit.for_lanes(num_envs, threads)
        self._prepare()
        self._take_block(new_block(self._lasting, num_envs))
        self._columns["fresh"][:] = True
        self._choose(() if self.rules.options is None else (self.rules.options(),))
        self._seeds: list[int | None] = [None] * num_envs
        self._lane_streams = {}
        self._numbers = np.zeros(num_envs, dtype=np.int64)
        self._ready = False

    def _prepare(self) -> None:
        """What every step needs to know of the spaces."""
        n, acts, layout = self.num_envs, self.single_action_space, self._layout
        self._kind = "choice" if isinstance(acts, Discrete) else "row" if isinstance(layout.action, Leaf) else "parts"
        self._plain = isinstance(layout.seen, Leaf)
        columns = tuple(leaf.column for leaf, _ in leaves(layout.seen, ""))
        # One observation is an array of its own; several are parts of one, which is handed over as one.
        self._out_columns = columns
        self._out_dtype: np.dtype[np.generic] = np.dtype(columns[0].dtype if self._plain else np.uint8)
        self._out_shape = (n, *columns[0].shape) if self._plain else new_block(columns, n).shape
        self._choice_shape = (n,) if self._kind == "choice" else None
        self._no_actions = self._as_read(self.action_space.default())
        self._no_rewards, self._no_flags = np.empty(n), np.empty((2, 0), np.bool_)

    @property
    def _lasting(self) -> tuple[BlockColumn, ...]:
        """The columns that there is memory for."""
        return (*self._layout.columns, *self._layout.kept) if self._loop_mode == SAME_STEP else self._layout.columns

    def __getstate__(self) -> dict[str, object]:
        """What a copy takes over: calls hold the addresses of this batch's memory, and are nobody else's."""
        return {name: one for name, one in vars(self).items() if name not in OF_THIS_MEMORY}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._loop = loop_of(self.rules, self._layout, self.checks)
        self._take_block(self._block)

    def _take_block(self, block: Array) -> None:
        self._block = block
        self._columns = columns_of(block, self._lasting, self.num_envs)
        self._ended = self._columns["ended"]
        self._info = [*self._layout.information, *self._layout.facts]
        self._swift = self._plain and not self._info and self._bare and self._split is None
        self._call = self._call_of(self._loop, self._loop_mode, self._parameters)
        self._run = self._call.alone
        self._begins = self._call_of(self._loop, RESET, self._parameters)

    def _call_of(self, loop: CompiledLoop, mode: int, parameters: ParameterTable) -> KernelCall:
        """A call over this batch's memory."""
        block = self._block
        words = [mode, self._limit, self.num_envs, block.ctypes.data, block.nbytes, *parameters.words]
        return loop.call(self.num_envs, words)

    # --- actions, and lanes that begin ---

    def _as_read(self, action: object) -> Array:
        """Actions as the loop reads them; the range of choices is the loop's to check."""
        if self._kind == "choice":
            actions = np.asarray(action)
            if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
                self.action_space.check(action, "action", InvalidAction)
            return np.require(actions, np.int64, LAID_OUT)
        if self._kind == "parts":
            self.action_space.check(action, "action", InvalidAction)
            columns = tuple(leaf.column for leaf, _ in leaves(self._layout.action, ""))
            block = new_block(columns, self.num_envs)
            memory = columns_of(block, columns, self.num_envs)
            for leaf, part in parts_of(self._layout.action, action):
                memory[leaf.column.name][:] = part
            return block
        actions = np.asarray(action)
        space: Any = self.single_action_space
        # Rules that clip take any finite numbers, in one environment as in a batch.
        clipped = self._single.clips_actions and actions.dtype.kind in "fiu" and np.isfinite(actions).all()
        if actions.shape != (self.num_envs, *space.shape) or not clipped:
            self.action_space.check(action, "action", InvalidAction)
        return np.require(actions, space.dtype, LAID_OUT)

    def _chosen(self, actions: Array) -> list[Array]:
        """The integers that the lanes' actions are made of, choice by choice."""
        if self._kind == "choice":
            return [actions]
        if self._kind == "row":
            return [actions[:, place] for place in range(actions.shape[1])]
        columns = tuple(leaf.column for leaf, _ in leaves(self._layout.action, ""))
        return list(columns_of(actions, columns, self.num_envs).values())

    def _filled(self, action: object, mask: Array) -> object:
        """A batch of actions with something valid for the lanes that the mask leaves out."""
        return filled(self.single_action_space, action, mask)

    def _check_open(self, call: str) -> None:
        if self.closed:
            raise ClosedEnvironment(f"{call}: expected an open batch, got one that was closed; make a new one")

    def _under(self, options: dict[str, object] | None) -> EpisodeStart:
        """How lanes begin under these options."""
        kind = self.rules.options
        if kind is not None:
            return EpisodeStart(self._parameters, option_rows(kind, options or {}, self.num_envs))
        if not options:
            return EpisodeStart(self._parameters)
        single = self._single
        if "each" not in options:
            return EpisodeStart(self._parameters.replaced(single.params, single.reset_params(options)))
        check_each(options, self.num_envs)
        each = [single.reset_params(lane_options(options, lane) or {}) for lane in range(self.num_envs)]
        return EpisodeStart(self._parameters.replaced_each(single.params, each))

    def _begin(self, mask: Array, start: EpisodeStart) -> Array:
        """Begin the lanes of a mask; the observations of all lanes."""
        self._columns["chosen"][:] = mask
        call, parameters = self._begins, start.parameters
        if parameters is not self._parameters:
            loop = self._loop
            if parameters.fields != self._parameters.fields:  # what differs may be equal now, or an integer a float
                loop = loop_of(self.rules, layout_of(self._single, parameters), self.checks)
            call = self._call_of(loop, RESET, parameters)
        out = np.empty(self._out_shape, self._out_dtype)
        self._choose(start.options)
        try:
            if call.alone(self._no_actions, out, self._no_rewards, self._no_flags) == FAULT:
                self._fail(call)
        finally:
            if start.options:
                self._choose((self.rules.options(),))  # pyright: ignore[reportOptionalCall]
        return out

    def _choose(self, options: tuple[object, ...]) -> None:
        """Lay out the options that the lanes are to begin with; those that begin by themselves have the defaults."""
        if self._layout.options is None:
            return
        for lane, row in enumerate(options):
            for leaf, one in state_parts(self._layout.options, row):
                self._columns[leaf.column.name][lane if len(options) > 1 else slice(None)] = fitting(leaf, one)

    def _fail(self, call: KernelCall) -> NoReturn:
        """Raise what the rules raised in a call."""
        error = CompiledLoop.error_of(call)
        if not isinstance(error, FAULTS):
            raise error
        raise self._fault(error) from error

    def _fault(self, error: Exception) -> Exception:
        """What to raise for an error inside the rules; other lanes may have been stepped, so the batch is not ready."""
        elapsed = self._columns["elapsed"]
        lanes = np.flatnonzero(elapsed < 0)  # so the loop marks the lane it stopped at
        lane = int(lanes[0]) if len(lanes) else None
        step = 0 if lane is None else -int(elapsed[lane])
        elapsed[lanes] = ~elapsed[lanes]
        self._ready = False
        return fault_of(error, lane, step)

    def _seed(self, seeds: list[int | None], mask: Array) -> None:
        """Start the streams of the masked lanes that get a seed, and of those that never had one."""
        known = self._seeds
        if mask.all() and None not in seeds:
            self._seed_lanes(list(range(self.num_envs)), [one for one in seeds if one is not None])
            return
        given = [(lane, seeds[lane]) for lane in np.flatnonzero(mask).tolist()]
        chosen = [(lane, seed) for lane, seed in given if seed is not None or known[lane] is None]
        if chosen:
            entropy = iter(fresh_entropy(sum(seed is None for _, seed in chosen)))
            drawn = [next(entropy) if seed is None else seed for _, seed in chosen]
            self._seed_lanes([lane for lane, _ in chosen], drawn)

    def _seed_lanes(self, lanes: list[int], seeds: list[int]) -> None:
        self._columns["words"][lanes] = seeded_words(seeds)
        self._columns["fresh"][lanes] = True
        for lane, one in zip(lanes, seeds, strict=True):
            self._seeds[lane] = one
        for name, streams in self._lane_streams.items():
            for lane in lanes:
                streams[lane] = self._derived(name, lane)

    def lane_columns(self, *names: str) -> tuple[Array, ...]:
        """Some of what lasts from step to step, by lane, as it lies in memory; what is written there takes effect."""
        return tuple(self._columns[name] for name in names)

    # --- parameters, streams ---

    @property
    def params(self) -> Any:
        """The parameters of the rules; of those that differ from lane to lane, lane 0's."""
        return self._parameters.params

    @property
    def envs(self) -> NoReturn:
        """There are none: MissingAttribute says where they are, and what works on every batch."""
        raise MissingAttribute(
            "envs: expected a batch of environments, got a compiled one, whose lanes are rows of arrays; write "
            "make_vec(…, executor='serial'), or envs.get_attr(name), set_attr(name, values), which every batch has"
        )

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """A parameter, or another attribute of the environment, for each lane."""
        if name in self.rules.params._fields:
            return self._parameters.of_each(name)
        if name == "state":
            return tuple(self._state_of(lane) for lane in range(self.num_envs))
        return (read_only(getattr(self._single, name)),) * self.num_envs

    def _state_of(self, lane: int) -> object:
        """A lane's state, as the rules' NamedTuple; None before the first reset."""
        columns = self._columns
        return composed(self._layout.state, lambda leaf: value_at(columns, leaf, lane)) if self._ready else None

    def call(self, name: str, /, *args: Any, **kwargs: object) -> tuple[Any, ...]:
        """An attribute of each lane; methods are of single environments, and there are none here to call."""
        if name == "get_wrapper_attr":
            return self.get_attr(*args)
        if callable(getattr(self._single, name)) or args or kwargs:
            raise InvalidType(f"call {name}: expected lanes to call, got a compiled batch; use executor='serial'")
        return self.get_attr(name)

    def set_attr(self, name: str, values: object) -> None:
        """Set a parameter, or the lanes' `state`: one value for all lanes, or a list or tuple with one for each."""
        if name == "state":
            self._set_states(values)
            return
        if name not in self.rules.params._fields:
            raise InvalidArgument(
                f"set_attr: expected one of the parameters {', '.join(self.rules.params._fields)}, got {name!r}"
            )
        owner, kind = type(self._single).__name__, self.rules.params
        one_tuple = isinstance(getattr(self.params, name), tuple)
        given = values if is_list_or_tuple(values) and not one_tuple else [values]
        each = [coerce_parameter(owner, kind, name, one) for one in given]
        self._parameters = self._parameters.changed(name, each)
        self._relayout()

    def _set_states(self, values: object) -> None:
        """Put lanes into states; the count of steps goes on, and a lane that has ended stays ended."""
        each = [values] * self.num_envs if isinstance(values, self.rules.state) else values
        if not is_list_or_tuple(each) or len(each) != self.num_envs:
            raise InvalidArgument(f"set_attr state: expected one state, or {self.num_envs}, got {shorten(values)}")
        if not self._ready:
            raise ResetNeeded("set_attr state: expected reset() first, got no reset yet")
        rows = [[fitting(leaf, one) for leaf, one in state_parts(self._layout.state, state)] for state in each]
        for lane, row in enumerate(rows):
            for (leaf, _), one in zip(leaves(self._layout.state, ""), row, strict=True):
                self._columns[leaf.column.name][lane] = one
        self._begin(np.zeros(self.num_envs, np.bool_), self._under(None))  # infos of a state are of these

    def _relayout(self) -> None:
        """Take up a change of which parameters differ; the memory of the lanes stays as it is."""
        self._layout = layout_of(self._single, self._parameters)
        self._loop = loop_of(self.rules, self._layout, self.checks)
        self._take_block(self._block)

    @property
    def np_random(self) -> Any:
        """A generator for each lane that goes on where the lane is; drawing from it does not move the lane."""
        return tuple(generator_of(self._columns["words"], lane) for lane in range(self.num_envs))

    @np_random.setter
    def np_random(self, value: Any) -> None:
        if len(value) != self.num_envs:
            raise InvalidArgument(f"np_random: expected {self.num_envs} generators, one a lane, got {len(value)}")
        for lane, generator in enumerate(value):
            write_stream(self._columns["words"], lane, generator.bit_generator)
            self._seeds[lane] = -1

    @property
    def np_random_seed(self) -> Any:
        """The seed of each lane; -1 where a generator was set from outside, None before the first reset."""
        return tuple(self._seeds)

    def stream(self, name: str) -> Any:
        """The stream `name` of each lane."""
        if name not in self._lane_streams:
            self._lane_streams[name] = [self._derived(name, lane) for lane in range(self.num_envs)]
        return tuple(self._lane_streams[name])

    def _derived(self, name: str, lane: int) -> np.random.Generator:
        seed = self._seeds[lane]
        known = fresh_entropy(1)[0] if seed is None or seed < 0 else seed
        return derived_stream(np.random.default_rng(known), name)

    # --- snapshots: copies of the block ---

    def _capture(self, memo: dict[int, object]) -> BatchState:
        del memo
        spaces = (self.observation_space, self.action_space)
        for space in spaces:
            space.ensure_seeded()
        return (
            self._block.copy(),
            list(self._seeds),
            self._numbers.copy(),
            self._ready,
            self._parameters,
            deepcopy(self._lane_streams),
            deepcopy(spaces),
        )

    def _reinstate(self, state: BatchState, memo: dict[int, object]) -> None:
        del memo
        block, seeds, numbers, self._ready, self._parameters, streams, spaces = state
        self._seeds, self._numbers, self._lane_streams = list(seeds), numbers.copy(), deepcopy(streams)
        self._block = block.copy()
        self._relayout()
        self.observation_space.copy_rng_from(spaces[0])
        self.action_space.copy_rng_from(spaces[1])

    def fork(self, lanes: Sequence[int] | Array) -> KernelLanes:
        """A new batch whose lane `j` goes on from where lane `lanes[j]` is: a copy of columns."""
        self._check_open("fork")
        chosen = self._forked_lanes(lanes)
        twin = copy(self)
        twin.num_envs = len(chosen)
        twin.observation_space = _forked(self.observation_space, self.single_observation_space, self, twin)
        twin.action_space = _forked(self.action_space, self.single_action_space, self, twin)
        if twin.num_envs != self.num_envs:
            twin._split = ThreadSplit.for_lanes(twin.num_envs, None if self._split is None else self._split.threads)
        twin._parameters = self._parameters.forked(chosen)
        twin._prepare()
        twin._take_block(new_block(self._lasting, twin.num_envs))
        for name, column in self._columns.items():
            np.take(column, chosen, axis=0, out=twin._columns[name])
        lanes_taken: list[int] = chosen.tolist()
        twin._lane_streams = {
            name: [deepcopy(streams[lane]) for lane in lanes_taken] for name, streams in self._lane_streams.items()
        }
        twin._seeds = [self._seeds[lane] for lane in lanes_taken]
        twin._numbers = self._numbers[chosen]
        return twin


def _forked(batched: Space[object], single: Space[object], batch: KernelLanes, twin: KernelLanes) -> Space[object]:
    """The space of a fork, whose draws go on from where they are; a space of many lanes takes long to make anew."""
    batched.ensure_seeded()
    if twin.num_envs != batch.num_envs:
        found = single.batch(twin.num_envs)
    else:
        found = deepcopy(batched) if batched.subspaces else copy(batched)
    found.copy_rng_from(batched)
    return found
