"""Typed actions: any object with the right fields becomes one of the author's class before the environment sees it."""

from typing import Any

from ludus.core import Env, EnvSpec, Hooked, Step
from ludus.core.env import ActT, ObsT
from ludus.errors import InvalidAction

__all__ = ["CoerceAction"]


class CoerceAction(Hooked[ObsT, ActT, ObsT, ActT]):
    """Makes actions of typed spaces what their author expects: of dictionaries, and of other classes with their fields.

    `make` puts it around typed environments. An action of the author's own class is passed on as it is.

    >>> from ludus.envs.open.echo import Echo
    >>> env = CoerceAction(Echo())
    >>> _ = env.reset()
    >>> env.step({"message": "hi"}).observation
    EchoObservation(echoed_message='hi', message_length=2)
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        self._model: type[object] | None = getattr(env.action_space, "model", None)

    def step(self, action: Any) -> Step[ObsT]:
        """Step by what the action stands for; InvalidAction where it stands for none."""
        if type(action) is not self._model:
            action = self.action_space.coerce(action, "action", InvalidAction)
        return self.env.step(action)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec below: `make` puts the wrapper there by itself."""
        return self.env.spec
