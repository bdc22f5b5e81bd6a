"""`KernelVectorEnv`: a batch whose rules are compiled. Each lane is the single environment of its seed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import empty, ndarray

from ludus.core import AutoresetMode, EpisodePlan, Info, Outcome, Step
from ludus.core.episode import planned
from ludus.core.info import add_outcome
from ludus.core.options import Options
from ludus.core.outcome import OUTCOME
from ludus.errors import InvalidAction, InvalidType, ResetNeeded, shorten
from ludus.kernels.block import columns_of
from ludus.kernels.call import FAULT
from ludus.kernels.finals import finals, outcomes
from ludus.kernels.kinds import new_step
from ludus.kernels.lanes import KernelLanes
from ludus.kernels.legal_actions import check_legal, choices_of, lane_masks
from ludus.kernels.overrides import refuse_overrides
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.source import CUT_LANE, DISABLED, NEXT_STEP, SAME_STEP
from ludus.kernels.start import EpisodeStart
from ludus.kernels.tree import composed
from ludus.seeding import Seed, lane_seeds
from ludus.spaces.array_space import Array

__all__ = ["KernelVectorEnv"]

MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}
INTEGER, FLAG = np.dtype(np.int64), np.dtype(np.bool_)


class HeldLanes:
    """What lanes have that a masked step leaves alone: kept, and put back when all lanes have been stepped.

    >>> import numpy as np
    >>> columns = {"age": np.array([4, 7])}
    >>> held = HeldLanes(columns, np.array([False, True]))
    >>> columns["age"] += 1
    >>> held.put_back(np.ones(2), np.ones((2, 2), np.bool_)) % CUT_LANE
    1
    >>> columns["age"]
    array([5, 7])
    """

    def __init__(self, columns: dict[str, Array], lanes: Array) -> None:
        self.lanes = lanes
        self._columns = columns
        self._kept = {name: column[lanes] for name, column in columns.items()}

    def put_back(self, rewards: Array, flags: Array) -> int:
        """Give the lanes what they had, and no reward or flag; how many of the others ended, as the loop counts."""
        for name, rows in self._kept.items():
            self._columns[name][self.lanes] = rows
        rewards[self.lanes] = 0.0
        flags[:, self.lanes] = False
        return int((flags[0] | flags[1]).sum()) + CUT_LANE * int(flags[1].sum())


class KernelVectorEnv(KernelLanes):
    """A compiled batch of any `RuleEnv`.

    `params` gives each lane parameters of its own. `statistics` puts return and length of an episode into the info of
    its last step. `threads` is the most to use; a step is split over them only where that is measured to be quicker.
    `checks` makes an integer that does not fit an error.

    >>> from ludus.envs.classic import CartPole
    >>> envs = KernelVectorEnv(CartPole, 3, max_episode_steps=500)
    >>> observations, infos = envs.reset(seed=42)
    >>> bool((observations[1] == CartPole().reset(seed=43)[0]).all())
    True
    """

    def __init__(
        self,
        make: Callable[[], object],
        num_envs: int,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        params: Sequence[object] | None = None,
        episodes: EpisodePlan | None = None,
        statistics: bool = False,
        threads: int | None = None,
        checks: bool = False,
    ) -> None:
        single = make()
        if not isinstance(single, RuleEnv):
            raise InvalidType(
                f"KernelVectorEnv: expected an environment made of rules (RuleEnv), got {shorten(single)}"
            )
        refuse_overrides(single)
        self.episodes, self.statistics, self.checks = episodes, statistics, checks
        self._refuses = single.rules.illegal == "refuse"
        mode = AutoresetMode.of(autoreset_mode)
        self._mode = MODES[mode]
        # A plan is Python's to ask: then lanes that end are begun from here.
        self._loop_mode = DISABLED if episodes is not None and self._mode == SAME_STEP else self._mode
        self._tells = statistics or self._mode == SAME_STEP
        self._bare = episodes is None and not self._tells and self._mode == NEXT_STEP
        self.metadata = {**single.metadata, "autoreset_mode": mode}
        self._open(single, num_envs, max_episode_steps or 0, params, threads)

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        start = self._under(rest)
        seeds = lane_seeds(seed, self.num_envs)
        if not self._ready and not mask.all():
            waiting = [int(lane) for lane in np.flatnonzero(~mask)]
            raise ResetNeeded(f"reset: expected every lane to have been reset once, got none for lanes {waiting}")
        self._seed(seeds, mask)
        self._numbers[mask] = 0
        out = self._begin(mask, start)
        self._ready = True
        return self._shown(out), self._infos(mask)

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        # What is asked for most by the shortest way: at 64 lanes a microsecond is a quarter of the step.
        if (
            self._swift
            and self._ready
            and not self.closed
            and type(action) is ndarray
            and action.dtype is INTEGER
            and action.shape == self._choice_shape
            and action.flags.carray
        ):
            n = self.num_envs
            out, rewards, flags = empty(self._out_shape, self._out_dtype), empty(n), empty((2, n), FLAG)
            count = self._run(action, out, rewards, flags)
            if count >= 0:
                info: Info = {}
                if count >= CUT_LANE:
                    info = add_outcome(info, Outcome.TIME_LIMIT, self._late(flags, self._columns["elapsed"]))
                return new_step(Step, (out, rewards, flags[0], flags[1], info))
            if count == FAULT:
                self._fail(self._call)
        if not self._ready or self.closed or self._mode == DISABLED:
            self._check_ready()
        if self.episodes is not None:
            return self._planned_step(action)
        return self._advance(action)

    def step_masked(self, action: object, mask: Array) -> Step[Any]:
        """Advance the lanes of the mask; the others stay as they are."""
        if self.lane_mask(mask).all():
            return self.step(action)
        # All lanes are stepped, and the others put back: a loop that asks each lane would slow down every other step.
        held = HeldLanes(self._columns, ~mask)
        self._check_ready("step_masked", mask)
        action = self._filled(action, mask)
        if self.episodes is not None:
            return self._planned_step(action, held)
        return self._advance(action, held)

    def autoreset(self, mask: Array) -> tuple[Any, Info]:
        """Begin the next episode in the lanes of the mask, as planned."""
        self.lane_mask(mask)
        self._check_ready("autoreset", np.zeros_like(mask))
        if self.episodes is not None:
            return self._shown(self._begun_as_planned(mask)), self._infos(mask)
        self._numbers[mask] += 1
        return self._shown(self._begin(mask, self._under(None))), self._infos(mask)

    def _check_ready(self, call: str = "step", mask: Array | None = None) -> None:
        self._check_open(call)
        if not self._ready:
            raise ResetNeeded(f"{call}: expected reset() first, got no reset yet")
        ended = self._ended if mask is None else self._ended & mask
        if self._mode == DISABLED and ended.any():
            lanes = [int(one) for one in np.flatnonzero(ended)]
            raise ResetNeeded(
                f"{call}: expected lanes under way, got ended lanes {lanes}; "
                "reset them with options={'reset_mask': mask}"
            )

    def _advance(self, action: object, held: HeldLanes | None = None) -> Step[object]:
        # Arrays are made without keywords, and the tuple without its constructor: at 64 lanes each call counts.
        if (
            type(action) is not ndarray
            or action.dtype is not INTEGER
            or action.shape != self._choice_shape
            or not action.flags.carray
        ):
            actions = self._as_read(action)
        else:
            actions = action
        if self._refuses:
            self._check_legal(actions, self._ended if held is None else self._ended | held.lanes)
        n = self.num_envs
        out, rewards, flags = empty(self._out_shape, self._out_dtype), empty(n), empty((2, n), FLAG)
        if self._split is None:
            count = self._run(actions, out, rewards, flags)
        else:
            count = self._split.run(self._call, (actions, out, rewards, flags))
        if count == FAULT:
            self._fail(self._call)
        if count < 0:
            self.action_space.check(action, "action", InvalidAction)
        if held is not None:
            count = held.put_back(rewards, flags)
            self._mix(out, self._begin(np.zeros(n, np.bool_), self._under(None)), held.lanes)
        info: Info = {}
        if self._info or (count and (self._tells or count >= CUT_LANE)):
            out, info = self._step_infos(out, flags, count, None if held is None else ~held.lanes)
        return new_step(Step, (out if self._plain else self._shown(out), rewards, flags[0], flags[1], info))

    def _check_legal(self, actions: Array, aside: Array) -> None:
        """Refuse what the rules do not allow, in the lanes that are about to take an action."""
        if self._kind != "parts":  # those have been checked
            self.action_space.check(actions, "action", InvalidAction)
        choices, chosen, rows = choices_of(self.single_action_space), self._chosen(actions), self._columns["i_mask"]
        lanes, allowed, begin = np.arange(self.num_envs), np.ones(self.num_envs, np.bool_), 0
        for size, start, one in zip(choices.sizes, choices.starts, chosen, strict=True):
            allowed &= rows[lanes, begin + one - start] != 0
            begin += size
        wrong = ~allowed & ~aside
        masks = lane_masks(rows, choices.sizes, wrong) if choices.several else rows
        for lane in np.flatnonzero(wrong).tolist():
            action = [one[lane] for one in chosen]
            check_legal(masks[lane], action if choices.several else action[0], choices, f"action[{lane}]")

    def _step_infos(self, out: Array, flags: Array, count: int, stepped: Array | None) -> tuple[Array, Info]:
        """Infos of a step, of all lanes or of those stepped; under a plan, ended lanes begin here."""
        final: Info = {}
        ended = flags[0] | flags[1]
        columns = self._columns
        if count and self.statistics:
            kept = "last_" if self._loop_mode == SAME_STEP else ""
            returns, lengths = columns[f"{kept}returns"], columns[f"{kept}lengths" if kept else "elapsed"]
            statistics = {"r": np.where(ended, returns, 0.0), "_r": ended.copy()}
            statistics |= {"l": np.where(ended, lengths, 0), "_l": ended.copy()}
            final = {"episode": statistics, "_episode": ended.copy()}
        if count and self._mode == SAME_STEP:
            names = [one.leaf.column.name for one in self._info]
            lengths = columns["last_lengths" if self._loop_mode == SAME_STEP else "elapsed"]
            late = self._late(flags, lengths) if count >= CUT_LANE else None
            if self._loop_mode == SAME_STEP:
                last = {one.name: columns[f"l{one.name}"] for one in self._out_columns}
                informed = [columns[f"l{name}"] for name in names]
            else:
                last, informed = self._parts(out), [columns[name].copy() for name in names]
                out = self._begun_as_planned(ended)
            final |= finals(self._layout, ended, last, informed)
            if late is not None:
                final["final_info"] = add_outcome(final["final_info"], Outcome.TIME_LIMIT, late)
            return out, final | self._infos(stepped, after_step=True)
        info = final | self._infos(stepped, after_step=True)
        if count >= CUT_LANE:
            info = add_outcome(info, Outcome.TIME_LIMIT, self._late(flags, columns["elapsed"]))
        return out, info

    def _late(self, flags: Array, lengths: Array) -> Array:
        """The lanes that the time limit has cut, and not their own end."""
        return flags[1] & ~flags[0] & (lengths >= self._limit) & (self._limit > 0)

    # --- planned episodes ---

    def _plan(self, ended: Array) -> dict[int, EpisodeStart]:
        """Seed the lanes that are to begin, as the plan says; how those with options begin."""
        optioned: dict[int, EpisodeStart] = {}
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
        out = self._begin(rest, self._under(None))
        for lane, start in optioned.items():
            only = self._only(lane)
            self._mix(out, self._begin(only, start), only)
        return out

    def _planned_step(self, action: object, held: HeldLanes | None = None) -> Step[object]:
        """A step whose ended lanes begin as planned; what the loop began with other parameters is taken back."""
        self._as_read(action)
        ended = self._ended.copy() if held is None else self._ended & ~held.lanes
        lanes = np.flatnonzero(ended) if self._mode == NEXT_STEP else np.zeros(0, np.intp)
        optioned = self._plan(ended) if len(lanes) else {}
        kept = {name: column[lanes] for name, column in self._columns.items()} if optioned else {}
        step = self._advance(action, held)
        for lane, start in optioned.items():
            for name, rows in kept.items():
                self._columns[name][lane] = rows[lanes == lane][0]
            self._begin(self._only(lane), start)
        if not optioned:
            return step
        out = self._begin(np.zeros(self.num_envs, np.bool_), self._under(None))
        infos = self._infos(None if held is None else ~held.lanes, after_step=True)
        kept = {key: step.info[key] for key in (OUTCOME, f"_{OUTCOME}") if key in step.info}
        return step._replace(observation=self._shown(out), info=step.info | infos | kept)

    def _only(self, lane: int) -> Array:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[lane] = True
        return mask

    # --- what is given ---

    def _shown(self, out: Array) -> object:
        if self._plain:
            return out
        parts = self._parts(out)
        return composed(self._layout.seen, lambda leaf: parts[leaf.column.name])

    def _parts(self, out: Array) -> dict[str, Array]:
        """The observations of each column."""
        if self._plain:
            return {self._out_columns[0].name: out}
        return columns_of(out, self._out_columns, self.num_envs)

    def _mix(self, out: Array, others: Array, lanes: Array) -> None:
        """Take the observations of some lanes from elsewhere."""
        found = self._parts(others)
        for name, part in self._parts(out).items():
            part[lanes] = found[name][lanes]

    def _infos(self, mask: Array | None, *, after_step: bool = False) -> Info:
        """The infos of the lanes of a mask; facts of a step only of those that took one and did not begin anew."""
        infos: Info = {}
        stepped = self._columns["elapsed"] > 0
        for one in self._info:
            lanes = mask
            if one.rule == "step":
                lanes = stepped if mask is None else stepped & mask
                if not after_step or not lanes.any():
                    continue
            if one.key == OUTCOME:  # by whichever rule: of lanes that have just begun there is none
                infos |= outcomes(self._columns[one.leaf.column.name], stepped if mask is None else stepped & mask)
                continue
            shown = self._columns[one.leaf.column.name].copy()
            if one.sizes:
                shown = lane_masks(shown, one.sizes, lanes)
            elif lanes is not None and not lanes.all():
                shown[~lanes] = 0
            infos[one.key] = shown
            infos[f"_{one.key}"] = np.ones(self.num_envs, np.bool_) if lanes is None else lanes.copy()
        return infos
