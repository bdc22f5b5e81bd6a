"""Autoreset for one environment: an ended episode is followed by the next without asking."""

from ludus.core import Env, Hooked, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.options import Options
from ludus.errors import InvalidType
from ludus.seeding import Seed

__all__ = ["Autoreset"]


class Autoreset(Hooked[ObsT, ActT, ObsT, ActT]):
    """Resets on the step after an episode's end: that step's action is ignored and its reward is 0.

    >>> import ludus
    >>> env = Autoreset(ludus.make("Bandit-v0"))
    >>> _ = env.reset(seed=0)
    >>> env.step(0).terminated, env.step(0).terminated
    (True, False)
    """

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        if env.batch_shape:
            raise InvalidType(
                f"Autoreset: expected one environment, got a batch of {env.batch_shape}, which has a mode of its own"
            )
        self._over = False

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset by hand."""
        result = self.env.reset(seed=seed, options=options)
        self._over = False
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, or reset when the last step ended an episode."""
        if self._over:
            observation, info = self.env.reset()
            self._over = False
            return Step(observation, 0.0, False, False, info)
        step = self.env.step(action)
        self._over = bool(step[2] or step[3])
        return step
