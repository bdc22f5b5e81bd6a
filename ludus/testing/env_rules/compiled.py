"""Rules about compiled rules: they compile, and a compiled batch is its lanes, played beside the single environment."""

import math
from collections.abc import Callable
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from ludus.core import AutoresetMode, Info
from ludus.core.env import AnyEnv
from ludus.core.vector_env import AnyVectorEnv, Mask
from ludus.errors import KernelError, LudusError
from ludus.spaces import Box, Discrete
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array, is_dict, is_tuple
from ludus.testing.equality import difference
from ludus.testing.report import ReportNote, error, warning
from ludus.testing.rule import Found, Unchecked, raised
from ludus.testing.subject import Subject
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit

if TYPE_CHECKING:
    from ludus.kernels.batch import KernelVectorEnv

__all__ = ["a_compiled_batch_is_its_lanes", "rules_can_be_compiled"]

MAX_EXACT_INTEGER = 2**53
"""Up to here an integer is a float without rounding."""
LANES, LIMIT = 64, 60
"""Short episodes: most that can go wrong goes wrong at their ends."""
STEPS_FOR_EACH = 1000
"""Steps of lanes for each step of a history that was asked for: 100,000 by default, and in full in every mode."""
MAX_SECONDS = 5.0
"""Of a processor, unless it is asked for in full: interpreted rules may take a thousandth of one for each step."""
Batch = AnyVectorEnv
Call = Callable[[Batch], tuple[object, ...]]
"""`reset` or `step` of one of them."""
FIX = "change the rule at the line that is named; where values differ without an error, report it with the rules"


def rules_can_be_compiled(subject: Subject) -> Found:
    """An environment made of rules can be compiled."""
    if not _has_rules(subject):
        return
    try:
        _compiled(subject, AutoresetMode.NEXT_STEP).close()
    except KernelError as refused:
        where, _, cure = str(refused).rpartition("; ")
        yield warning(where, cure)
    except LudusError as refused:
        raise Unchecked(f"it is not compiled: {refused}") from refused


def a_compiled_batch_is_its_lanes(subject: Subject) -> Found:
    """Each lane of a compiled batch gives what the single environment gives, in every autoreset mode."""
    if not _has_rules(subject):
        return
    modes = len(AutoresetMode)
    steps = max(1, subject.steps * STEPS_FOR_EACH // (LANES * (1 if subject.full else modes)))
    seconds = math.inf if subject.full else MAX_SECONDS / modes
    played = 0
    for mode in AutoresetMode:
        with _compiled(subject, mode) as compiled, _serial(subject, mode) as serial:
            game = _Game(compiled, serial, mode, subject.seed)
            game.play(steps, process_time() + seconds)
        played += game.number
        if game.parted:
            message = f"a compiled batch, {mode.value}: expected what single environments give, got {game.parted}"
            yield error(message, FIX)
            return
    if played < steps * modes:
        share = f"{played * LANES:,} of {steps * modes * LANES:,} steps in {MAX_SECONDS:g} s"
        yield ReportNote(f"compiled rules were played beside single environments for {share}; --full plays all")


def _has_rules(subject: Subject) -> bool:
    """Whether the bare environment is made of rules; the compiler is loaded for no other."""
    env = subject.env()
    if env.batch_shape or not hasattr(type(env.unwrapped), "rules"):
        return False
    from ludus.kernels import RuleEnv  # whoever has rules has loaded it

    return isinstance(env.unwrapped, RuleEnv)


def _bare(subject: Subject) -> AnyEnv:
    return subject.fresh().unwrapped


def _compiled(subject: Subject, mode: AutoresetMode) -> "KernelVectorEnv":
    from ludus.kernels.batch import KernelVectorEnv  # the compiler, which takes half a second to load

    return KernelVectorEnv(lambda: _bare(subject), LANES, autoreset_mode=mode, max_episode_steps=LIMIT, checks=True)


def _serial(subject: Subject, mode: AutoresetMode) -> Batch:
    return SerialVectorEnv([lambda: TimeLimit(_bare(subject), LIMIT)] * LANES, autoreset_mode=mode)


class _Game:
    """A compiled batch and a serial one, stepped by the same actions."""

    def __init__(self, compiled: "KernelVectorEnv", serial: Batch, mode: AutoresetMode, seed: int) -> None:
        self.compiled, self.serial, self.mode, self.seed = compiled, serial, mode, seed
        self.number = 0
        self.parted: str | None = None
        """Where the two part, in words."""

    def play(self, steps: int, until: float) -> None:
        """Step until they part, or the time is over; at least as often as an episode is long, so that some end."""
        ended = np.zeros(LANES, np.bool_)
        actions = _Actions(self.compiled, self.seed)
        self._both("reset", lambda one: one.reset(seed=self.seed), actions)
        while self.parted is None and self.number < steps and (self.number < LIMIT or process_time() < until):
            self.number += 1
            if self.mode is AutoresetMode.DISABLED and ended.any():
                options = {"reset_mask": ended.copy()}
                label = f"reset before step {self.number}"
                self._both(label, lambda one, given=options: one.reset(options=given), actions)
                ended[:] = False
                continue
            action = actions.next()
            self._both(f"step {self.number}", lambda one, given=action: one.step(given), actions, ended)

    def _both(self, label: str, call: Call, actions: "_Actions", ended: Mask | None = None) -> None:
        self.parted, info = _compared(label, call, self.compiled, self.serial, ended)
        if "action_mask" in info:
            lanes = info["_action_mask"]
            actions.masks = [info["action_mask"][lane] if lanes[lane] else actions.masks[lane] for lane in range(LANES)]


def _compared(label: str, call: Call, compiled: Batch, serial: Batch, ended: Mask | None) -> tuple[str | None, Info]:
    """Where what two batches gave parts, in words, and the info of the compiled one."""
    outcomes: list[tuple[object, ...] | Exception] = []
    for one in (serial, compiled):
        try:
            outcomes.append(call(one))
        except Exception as failure:
            outcomes.append(failure)
    alone, together = outcomes
    if isinstance(alone, Exception) and isinstance(together, Exception):
        raise Unchecked(f"{label} raises, in one environment as in a batch: {raised(alone)}")
    if isinstance(alone, Exception) or isinstance(together, Exception):
        described = [raised(one) if isinstance(one, Exception) else "no error" for one in outcomes]
        return f"{label}: {described[0]} alone, {described[1]} in the batch", {}
    if ended is not None:
        ended[:] = np.asarray(together[2]) | np.asarray(together[3])
    names = ("observation", "reward", "terminated", "truncated", "info")
    given = names if len(alone) == len(names) else (names[0], names[-1])
    for name, one, other in zip(given, alone, together, strict=True):
        apart = difference(_comparable(one), _comparable(other), name)
        if apart is not None:
            return f"{label}, {apart.path} (by lanes): {apart.left} alone, {apart.right} in the batch", {}
    info = together[-1]
    return None, info if is_dict(info) else {}


def _comparable(value: object) -> object:
    """Without the filler of lanes that say nothing, which is each executor's own."""
    if not is_dict(value):
        return value
    found: dict[str, object] = {}
    for name, one in value.items():
        mask = value.get(f"_{name}")
        if is_dict(one):
            found[name] = _comparable(one)
        elif is_array(mask) and is_array(one) and mask.dtype == np.bool_:
            found[name] = _numbers(one[mask])
        else:
            found[name] = one
    return found


def _numbers(values: Array) -> list[object]:
    """An info may tell 1 here and 0.5 there: a column of a batch has one dtype, and what counts is the number."""
    whole = values.dtype.kind in "iu" and (not values.size or np.abs(values).max() < MAX_EXACT_INTEGER)
    return list(values.astype(np.float64) if whole else values)


class _Actions:
    """Actions of all lanes: half of them sampled, the others the same extreme again and again.

    Where rules tell what is legal, the sampled half is legal; where they refuse what is not, all are.
    """

    def __init__(self, batch: "KernelVectorEnv", seed: int) -> None:
        self.batch, self.single = batch, batch.single_action_space
        self.refuses = batch.rules.illegal == "refuse"
        self.masks: list[object] = [None] * LANES
        batch.action_space.seed(seed)
        self.single.seed(seed)

    def next(self) -> object:
        """The next action of every lane."""
        action = self.batch.action_space.sample()
        for lane in range(LANES):
            if self.masks[lane] is not None and (self.refuses or lane < LANES // 2):
                self._put(action, lane, self._legal(self.masks[lane]))
            elif lane >= LANES // 2:
                self._extreme(action, lane)
        return action

    def _legal(self, mask: object) -> object:
        """A legal action; of a lane that has none, which begins anew, any."""
        parts = mask if is_tuple(mask) else (mask,)
        over = mask is None or not all(np.asarray(one).any() for one in parts)
        return self.single.sample() if over else self.single.sample(mask=mask)

    def _put(self, action: object, lane: int, one: object) -> None:
        if is_tuple(action) and is_tuple(one):
            for column, part in zip(action, one, strict=True):
                if is_array(column):
                    column[lane] = part
        elif is_array(action):
            action[lane] = one

    def _extreme(self, action: object, lane: int) -> None:
        single = self.single
        if not is_array(action):
            return
        if isinstance(single, Discrete):
            action[lane] = single.start + lane % int(single.n)
        elif isinstance(single, Box):
            bound = single.low if lane % 2 else single.high
            action[lane] = np.where(np.isfinite(bound), bound, action[lane])
