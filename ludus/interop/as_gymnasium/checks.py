"""Gymnasium's environment checker, answered by the contract suite of `ludus.testing`."""

from collections.abc import Collection
from typing import Any

import numpy as np

from ludus.core import Env, Info
from ludus.core.env import AnyEnv
from ludus.errors import ContractViolation, InvalidType, shorten
from ludus.interop.as_gymnasium.messages import warn as tell
from ludus.spaces.kinds import is_dict, is_list_or_tuple
from ludus.testing import Finding
from ludus.testing import check_env as examine
from ludus.testing.equality import difference

__all__ = [
    "check_env",
    "check_environments_match",
    "check_reset_options",
    "check_reset_return_type",
    "check_reset_seed_determinism",
    "check_returned_data_not_reused",
    "check_step_determinism",
    "data_equivalence",
]

FORM = ("makes-an-env", "spaces-are-spaces", "reset-takes-seed-and-options", "reset-returns-a-pair")
STEPS = (*FORM, "step-returns-five", "episodes-run")
RETURN_TYPE = (*FORM, "observations-in-space")
SEEDING = (*FORM, "reset-seeds-np-random")
DETERMINISM = (*STEPS, *SEEDING, "global-random-untouched", "same-seed-same-history")
OWNERSHIP = (*STEPS, "observations-are-the-callers", "infos-are-the-callers")
CHECKED_THERE = {*RETURN_TYPE, *DETERMINISM, *OWNERSHIP, "close-runs"}
"""The rules of the contract that Gymnasium's checker has as well: breaking another is no reason to stop a program."""
HISTORY_STEPS = 25
"""Steps of a history: Gymnasium's checker makes three."""


def _findings(env: AnyEnv) -> tuple[Finding, ...]:
    if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidType(f"check_env: expected an environment derived from gymnasium.Env, got {shorten(env)}")
    return examine(env, steps=HISTORY_STEPS).findings


def _raise_for(env: AnyEnv, rules: Collection[str]) -> tuple[Finding, ...]:
    """Raise ContractViolation for breaches of these rules; give the others back."""
    found = _findings(env)
    broken = [one for one in found if one.level == "error" and one.rule in rules]
    if broken:
        raise ContractViolation("\n".join(map(str, broken)))
    return found


def check_env(
    env: AnyEnv, warn: bool | None = None, skip_render_check: bool = False, skip_close_check: bool = False
) -> None:
    """Raise ContractViolation where an env breaks what Gymnasium checks; warn of all else that the contract asks."""
    del warn, skip_close_check
    for one in _raise_for(env, CHECKED_THERE):
        if not (skip_render_check and "render" in one.rule):
            tell("%s", one, stacklevel=2)


def check_reset_return_type(env: AnyEnv) -> None:
    """Raise ContractViolation unless `reset` returns an observation and an info."""
    _raise_for(env, RETURN_TYPE)


def check_reset_options(env: AnyEnv) -> None:
    """Raise ContractViolation unless `reset` takes options."""
    _raise_for(env, FORM)


def check_reset_seed_determinism(env: AnyEnv) -> None:
    """Raise ContractViolation unless equal seeds give equal episodes."""
    _raise_for(env, DETERMINISM)


def check_step_determinism(env: AnyEnv, seed: int = 123) -> None:
    """Raise ContractViolation unless equal seeds and actions give equal steps."""
    del seed
    _raise_for(env, DETERMINISM)


def check_returned_data_not_reused(env: AnyEnv, seed: int = 123) -> None:
    """Raise ContractViolation where two calls return one object."""
    del seed
    _raise_for(env, OWNERSHIP)


NUMBERS: tuple[type[Any], ...] = (np.ndarray, np.number, float)


def data_equivalence(data_1: Any, data_2: Any, exact: bool = False) -> bool:
    """Whether two values are the same data, or nearly so unless `exact`.

    >>> data_equivalence({"x": np.array([0.3])}, {"x": np.array([0.1 + 0.2])})
    True
    """
    if difference(data_1, data_2) is None:
        return True
    if exact or type(data_1) is not type(data_2):
        return False
    if is_dict(data_1):
        return data_1.keys() == data_2.keys() and all(data_equivalence(data_1[key], data_2[key]) for key in data_1)
    if is_list_or_tuple(data_1):
        return len(data_1) == len(data_2) and all(map(data_equivalence, data_1, data_2))
    if isinstance(data_1, NUMBERS) and np.shape(data_1) == np.shape(data_2):
        same_kind = np.asarray(data_1).dtype == np.asarray(data_2).dtype
        return bool(same_kind and np.asarray(data_1).dtype != object and np.allclose(data_1, data_2, atol=1e-5))
    return False


def check_environments_match(
    env_a: AnyEnv,
    env_b: AnyEnv,
    num_steps: int,
    seed: int = 0,
    skip_obs: bool = False,
    skip_rew: bool = False,
    skip_terminal: bool = False,
    skip_truncated: bool = False,
    info_comparison: str = "equivalence",
    skip_render: bool = True,
) -> None:
    """Raise ContractViolation where two environments part ways under equal seeds and actions.

    `info_comparison` is `equivalence`, `superset` or `keys-superset` (of `env_a`'s infos over `env_b`'s), or `skip`.
    """
    skipped = {"observation": skip_obs, "reward": skip_rew, "terminated": skip_terminal, "truncated": skip_truncated}
    env_a.action_space.seed(seed)
    reset_a, reset_b = env_a.reset(seed=seed), env_b.reset(seed=seed)
    _match("reset observation", reset_a[0], reset_b[0], skip_obs)
    _match("reset info", *_comparable(reset_a[1], reset_b[1], info_comparison), False)
    for number in range(1, num_steps + 1):
        action = env_a.action_space.sample()
        step_a, step_b = tuple(env_a.step(action)), tuple(env_b.step(action))
        for place, (name, skip) in enumerate(skipped.items()):
            _match(f"step {number} {name}", step_a[place], step_b[place], skip)
        _match(f"step {number} info", *_comparable(step_a[4], step_b[4], info_comparison), False)
        if not skip_render:
            _match(f"step {number} picture", env_a.render(), env_b.render(), False)
        if step_a[2] or step_a[3]:
            reset_a, reset_b = env_a.reset(seed=seed), env_b.reset(seed=seed)
            _match("reset observation", reset_a[0], reset_b[0], skip_obs)


def _comparable(info_a: Info, info_b: Info, how: str) -> tuple[object, object]:
    if how == "skip":
        return None, None
    if how == "keys-superset":
        return sorted(set(info_a) & set(info_b)), sorted(info_b)
    return ({key: info_a[key] for key in info_b if key in info_a} if how == "superset" else info_a), info_b


def _match(what: str, one: object, other: object, skip: bool) -> None:
    if not skip and not data_equivalence(one, other):
        raise ContractViolation(f"{what}: expected the same of both, got {difference(one, other, 'value')}")
