"""`PolicyEnv`: a policy in a file as an environment, so that it can be run wherever environments can, sandboxed too.

A step takes what an agent sees and gives, as its observation, what the agent does. So nothing new is needed to load a
stranger's file in a sandbox, with the limits, deadlines and messages that environments have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Protocol

import numpy as np

from ludus.core import Info, Step
from ludus.core.env import Env
from ludus.core.options import Options
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, MissingExtra, shorten
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete, Space, from_json
from ludus.spaces.array_space import Array

__all__ = ["PolicyEnv"]

PolicyFunction = Callable[[Array], object]
"""What is done about what is seen."""
ALGORITHMS = ("PPO", "A2C", "DQN", "SAC", "TD3", "DDPG")
"""Of Stable-Baselines3, in the order in which they are tried: a file does not say which of them wrote it."""


class PolicyEnv(Env[object, object]):
    """The policy in a file; `kind` is how the file ends, `entry_point` the class of weights without one.

    >>> from ludus.spaces import to_json
    >>> PolicyEnv("nothing.txt", "", to_json(Discrete(2)), to_json(Discrete(2)))
    Traceback (most recent call last):
    ludus.errors.InvalidArgument: nothing.txt: expected a file ending in .zip, .pt, .onnx or .safetensors, got .txt
    """

    def __init__(self, path: str, entry_point: str, seen: str, acts: str) -> None:
        loaders = {".zip": _sb3, ".pt": _torchscript, ".onnx": _onnx, ".safetensors": _weights}
        kind = Path(path).suffix
        if kind not in loaders:
            raise InvalidArgument(f"{path}: expected a file ending in .zip, .pt, .onnx or .safetensors, got {kind}")
        self.action_space: Space[object] = from_json(seen)
        self.observation_space: Space[object] = from_json(acts)
        self._policy = loaders[kind](path, entry_point)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[object, Info]:
        """Nothing is done yet."""
        super().reset(seed=seed, options=options)
        return self.observation_space.default(), {}

    def step(self, action: object) -> Step[object]:
        """What the policy does about what it sees."""
        return Step(self._done(self._policy(np.asarray(action))), 0.0, False, False, {})

    def _done(self, given: object) -> object:
        """An action of the space: of numbers for each choice the greatest, else the numbers themselves."""
        space, found = self.observation_space, np.asarray(given)
        if isinstance(space, Discrete):
            scores = found.reshape(-1)
            return int(space.start + np.argmax(scores)) if scores.size > 1 else int(scores[0])
        if not isinstance(space, Box):
            raise InvalidType(f"policy: expected actions of a Discrete or a Box, got {shorten(space)}")
        return np.clip(found.reshape(space.shape).astype(space.dtype), space.low, space.high)


def _sb3(path: str, entry_point: str) -> PolicyFunction:
    del entry_point
    library = _imported("stable_baselines3", "stable-baselines3")
    problems: list[str] = []
    for name in ALGORITHMS:
        try:
            model = getattr(library, name).load(path, device="cpu")
        except Exception as error:  # whatever another algorithm stumbles over in this file
            problems.append(f"{name}: {error}")
        else:
            return lambda seen: model.predict(seen, deterministic=True)[0]
    raise InvalidArgument(f"{path}: expected a model of {', '.join(ALGORITHMS)}, got {problems[0]}")


def _torchscript(path: str, entry_point: str) -> PolicyFunction:
    del entry_point
    torch = _imported("torch", "torch")
    return _called(torch, torch.jit.load(path, map_location="cpu").eval())


def _weights(path: str, entry_point: str) -> PolicyFunction:
    if not entry_point:
        raise InvalidArgument(
            f"{path}: expected the class of these weights, as model.safetensors:module:Class, got none"
        )
    torch = _imported("torch", "torch")
    model = load_entry_point(entry_point)()
    model.load_state_dict(_imported("safetensors.torch", "safetensors").load_file(path))
    return _called(torch, model.eval())


class Tensor(Protocol):
    """What is used of a tensor of PyTorch's."""

    def numpy(self) -> object:
        """It as an array."""
        ...


def _called(torch: ModuleType, model: Callable[[object], Sequence[Tensor]]) -> PolicyFunction:
    def call(seen: Array) -> object:
        with torch.no_grad():
            return model(torch.as_tensor(seen)[None])[0].numpy()

    return call


def _onnx(path: str, entry_point: str) -> PolicyFunction:
    del entry_point
    session = _imported("onnxruntime", "onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda seen: session.run(None, {name: seen[None]})[0][0]


def _imported(name: str, package: str) -> ModuleType:
    from importlib import import_module  # which library it is, the file says

    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{name}: expected it to be installed, got {error}; pip install {package}") from error
