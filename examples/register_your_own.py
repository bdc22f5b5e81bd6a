"""Give your own environment a name: register it, find it, make it, and make it again from text."""

import ludus
from ludus.spaces import Discrete


class Countdown(ludus.Env[int, int]):
    """Say how much to take away; the last one to reach zero exactly is paid."""

    def __init__(self, start: int = 10) -> None:
        self.start = start
        self.observation_space = Discrete(start + 1)
        self.action_space = Discrete(3, start=1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.start
        return self.left, {}

    def step(self, action):
        self.left = max(self.left - int(action), 0)
        return ludus.Step.termination(0, 1.0) if self.left == 0 else ludus.Step.transition(self.left)


ludus.register("my/Countdown-v0", Countdown, max_episode_steps=20, tags=("counting",), description="Count to zero.")

for spec in ludus.list_envs("zero", namespace="my"):
    print(f"found {spec.id}: {spec.description}")

env = ludus.make("my/Countdown", start=5)  # the newest version, with an argument of its own
env.reset(seed=0)
print(env.step(3))

again = ludus.make(env.spec)  # the same arguments, the same wrappers
print(again.spec == env.spec, again)
