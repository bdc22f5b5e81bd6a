"""`KernelVectorEnv`: a batch whose rules are compiled. Each lane is the single environment of its seed."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError
from numpy import empty, ndarray

from ludus.core import AutoresetMode, EpisodePlan, Info, Step, VectorEnv
from ludus.core.episode import planned
from ludus.errors import ClosedEnvironment, InvalidAction, InvalidArgument, InvalidType, ResetNeeded, shorten
from ludus.kernels.block import columns_of, new_block
from ludus.kernels.compiler import compile_rules, explain
from ludus.kernels.finals import finals
from ludus.kernels.layout import layout_of
from ludus.kernels.parameters import fitted
from ludus.kernels.random import generator_of, write_stream
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.seeds import fresh_entropy, seeded_words
from ludus.kernels.source import DISABLED, NEXT_STEP, RESET, SAME_STEP
from ludus.kernels.split import Split
from ludus.kernels.values import ParameterTable
from ludus.seeding import Seed, derived_stream, lane_seeds
from ludus.spaces import Discrete, Tuple

__all__ = ["KernelVectorEnv"]

MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}
Array = npt.NDArray[Any]
INTEGER, FLAG = np.dtype(np.int64), np.dtype(np.bool_)
new_tuple = tuple.__new__


class KernelVectorEnv(VectorEnv[Any, Any]):
    """A compiled batch of any `RuleEnv`.

    `params` gives each lane parameters of its own. `statistics` puts return and length of an episode into the info of
    its last step. `threads` is the most to use; a step is split over them only where that is measured to be quicker.

    >>> from ludus.envs.classic import CartPole
    >>> envs = KernelVectorEnv(CartPole, 3, max_episode_steps=500)
    >>> observations, infos = envs.reset(seed=42)
    >>> bool((observations[1] == CartPole().reset(seed=43)[0]).all())
    True
    """

    executor = "kernel"

    def __init__(
        self,
        make: Callable[[], Any],
        num_envs: int,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        params: Sequence[Any] | None = None,
        episodes: EpisodePlan | None = None,
        statistics: bool = False,
        threads: int | None = None,
    ) -> None:
        single = make()
        if not isinstance(single, RuleEnv):
            raise InvalidType(
                f"KernelVectorEnv: expected an environment made of rules (RuleEnv), got {shorten(single)}"
            )
        self._single, self.rules, self.episodes, self.statistics = single, single.rules, episodes, statistics
        self.num_envs, self._limit = num_envs, max_episode_steps or 0
        mode = AutoresetMode.of(autoreset_mode)
        self._mode = MODES[mode]
        # A plan is Python's to ask: then lanes that end are begun from here.
        self._loop_mode = DISABLED if episodes is not None and self._mode == SAME_STEP else self._mode
        self.metadata = {**single.metadata, "autoreset_mode": mode}
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = single.observation_space.batch(num_envs)
        self.action_space = single.action_space.batch(num_envs)
        self._parameters = ParameterTable([single.params] if params is None else params, num_envs)
        self._layout = layout_of(single, self._parameters)
        self._run_lanes = compile_rules(self.rules, self._layout)
        self._split = Split.for_lanes(num_envs, threads)
        self._prepare()
        self._take_block(new_block(self._layout.columns, num_envs))
        self._columns["fresh"][:] = True
        self._load()
        self._seeds: list[int | None] = [None] * num_envs
        self._numbers = np.zeros(num_envs, dtype=np.int64)
        self._ready = False

    def _prepare(self) -> None:
        """What every step needs to know of the spaces."""
        n, space, acts = self.num_envs, self.single_observation_space, self.single_action_space
        self._kind = "choice" if isinstance(acts, Discrete) else "tuple" if isinstance(acts, Tuple) else "row"
        self._many = isinstance(space, Tuple)
        self._shape = space.shape if space.shape and len(space.shape) > 1 else None
        self._plain = not self._many and self._shape is None
        self._out_dtype: Any = np.int64 if self._many else space.dtype
        self._out_shape = (n, self._layout.width) if self._layout.width else (n,)
        self._choice_shape = (n,) if self._kind == "choice" else None
        self._tells = self.statistics or self._mode == SAME_STEP
        self._no_actions = self._as_read(self.action_space.zero())
        self._no_rewards, self._no_flags = np.empty(0), np.empty((2, 0), np.bool_)

    def _load(self) -> None:
        """Compile the loop, or load it from disk, by running it over no lanes: what is wrong with rules is told now."""
        out = np.empty(self._out_shape, self._out_dtype)
        arrays = (self._no_actions, out, self._no_rewards, self._no_flags)
        try:
            self._run_lanes(0, 0, RESET, self._limit, self._block, *self._parameters.arguments, *arrays)
        except NumbaError as error:
            raise explain(self.rules, error) from error

    def _take_block(self, block: Array) -> None:
        self._block = block
        self._columns = columns_of(block, self._layout.columns, self.num_envs)
        self._ended = self._columns["ended"]
        self._info = [self._columns[f"i_{name}"] for name in self._layout.information]
        self._fixed = (0, self.num_envs, self._loop_mode, self._limit, block, *self._parameters.arguments)

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        values = self._under(rest)
        seeds = lane_seeds(seed, self.num_envs)
        if not self._ready and not mask.all():
            waiting = [int(lane) for lane in np.flatnonzero(~mask)]
            raise ResetNeeded(f"reset: expected every lane to have been reset once, got none for lanes {waiting}")
        self._seed(seeds, mask)
        self._numbers[mask] = 0
        out = self._begin(mask, values)
        self._ready = True
        return self._shown(out), self._infos(mask)

    def _under(self, options: dict[str, Any] | None) -> tuple[Any, ...]:
        """The parameters of a reset with these options, as the loop takes them."""
        if not options:
            return self._parameters.arguments
        return self._parameters.replaced(self._single.params, self._single.reset_params(options)).arguments

    def _begin(self, mask: Array, values: tuple[Any, ...]) -> Array:
        """Begin the lanes of a mask; the observations of all lanes."""
        self._columns["chosen"][:] = mask
        out = np.empty(self._out_shape, self._out_dtype)
        arrays = (self._no_actions, out, self._no_rewards, self._no_flags)
        self._run_lanes(0, self.num_envs, RESET, self._limit, self._block, *values, *arrays)
        return out

    def _seed(self, seeds: list[int | None], mask: Array) -> None:
        """Start the streams of the masked lanes that get a seed, and of those that never had one."""
        known = self._seeds
        if mask.all() and None not in seeds:
            lanes, drawn = np.arange(self.num_envs), seeds
        else:
            lanes = np.array(
                [lane for lane in np.flatnonzero(mask) if seeds[lane] is not None or known[lane] is None], dtype=np.intp
            )
            entropy = iter(fresh_entropy(sum(seeds[lane] is None for lane in lanes)))
            drawn = [next(entropy) if seeds[lane] is None else seeds[lane] for lane in lanes]
        if len(lanes):
            self._seed_lanes(lanes.tolist(), [one for one in drawn if one is not None])

    def _seed_lanes(self, lanes: list[int], seeds: list[int]) -> None:
        self._columns["words"][lanes] = seeded_words(seeds)
        self._columns["fresh"][lanes] = True
        self._streams = None
        for lane, one in zip(lanes, seeds, strict=True):
            self._seeds[lane] = one

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        if not self._ready or self.closed or self._mode == DISABLED:
            self._check_ready()
        if self.episodes is not None:
            return self._planned_step(action)
        return self._advance(action)

    def _check_ready(self) -> None:
        self._check_open("step")
        if not self._ready:
            raise ResetNeeded("step: expected reset() first, got no reset yet")
        if self._ended.any():
            lanes = [int(one) for one in np.flatnonzero(self._ended)]
            raise ResetNeeded(
                f"step: expected lanes under way, got ended lanes {lanes}; "
                "reset them with options={'reset_mask': mask}"
            )

    def _advance(self, action: Any) -> Step[Any]:
        # Arrays are made without keywords, and the tuple without its constructor: at 64 lanes each call counts.
        if type(action) is not ndarray or action.dtype is not INTEGER or action.shape != self._choice_shape:
            actions = self._as_read(action)
        else:
            actions = action
        n = self.num_envs
        out, rewards, flags = empty(self._out_shape, self._out_dtype), empty(n), empty((2, n), FLAG)
        if self._split is None:
            count = self._run_lanes(*self._fixed, actions, out, rewards, flags)
        else:
            count = self._split.run(self._run_lanes, (*self._fixed[2:], actions, out, rewards, flags))
        if count < 0:
            self.action_space.check(action, "action", InvalidAction)
        info: Info = {}
        if self._info or (count and self._tells):
            out, info = self._told(out, flags, count)
        return new_tuple(Step, (out if self._plain else self._shown(out), rewards, flags[0], flags[1], info))

    def _told(self, out: Array, flags: Array, count: int) -> tuple[Array, Info]:
        """Infos of a step; under a plan, ended lanes begin here."""
        final: Info = {}
        ended = flags[0] | flags[1]
        columns = self._columns
        if count and self.statistics:
            kept = "last_" if self._loop_mode == SAME_STEP else ""
            returns, lengths = columns[f"{kept}returns"], columns[f"{kept}lengths" if kept else "elapsed"]
            told = {"r": np.where(ended, returns, 0.0), "_r": ended.copy()}
            told |= {"l": np.where(ended, lengths, 0), "_l": ended.copy()}
            final = {"episode": told, "_episode": ended.copy()}
        if count and self._mode == SAME_STEP:
            if self._loop_mode == SAME_STEP:
                last, informed = columns["last"], [columns[f"l_{name}"] for name in self._layout.information]
            else:
                last, informed = out, [column.copy() for column in self._info]
                out = self._begun_as_planned(ended)
            final |= finals(self.single_observation_space, self._layout.information, ended, last, informed)
        return out, final | self._infos(None)

    # --- planned episodes ---

    def _plan(self, ended: Array) -> dict[int, tuple[Any, ...]]:
        """Seed the lanes that are to begin, as the plan says; the parameters of those with options."""
        optioned: dict[int, tuple[Any, ...]] = {}
        for lane in np.flatnonzero(ended).tolist():
            self._numbers[lane] += 1
            episode = planned(self.episodes, lane, int(self._numbers[lane]))
            if episode.seed is not None:
                self._seed_lanes([lane], [int(episode.seed)])
            if episode.options:
                optioned[lane] = self._under(episode.options)
        return optioned

    def _begun_as_planned(self, ended: Array) -> Array:
        """Begin the ended lanes, those with options by themselves; the observations of all lanes."""
        optioned = self._plan(ended)
        rest = ended.copy()
        rest[list(optioned)] = False
        out = self._begin(rest, self._parameters.arguments)
        for lane, values in optioned.items():
            out[lane] = self._begin(self._only(lane), values)[lane]
        return out

    def _planned_step(self, action: Any) -> Step[Any]:
        """A step whose ended lanes begin as planned; what the loop began with other parameters is taken back."""
        self._as_read(action)
        lanes = np.flatnonzero(self._ended) if self._mode == NEXT_STEP else np.zeros(0, np.intp)
        optioned = self._plan(self._ended.copy()) if len(lanes) else {}
        kept = {name: column[lanes] for name, column in self._columns.items()} if optioned else {}
        step = self._advance(action)
        for lane, values in optioned.items():
            for name, rows in kept.items():
                self._columns[name][lane] = rows[lanes == lane][0]
            self._begin(self._only(lane), values)
        if not optioned:
            return step
        out = self._begin(np.zeros(self.num_envs, np.bool_), self._parameters.arguments)
        return step._replace(observation=self._shown(out), info=step.info | self._infos(None))

    def _only(self, lane: int) -> Array:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[lane] = True
        return mask

    # --- actions ---

    def _as_read(self, action: Any) -> Array:
        """Actions as the loop reads them; the range of choices is the loop's to check."""
        if self._kind == "choice":
            actions = np.asarray(action)
            if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
                self.action_space.check(action, "action", InvalidAction)
            return actions.astype(np.int64, copy=False)
        if self._kind == "tuple":
            self.action_space.check(action, "action", InvalidAction)
            return np.stack([np.asarray(part, dtype=np.int64) for part in action], axis=1)
        actions = np.asarray(action)
        space: Any = self.single_action_space
        # Rules that clip take any finite numbers, in one environment as in a batch.
        clipped = self._single.clips_actions and actions.dtype.kind in "fiu" and np.isfinite(actions).all()
        if actions.shape != (self.num_envs, *space.shape) or not clipped:
            self.action_space.check(action, "action", InvalidAction)
        return np.ascontiguousarray(actions, dtype=space.dtype)

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise ClosedEnvironment(f"{what}: expected an open batch, got one that was closed; make a new one")

    # --- what is given ---

    def _shown(self, out: Array) -> Any:
        if self._many:
            return tuple(out[:, place].copy() for place in range(out.shape[1]))
        return out if self._shape is None else out.reshape(self.num_envs, *self._shape)

    def _infos(self, mask: Array | None) -> Info:
        told: Info = {}
        for name, column in zip(self._layout.information, self._info, strict=True):
            shown = column.copy()
            if mask is not None and not mask.all():
                shown[~mask] = 0
            told[name], told[f"_{name}"] = shown, np.ones(self.num_envs, np.bool_) if mask is None else mask.copy()
        return told

    # --- parameters, streams ---

    @property
    def params(self) -> Any:
        """The parameters of the rules; of those that differ from lane to lane, lane 0's."""
        return self._parameters.params

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """A parameter, or another attribute of the environment, for each lane."""
        if name in self.rules.params._fields:
            return self._parameters.of_each(name)
        return (getattr(self._single, name),) * self.num_envs

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute of each lane; methods are of single environments, and there are none here to call."""
        if name == "get_wrapper_attr":
            return self.get_attr(*args)
        if callable(getattr(self._single, name)) or args or kwargs:
            raise InvalidType(f"call {name}: expected lanes to call, got a compiled batch; use executor='serial'")
        return self.get_attr(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set a parameter: one value for all lanes, or a list or tuple with one for each."""
        if name not in self.rules.params._fields:
            raise InvalidArgument(
                f"set_attr: expected one of the parameters {', '.join(self.rules.params._fields)}, got {name!r}"
            )
        many = isinstance(values, list | tuple) and not isinstance(getattr(self.params, name), tuple)
        owner, kind = type(self._single).__name__, self.rules.params
        each = [fitted(owner, kind, name, one) for one in (values if many else [values])]
        self._parameters = self._parameters.changed(name, each)
        self._relayout()

    def _relayout(self) -> None:
        """Take up a change of which parameters differ; the memory of the lanes stays as it is."""
        self._layout = layout_of(self._single, self._parameters)
        self._run_lanes = compile_rules(self.rules, self._layout)
        self._take_block(self._block)
        self._load()

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
        if self._streams is None:
            self._streams = {}
        if name not in self._streams:
            seeds = [one if one is not None and one >= 0 else fresh_entropy(1)[0] for one in self._seeds]
            self._streams[name] = tuple(  # type: ignore[assignment]
                derived_stream(np.random.default_rng(seed), name) for seed in seeds
            )
        return self._streams[name]

    # --- snapshots: copies of the block ---

    def _capture(self, memo: dict[int, Any]) -> Any:
        del memo
        spaces = (self.observation_space, self.action_space)
        for space in spaces:
            space.settle()
        return (
            self._block.copy(),
            list(self._seeds),
            self._numbers.copy(),
            self._ready,
            self._parameters,
            deepcopy(spaces),
        )

    def _reinstate(self, state: Any, memo: dict[int, Any]) -> None:
        del memo
        block, seeds, numbers, self._ready, self._parameters, spaces = state
        self._seeds, self._numbers = list(seeds), numbers.copy()
        self._block = block.copy()
        self._relayout()
        self.observation_space.adopt_random(spaces[0])
        self.action_space.adopt_random(spaces[1])

    def fork(self, lanes: Sequence[int] | npt.NDArray[Any]) -> "KernelVectorEnv":
        """A new batch whose lane `j` goes on from where lane `lanes[j]` is: a copy of columns."""
        self._check_open("fork")
        chosen = self._forked_lanes(lanes)
        twin = copy(self)
        if len(chosen) != self.num_envs:
            twin.num_envs = len(chosen)
            twin.observation_space = self.single_observation_space.batch(twin.num_envs)
            twin.action_space = self.single_action_space.batch(twin.num_envs)
            twin._split = Split.for_lanes(twin.num_envs, None if self._split is None else self._split.threads)
        else:
            twin.observation_space, twin.action_space = copy(self.observation_space), copy(self.action_space)
        twin._parameters = self._parameters.forked(chosen)
        twin._prepare()
        twin._take_block(new_block(self._layout.columns, twin.num_envs))
        for name, column in self._columns.items():
            np.take(column, chosen, axis=0, out=twin._columns[name])
        twin._seeds = [self._seeds[lane] for lane in chosen.tolist()]
        twin._numbers = self._numbers[chosen]
        return twin
