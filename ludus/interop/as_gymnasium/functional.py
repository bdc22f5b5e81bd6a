"""`FuncEnv`: an environment as functions of its state, as Gymnasium's experimental interface has it."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ludus.core.options import Options
from ludus.spaces import Space

__all__ = [
    "ActType",
    "FuncEnv",
    "ObsType",
    "Params",
    "RenderStateType",
    "RewardType",
    "StateType",
    "TerminalType",
]

StateType = TypeVar("StateType")
ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")
RewardType = TypeVar("RewardType")
TerminalType = TypeVar("TerminalType")
RenderStateType = TypeVar("RenderStateType")
Params = TypeVar("Params")


class FuncEnv(Generic[StateType, ObsType, ActType, RewardType, TerminalType, RenderStateType, Params]):
    """The rules of an environment, without a state of its own; in Ludus, `ludus.kernels.Rules` are what compiles.

    >>> class Count(FuncEnv):
    ...     def initial(self, rng, params=None):
    ...         return 0
    ...     def transition(self, state, action, rng, params=None):
    ...         return state + action
    >>> rules = Count()
    >>> rules.transition(rules.initial(None), 3, None)
    3
    """

    observation_space: Space[object]
    action_space: Space[object]

    def __init__(self, options: Options | None = None) -> None:
        self.__dict__.update(options or {})
        self.default_params = self.get_default_params()

    def _undefined(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} defines no {name}(…)")

    def initial(self, rng: Any, params: Params | None = None) -> StateType:
        """A first state."""
        raise self._undefined("initial")

    def transition(self, state: StateType, action: ActType, rng: Any, params: Params | None = None) -> StateType:
        """The state that follows an action."""
        raise self._undefined("transition")

    def observation(self, state: StateType, rng: Any, params: Params | None = None) -> ObsType:
        """What is seen of a state."""
        raise self._undefined("observation")

    def reward(
        self, state: StateType, action: ActType, next_state: StateType, rng: Any, params: Params | None = None
    ) -> RewardType:
        """What a transition is worth."""
        raise self._undefined("reward")

    def terminal(self, state: StateType, rng: Any, params: Params | None = None) -> TerminalType:
        """Whether the episode ends in a state."""
        raise self._undefined("terminal")

    def state_info(self, state: StateType, params: Params | None = None) -> dict[str, Any]:
        """More about a state."""
        return {}

    def transition_info(
        self, state: StateType, action: ActType, next_state: StateType, params: Params | None = None
    ) -> dict[str, Any]:
        """More about a transition."""
        return {}

    def transform(self, func: Callable[[Callable[..., object]], Callable[..., object]]) -> None:
        """Put `func` around every rule, as to compile or to batch them."""
        names = ("initial", "transition", "observation", "reward", "terminal", "state_info", "transition_info")
        for name in names:
            setattr(self, name, func(getattr(self, name)))

    def render_image(
        self, state: StateType, render_state: RenderStateType, params: Params | None = None
    ) -> tuple[RenderStateType, object]:
        """A picture of a state."""
        raise self._undefined("render_image")

    def render_init(self, params: Params | None = None, **kwargs: object) -> RenderStateType:
        """What drawing needs from picture to picture."""
        raise self._undefined("render_init")

    def render_close(self, render_state: RenderStateType, params: Params | None = None) -> None:
        """Let go of what drawing needed."""
        raise self._undefined("render_close")

    def get_default_params(self, **kwargs: object) -> Params | None:
        """The parameters to use where none are given."""
        return None
