"""`FileAgent`: the policy in a file, which is loaded in a sandbox unless its author is trusted."""

from __future__ import annotations

import os

from ludus.core import EnvSpec, Info
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, InvalidType
from ludus.evaluate.agents import FILES, Agent
from ludus.registry import make
from ludus.sandbox import Limits, Mount, Sandbox
from ludus.sandbox.environment.isolation import isolate
from ludus.spaces import ArraySpace, Space, to_json

__all__ = ["FileAgent"]

POLICY = "ludus.evaluate.policy_env:PolicyEnv"
LIMITS = Limits(wall=None, memory=4 << 30, processes=256, open_files=1024)
"""Libraries of neural networks take gigabytes of address space, and a thread for each core."""


class FileAgent(Agent):
    """A policy by its path: Stable-Baselines3 (.zip), TorchScript (.pt), ONNX (.onnx), or weights with their class.

    Weights are named with it, `model.safetensors:module:Class`. A pickle in a file is a program, and so is a class: by
    default both run in a sandbox that sees the file and the installed packages, and neither network nor other files;
    `sandbox` is another one. `trust=True` loads them in this process. Of numbers for each choice the greatest is taken.

    >>> FileAgent("model.onnx").name
    'model.onnx'
    """

    def __init__(self, text: str, *, trust: bool = False, sandbox: Sandbox | None = None) -> None:
        path, _, self.entry_point = text.partition(":")
        if not path.endswith(FILES):
            raise InvalidArgument(f"agent: expected a file ending in {', '.join(FILES)}, got {path!r}")
        self.path, self.name = os.path.realpath(path), os.path.basename(text)
        self.trust, self.sandbox = trust, sandbox
        self._env: AnyEnv | None = None

    def prepare(self, observation_space: Space[object], action_space: Space[object], num_envs: int) -> Agent:
        """Load the policy, once."""
        if not isinstance(observation_space, ArraySpace) or not isinstance(action_space, ArraySpace):
            raise InvalidType(
                f"{self.name}: expected arrays to see and to do, got {observation_space!r} and {action_space!r}"
            )
        if not os.path.isfile(self.path):
            raise InvalidArgument(f"agent: expected a file, got {self.path}, which is none")
        if self._env is None:
            arguments = {
                "path": self.path,
                "entry_point": self.entry_point,
                "seen": to_json(observation_space),
                "acts": to_json(action_space),
            }
            spec = EnvSpec("Policy-v0", POLICY, kwargs=arguments, disable_env_checker=True)
            self._env = make(spec, isolation="none") if self.trust else self._confined(spec)
            self._env.reset(seed=0)
        return super().prepare(observation_space, action_space, num_envs)

    def _confined(self, spec: EnvSpec) -> AnyEnv:
        box = Sandbox(limits=LIMITS, mounts=[Mount(self.path)]) if self.sandbox is None else self.sandbox
        own = [self.entry_point.partition(":")[0]] if self.entry_point else []
        return isolate(spec, sandbox=box, modules=own)

    def act(self, observation: object, info: Info, lane: int) -> object:
        """What the policy does."""
        del info, lane
        if self._env is None:
            raise InvalidType(f"{self.name}: expected prepare() first, got none yet")
        return self._env.step(observation).observation

    def close(self) -> None:
        """Let go of the policy, and of the sandbox."""
        if self._env is not None:
            self._env.close()
            self._env = None
