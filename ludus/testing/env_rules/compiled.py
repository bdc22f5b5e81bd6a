"""Rules about compiled rules: they compile, and a compiled batch is its lanes, played beside the single environment."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.core import AutoresetMode, VectorEnv
from ludus.errors import KernelError, LudusError
from ludus.spaces import Box, Discrete
from ludus.testing.equality import difference
from ludus.testing.report import error, warning
from ludus.testing.rule import Found, Unchecked, raised
from ludus.testing.subject import Subject
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit

if TYPE_CHECKING:
    from ludus.kernels.batch import KernelVectorEnv

__all__ = ["a_compiled_batch_is_its_lanes", "rules_can_be_compiled"]

EXACT = 2**53
"""Up to here an integer is a float without rounding."""
LANES, LIMIT = 64, 60
"""Short episodes: most that can go wrong goes wrong at their ends."""
STEPS_FOR_EACH = 1000
"""Steps of lanes for each step of a history that was asked for: 100,000 by default."""
Batch = VectorEnv[Any, Any]
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
    steps = max(1, subject.steps * STEPS_FOR_EACH // (LANES * len(AutoresetMode)))
    for mode in AutoresetMode:
        with _compiled(subject, mode) as compiled, _serial(subject, mode) as serial:
            parted = _parted(compiled, serial, mode, subject.seed, steps)
        if parted:
            message = f"a compiled batch, {mode.value}: expected what single environments give, got {parted}"
            yield error(message, FIX)
            return


def _has_rules(subject: Subject) -> bool:
    """Whether the bare environment is made of rules; the compiler is loaded for no other."""
    env = subject.env()
    if env.batch_shape or not hasattr(type(env.unwrapped), "rules"):
        return False
    from ludus.kernels import RuleEnv  # whoever has rules has loaded it

    return isinstance(env.unwrapped, RuleEnv)


def _bare(subject: Subject) -> Any:
    return subject.fresh().unwrapped


def _compiled(subject: Subject, mode: AutoresetMode) -> "KernelVectorEnv":
    from ludus.kernels.batch import KernelVectorEnv  # the compiler, which takes half a second to load

    return KernelVectorEnv(lambda: _bare(subject), LANES, autoreset_mode=mode, max_episode_steps=LIMIT, checks=True)


def _serial(subject: Subject, mode: AutoresetMode) -> Batch:
    return SerialVectorEnv([lambda: TimeLimit(_bare(subject), LIMIT)] * LANES, autoreset_mode=mode)


def _parted(compiled: Batch, serial: Batch, mode: AutoresetMode, seed: int, steps: int) -> str | None:
    """Where the two part, in words, or None."""
    ended = np.zeros(LANES, np.bool_)
    actions = _actions(compiled, seed)
    found = _compared("reset", lambda one: one.reset(seed=seed), compiled, serial)
    for number in range(1, steps + 1):
        if found is not None:
            return found
        if mode is AutoresetMode.DISABLED and ended.any():
            options = {"reset_mask": ended.copy()}
            label = f"reset before step {number}"
            found = _compared(label, lambda one, given=options: one.reset(options=given), compiled, serial)
            ended[:] = False
            continue
        action = next(actions)
        found = _compared(f"step {number}", lambda one, given=action: one.step(given), compiled, serial, ended)
    return found


def _compared(label: str, call: Any, compiled: Batch, serial: Batch, ended: Any = None) -> str | None:
    outcomes: list[Any] = []
    for one in (serial, compiled):
        try:
            outcomes.append(call(one))
        except Exception as failure:
            outcomes.append(failure)
    alone, together = outcomes
    failed = [isinstance(one, Exception) for one in outcomes]
    if all(failed):
        raise Unchecked(f"{label} raises, in one environment as in a batch: {raised(alone)}")
    if any(failed):
        told = [raised(one) if isinstance(one, Exception) else "no error" for one in outcomes]
        return f"{label}: {told[0]} alone, {told[1]} in the batch"
    if ended is not None:
        ended[:] = together[2] | together[3]
    names = ("observation", "reward", "terminated", "truncated", "info")
    parts = zip(names, alone, together, strict=True) if len(alone) == 5 else [("observation", alone[0], together[0])]
    for name, one, other in parts:
        apart = difference(_comparable(one), _comparable(other), name)
        if apart is not None:
            return f"{label}, {apart.path} (by lanes): {apart.left} alone, {apart.right} in the batch"
    return None


def _comparable(value: Any) -> Any:
    """Without the filler of lanes that say nothing, which is each executor's own."""
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for name, one in value.items():
        mask = value.get(f"_{name}")
        if isinstance(one, dict):
            found[name] = _comparable(one)
        elif isinstance(mask, np.ndarray) and isinstance(one, np.ndarray) and mask.dtype == np.bool_:
            found[name] = _numbers(one[mask])
        else:
            found[name] = one
    return found


def _numbers(values: Any) -> list[Any]:
    """An info may tell 1 here and 0.5 there: a column of a batch has one dtype, and what counts is the number."""
    whole = values.dtype.kind in "iu" and (not values.size or np.abs(values).max() < EXACT)
    return list(values.astype(np.float64) if whole else values)


def _actions(batch: Batch, seed: int) -> Iterator[Any]:
    """Actions of all lanes: half of them sampled, the others the same extreme again and again."""
    batch.action_space.seed(seed)
    single = batch.single_action_space
    while True:
        action: Any = batch.action_space.sample()
        for lane in range(LANES // 2, LANES):
            if isinstance(single, Discrete):
                action[lane] = single.start + lane % int(single.n)
            elif isinstance(single, Box):
                bound = single.low if lane % 2 else single.high
                action[lane] = np.where(np.isfinite(bound), bound, action[lane])
        yield action
