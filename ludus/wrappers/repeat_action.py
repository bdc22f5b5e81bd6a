"""Actions that are taken several times."""

from ludus.core import Env, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import info_of, joined
from ludus.wrappers.argument import positive
from ludus.wrappers.steered import Steered

__all__ = ["RepeatAction"]


class RepeatAction(Steered[ObsT, ActT, ObsT, ActT]):
    """Takes each action `num_repeats` times, or until the episode ends, and adds up the rewards.

    >>> import ludus
    >>> env = RepeatAction(ludus.make("GridWorld-v0"), 3)
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [3, 0]
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT], num_repeats: int) -> None:
        super().__init__(env)
        self.num_repeats = positive("num_repeats", num_repeats)

    def advance(self, action: ActT) -> Step[ObsT]:
        """Step up to `num_repeats` times."""
        if self._lead:
            return self._advance_lanes(action)
        step = self.env.step(action)
        total = float(step[1])
        for _ in range(self.num_repeats - 1):
            if step[2] or step[3]:
                break
            step = self.env.step(action)
            total += float(step[1])
        return Step(step[0], total, step[2], step[3], step[4])

    def _advance_lanes(self, action: ActT) -> Step[ObsT]:
        below = self._batch_below
        step = Step.of(below.step(action))
        going = self.moving(step)
        for _ in range(self.num_repeats - 1):
            if not going.any():
                break
            again = Step.of(below.step_masked(action, going))
            info = joined(info_of(step.info, ~going), again.info)
            flags = step.terminated | again.terminated, step.truncated | again.truncated
            step = Step(again.observation, step.reward + again.reward, *flags, info)
            going = going & ~(again.terminated | again.truncated)
        return step
