"""Gymnasium's passive checks as functions, answered by `PassiveEnvChecker` and by the spaces."""

from typing import Any

from ludus.core.env import AnyEnv
from ludus.errors import InvalidType, shorten
from ludus.interop.as_gymnasium.messages import warn
from ludus.spaces import Space
from ludus.wrappers import PassiveEnvChecker

__all__ = [
    "check_action_space",
    "check_obs",
    "check_observation_space",
    "check_space",
    "env_render_passive_checker",
    "env_reset_passive_checker",
    "env_step_passive_checker",
]


def check_space(space: Any, space_type: str, check_box_space_fn: Any = None) -> None:
    """Raise InvalidType unless it is a space; Ludus makes no space whose bounds are wrong."""
    del check_box_space_fn
    if not isinstance(space, Space):
        raise InvalidType(f"{space_type} space: expected a Space, got {shorten(space)}")


def check_observation_space(space: Any) -> None:
    """Raise InvalidType unless it is a space."""
    check_space(space, "observation")


def check_action_space(space: Any) -> None:
    """Raise InvalidType unless it is a space."""
    check_space(space, "action")


def check_obs(obs: Any, observation_space: Space[object], method_name: str) -> None:
    """Warn of each reason why an observation is not in its space."""
    for one in observation_space.validate(obs, f"{method_name} observation"):
        warn("%s", one)


def env_reset_passive_checker(env: AnyEnv, **kwargs: Any) -> Any:
    """Reset, and look at what comes."""
    return PassiveEnvChecker(env).reset(**kwargs)


def env_step_passive_checker(env: AnyEnv, action: Any) -> Any:
    """Step, and look at what comes."""
    return PassiveEnvChecker(env).step(action)


def env_render_passive_checker(env: AnyEnv) -> Any:
    """Render, and look at whether a mode was asked for."""
    return PassiveEnvChecker(env).render()
