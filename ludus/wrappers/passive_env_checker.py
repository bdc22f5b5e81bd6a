"""Passive checks: the first reset, step and render of an environment are looked at; the rest cost next to nothing."""

import warnings
from typing import Any, TypeGuard, TypeVar

import numpy as np

from ludus.core import Env, EnvSpec, Hooked, Info, Step
from ludus.core.options import Options, TrackedOptions
from ludus.core.outcome import OUTCOME, read_outcome
from ludus.errors import ContractViolation, InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.kinds import class_of, is_dict, is_tuple

__all__ = ["ContractWarning", "PassiveEnvChecker"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
FIX = "`ludus check module:Env` lists everything at once"


class ContractWarning(UserWarning):
    """An environment gives what its spaces do not promise; it still runs."""


def _is_number(value: object) -> TypeGuard[float | np.integer | np.floating]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


class PassiveEnvChecker(Hooked[ObsT, ActT, ObsT, ActT]):
    """Errors where the form of what an environment returns is wrong, warns where its content is; gives a `Step`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Old(GridWorld):
    ...     def reset(self, *, seed=None, options=None):
    ...         return super().reset(seed=seed)[0]
    >>> PassiveEnvChecker(Old()).reset()
    Traceback (most recent call last):
    ludus.errors.ContractViolation: Old.reset: expected (observation, info), got array([0, 0]); return both
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        self._name = type(env.unwrapped).__name__
        for name in ("observation_space", "action_space"):
            space = getattr(env, name, None)
            if not isinstance(space, Space):
                raise InvalidType(
                    f"{self._name}.{name}: expected a ludus Space, got {shorten(space)}; set it in __init__"
                )
        self._reset_checked = self._step_checked = self._render_checked = False

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset, and look at the first result."""
        given = TrackedOptions(options) if type(options) is dict and options else options
        if given is not options and isinstance(given, TrackedOptions):
            given.lend()
        result: object = self.env.reset(seed=seed, options=given)
        dropped = given.dropped() if given is not options and isinstance(given, TrackedOptions) else []
        if dropped:
            self._warn(f"reset options: expected to be read or refused, got {dropped}, which nobody looked at")
        if not self._reset_checked:
            got: object = result
            if not is_tuple(got) or len(got) != 2 or not is_dict(got[1]):
                raise ContractViolation(
                    f"{self._name}.reset: expected (observation, info), got {shorten(result)}; return both"
                )
            self._observe("reset", got[0])
            self._reset_checked = True
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, and look at the first result."""
        result: object = self.env.step(action)
        if not self._step_checked:
            self._check_step(result)
            self._step_checked = True
        if OUTCOME in result[4] and not self.batch_shape:
            result = self._with_outcome(Step(*result))
        return result if class_of(result) is Step else Step(*result)

    def render(self) -> Any:
        """Render, and look at whether a mode was asked for."""
        if not self._render_checked and self.render_mode is None:
            raise ContractViolation(
                f"{self._name}.render: expected a render_mode, got None; make it with render_mode=… "
                f"out of {list(self.metadata.get('render_modes') or [])}"
            )
        self._render_checked = True
        return self.env.render()

    def _check_step(self, result: object) -> None:
        if not is_tuple(result) or len(result) != 5:
            hint = (
                "adapt the old API with ludus.core.from_legacy"
                if is_tuple(result) and len(result) == 4
                else "return a ludus.Step"
            )
            raise ContractViolation(
                f"{self._name}.step: expected (observation, reward, terminated, truncated, info), "
                f"got {shorten(result)}; {hint}"
            )
        observation, reward, terminated, truncated, info = result
        if not is_dict(info):
            raise ContractViolation(f"{self._name}.step info: expected a dictionary, got {shorten(info)}")
        self._observe("step", observation)
        if self.batch_shape:
            return
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(flag, bool | np.bool_):
                self._warn(f"step {name}: expected a bool, got {shorten(flag)}")
        if not _is_number(reward):
            self._warn(f"step reward: expected a number, got {shorten(reward)}")
        elif not np.isfinite(reward):
            self._warn(f"step reward: expected a finite number, got {reward}")

    def _with_outcome(self, step: Step[ObsT]) -> Step[ObsT]:
        """The step with its outcome as one, or without what tells nothing; every end is looked at."""
        told = read_outcome(step.info[OUTCOME], f"{self._name}.step info['outcome']")
        if told is not None and not (step.terminated or step.truncated):
            self._warn(f"step info['outcome']: expected none before the last step, got {told.value!r}")
        rest = {key: value for key, value in step.info.items() if key != OUTCOME}
        return step._replace(info=rest if told is None else {**rest, OUTCOME: told})

    def _observe(self, where: str, observation: object) -> None:
        violations = self.observation_space.validate(observation, "observation")
        if violations:
            more = f" and {len(violations) - 1} more" if len(violations) > 1 else ""
            self._warn(f"{where} {violations[0]}{more}")

    def _warn(self, message: str) -> None:
        warnings.warn(f"{self._name}.{message}; {FIX}", ContractWarning, stacklevel=4)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec below with checks on: `make` puts the wrapper there by itself."""
        below = self.env.spec
        return None if below is None else below.replace(disable_env_checker=False)
