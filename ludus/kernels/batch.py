"""`KernelVectorEnv`: a batch whose rules are compiled. Each lane is the single environment of its seed."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError

from ludus.core import AutoresetMode, Info, Step, VectorEnv
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, ResetNeeded, shorten
from ludus.kernels.compiler import KernelError, compile_rules, explain
from ludus.kernels.parameters import fitted
from ludus.kernels.random import WORDS, generator_of, write_stream
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.source import Layout
from ludus.seeding import Seed, lane_seeds, np_random
from ludus.spaces import Discrete, Tuple

__all__ = ["KernelVectorEnv"]

MODES = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1, AutoresetMode.DISABLED: 2}
Array = npt.NDArray[Any]


class KernelVectorEnv(VectorEnv[Any, Any]):
    """A compiled batch of any `RuleEnv`.

    >>> from ludus.envs.classic import CartPole
    >>> envs = KernelVectorEnv(CartPole, 3, max_episode_steps=500)
    >>> observations, infos = envs.reset(seed=42)
    >>> bool((observations[1] == CartPole().reset(seed=43)[0]).all())
    True
    """

    def __init__(
        self,
        make: Callable[[], Any],
        num_envs: int,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
    ) -> None:
        single = make()
        if not isinstance(single, RuleEnv):
            raise InvalidType(
                f"KernelVectorEnv: expected an environment made of rules (RuleEnv), got {shorten(single)}"
            )
        self._single, self.rules, self.params = single, single.rules, single.params
        self.num_envs, self._limit = num_envs, max_episode_steps or 0
        mode = AutoresetMode.of(autoreset_mode)
        self._mode = MODES[mode]
        self.metadata = {**single.metadata, "autoreset_mode": mode}
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = single.observation_space.batch(num_envs)
        self.action_space = single.action_space.batch(num_envs)
        self._open()

    def _open(self) -> None:
        """Buffers for every lane, and the compiled loops over them."""
        n, rng = self.num_envs, np_random(0)[0]
        sample = self.rules.reset(rng, self.params)
        names = self.rules.state._fields
        # A field is what its annotation says: a first state of 0 must not make a column of integers for a float.
        sample = [fitted("State", self.rules.state, name, one) for name, one in zip(names, sample, strict=True)]
        self._state = [_column(n, value) for value in sample]
        self._check_types(sample, rng)
        told = self.rules.inform(self.rules.state._make(sample), self.params) if self.rules.inform else None
        self._told = () if told is None else tuple(told._fields)
        self._info = [] if told is None else [_column(n, value) for value in told]
        space, acts = self.single_observation_space, self.single_action_space
        self._choices = (int(acts.start), int(acts.start + acts.n - 1)) if isinstance(acts, Discrete) else (0, 0)
        self._kind = "choice" if isinstance(acts, Discrete) else "tuple" if isinstance(acts, Tuple) else "row"
        many = isinstance(space, Tuple)
        self._shape = space.shape if space.shape and len(space.shape) > 1 else None
        self._many = many
        width = len(space) if many else 0 if isinstance(space, Discrete) else space.flatdim
        self._out_dtype: Any = np.int64 if many else space.dtype
        self._out_shape = (n, width) if width else (n,)
        layout = Layout(
            tuple((name, column.ndim > 1) for name, column in zip(names, self._state, strict=True)),
            width,
            self._told,
            len(acts) if isinstance(acts, Tuple) else 0,
            isinstance(acts, Discrete),
            self.rules.renew is not None,
        )
        self._kernel = compile_rules(self.rules, layout)
        self._words = np.zeros((n, WORDS), dtype=np.uint64)
        self._elapsed = np.zeros(n, dtype=np.int64)
        self._ended = np.zeros(n, dtype=np.bool_)
        self._fresh = np.ones(n, dtype=np.bool_)
        self._seeded = np.zeros(n, dtype=np.bool_)
        self._ready = False

    def _check_types(self, sample: list[Any], rng: np.random.Generator) -> None:
        """Take one step as the single environment would: a column of integers would cut a float, and say nothing."""
        kind, space = self.rules.state, self.single_action_space
        action: Any = space.zero()
        if isinstance(space, Discrete | Tuple):
            action = tuple(map(int, action)) if isinstance(space, Tuple) else int(action)
        after, _, _ = self.rules.step(kind(*sample), action, rng, self.params)
        for name, column, value in zip(kind._fields, self._state, after, strict=True):
            if column.dtype.kind != "f" and np.asarray(value).dtype.kind == "f":
                raise KernelError(
                    f"{kind.__name__}.{name}: expected {column.dtype} from step, as from reset, got {shorten(value)}; "
                    f"annotate it as float, or return int({name})"
                )

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        mask, rest = self.reset_mask(options)
        params = self._single.reset_params(rest) if rest else self.params
        seeds = lane_seeds(seed, self.num_envs)
        if not self._ready and not mask.all():
            waiting = [int(lane) for lane in np.flatnonzero(~mask)]
            raise ResetNeeded(f"reset: expected every lane to have been reset once, got none for lanes {waiting}")
        for lane, one in enumerate(seeds):
            if mask[lane] and (one is not None or not self._seeded[lane]):
                write_stream(self._words, lane, np_random(one)[0].bit_generator)
                self._seeded[lane] = self._fresh[lane] = True
        out = np.empty(self._out_shape, self._out_dtype)
        self._run(
            "reset_lanes",
            mask,
            self._fresh,
            self._words,
            params,
            self._elapsed,
            self._ended,
            out,
            *self._info,
            *self._state,
        )
        self._fresh[mask] = False
        self._ready = True
        return self._shown(out), self._infos(mask)

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        if not self._ready:
            raise ResetNeeded("step: expected reset() first, got no reset yet")
        if self._mode == 2 and self._ended.any():
            lanes = [int(one) for one in np.flatnonzero(self._ended)]
            raise ResetNeeded(
                f"step: expected lanes under way, got ended lanes {lanes}; "
                "reset them with options={'reset_mask': mask}"
            )
        actions, n = self._actions(action), self.num_envs
        out, last = np.empty(self._out_shape, self._out_dtype), self._buffer_for_last()
        rewards, terminated, truncated = np.empty(n), np.empty(n, np.bool_), np.empty(n, np.bool_)
        kept = [column.copy() for column in self._info] if self._mode == 1 else self._info
        ended = self._run(
            "step_lanes", actions, *self._choices, self._mode, self._limit, self._words, self.params,
            self._elapsed, self._ended, out, last, rewards, terminated, truncated, *self._info, *kept, *self._state,
        )  # fmt: skip
        if ended < 0:
            self.action_space.check(action, "action", InvalidAction)
        info = self._infos(None)
        if ended and self._mode == 1:
            info = self._final(terminated | truncated, last, kept) | info
        return Step(self._shown(out), rewards, terminated, truncated, info)

    def _run(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._kernel, name)(0, self.num_envs, *arguments)
        except NumbaError as error:
            raise explain(self.rules, error) from error

    def _buffer_for_last(self) -> Array:
        return np.empty(self._out_shape if self._mode == 1 else (0,) * len(self._out_shape), self._out_dtype)

    def _actions(self, action: Any) -> Array:
        """Actions as the loop reads them; the range of choices is the loop's to check."""
        if self._kind == "tuple":
            self.action_space.check(action, "action", InvalidAction)
            return np.stack([np.asarray(part, dtype=np.int64) for part in action], axis=1)
        actions = np.asarray(action)
        if self._kind == "choice":
            if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
                self.action_space.check(action, "action", InvalidAction)
            return actions.astype(np.int64, copy=False)
        space: Any = self.single_action_space
        # Rules that clip take any finite numbers, in one environment as in a batch.
        clipped = self._single.clips_actions and actions.dtype.kind in "fiu" and np.isfinite(actions).all()
        if actions.shape != (self.num_envs, *space.shape) or not clipped:
            self.action_space.check(action, "action", InvalidAction)
        return np.ascontiguousarray(actions, dtype=space.dtype)

    # --- what is given ---

    def _shown(self, out: Array) -> Any:
        if self._many:
            return tuple(out[:, place].copy() for place in range(out.shape[1]))
        return out if self._shape is None else out.reshape(self.num_envs, *self._shape)

    def _infos(self, mask: Array | None) -> Info:
        told: Info = {}
        for name, column in zip(self._told, self._info, strict=True):
            shown = column.copy()
            if mask is not None and not mask.all():
                shown[~mask] = 0
            told[name], told[f"_{name}"] = shown, np.ones(self.num_envs, np.bool_) if mask is None else mask.copy()
        return told

    def _final(self, ended: Array, last: Array, kept: list[Array]) -> Info:
        column = np.full(self.num_envs, None, dtype=object)
        shape = self.single_observation_space.shape
        for lane in np.flatnonzero(ended):
            row = last[lane]
            if isinstance(self.single_observation_space, Tuple):
                column[lane] = tuple(int(one) for one in row)
            else:
                column[lane] = row.reshape(shape).copy() if shape else row.item()
        final: Info = {}
        for name, values in zip(self._told, kept, strict=True):
            shown = np.zeros_like(values)
            shown[ended] = values[ended]
            final[name], final[f"_{name}"] = shown, ended.copy()
        return {"final_obs": column, "_final_obs": ended, "final_info": final, "_final_info": ended.copy()}

    # --- streams and snapshots ---

    @property
    def np_random(self) -> Any:
        """A generator for each lane that goes on where the lane is; drawing from it does not move the lane."""
        return tuple(generator_of(self._words, lane) for lane in range(self.num_envs))

    @np_random.setter
    def np_random(self, value: Any) -> None:
        if len(value) != self.num_envs:
            raise InvalidArgument(f"np_random: expected {self.num_envs} generators, one a lane, got {len(value)}")
        for lane, generator in enumerate(value):
            write_stream(self._words, lane, generator.bit_generator)
            self._seeded[lane] = True

    def _capture(self, memo: dict[int, Any]) -> Any:
        del memo
        arrays = [
            self._words,
            self._elapsed,
            self._ended,
            self._fresh,
            self._seeded,
            *self._state,
            *self._info,
        ]
        spaces = (self.observation_space, self.action_space)
        for space in spaces:
            space.settle()
        return [array.copy() for array in arrays], self._ready, self.params, deepcopy(spaces)

    def _reinstate(self, state: Any, memo: dict[int, Any]) -> None:
        del memo
        arrays, self._ready, self.params, spaces = state
        count = len(self._state)
        self._words, self._elapsed, self._ended, self._fresh, self._seeded = (one.copy() for one in arrays[:5])
        self._state = [one.copy() for one in arrays[5 : 5 + count]]
        self._info = [one.copy() for one in arrays[5 + count :]]
        self.observation_space.adopt_random(spaces[0])
        self.action_space.adopt_random(spaces[1])


def _column(n: int, value: Any) -> Array:
    """A column for values like `value`, one for each lane."""
    array = np.asarray(value)
    return np.zeros((n, *array.shape), dtype=array.dtype)
