"""Order: `reset` comes before `step` and `render`, and again after an episode's end."""

from typing import Any, TypeVar

from ludus.core import Env, EnvSpec, Hooked, Info, Step
from ludus.core.options import Options
from ludus.errors import ResetNeeded
from ludus.seeding import Seed

__all__ = ["OrderEnforcing"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")


class OrderEnforcing(Hooked[ObsT, ActT, ObsT, ActT]):
    """Raises ResetNeeded where an environment would give undefined results.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> OrderEnforcing(GridWorld()).step(0)
    Traceback (most recent call last):
    ludus.errors.ResetNeeded: step: expected reset() first, got no reset yet
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT], disable_render_order_enforcing: bool = False) -> None:
        super().__init__(env)
        self._needs: str = "no reset yet"
        self._has_reset = False
        self._single = not env.batch_shape
        self._disable_render_order_enforcing = disable_render_order_enforcing

    @property
    def has_reset(self) -> bool:
        """Whether the environment was reset since it was made."""
        return self._has_reset

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset; from here on `step` and `render` may be called."""
        result = self.env.reset(seed=seed, options=options)
        self._has_reset, self._needs = True, ""
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, if the episode is under way."""
        if self._needs:
            raise ResetNeeded(f"step: expected reset() first, got {self._needs}")
        result = self.env.step(action)
        if self._single and (result[2] or result[3]):
            self._needs = "an episode that has ended"
        return result

    def render(self) -> Any:
        """Render, if the environment was reset."""
        if not self._disable_render_order_enforcing and not self._has_reset:
            raise ResetNeeded("render: expected reset() first, got no reset yet")
        return self.env.render()

    @property
    def spec(self) -> EnvSpec | None:
        """The spec below with order enforced: `make` puts the wrapper there by itself."""
        below = self.env.spec
        if below is None or self._disable_render_order_enforcing:
            return super().spec  # `make` would put another one there
        return below.replace(order_enforce=True)
