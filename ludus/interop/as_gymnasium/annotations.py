"""Names for annotations that programs import from Gymnasium, and the random generator's."""

from collections.abc import Callable
from typing import Any, SupportsFloat, TypeVar

import numpy as np
import numpy.typing as npt

from ludus.core.env import AnyEnv
from ludus.core.vector_env import AnyVectorEnv
from ludus.seeding import np_random

__all__ = [
    "RNG",
    "ActType",
    "ArrayType",
    "DoneStepType",
    "EnvCreator",
    "FlatType",
    "MaskNDArray",
    "ObsType",
    "RandomNumberGenerator",
    "RenderFrame",
    "T",
    "T_cov",
    "TerminatedTruncatedStepType",
    "VectorEnvCreator",
    "WrapperActType",
    "WrapperObsType",
    "np_random",
]

T = TypeVar("T")
T_cov = TypeVar("T_cov", covariant=True)
ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")
WrapperObsType = TypeVar("WrapperObsType")
WrapperActType = TypeVar("WrapperActType")
RenderFrame = TypeVar("RenderFrame")
ArrayType = TypeVar("ArrayType")

EnvCreator = Callable[..., AnyEnv]
VectorEnvCreator = Callable[..., AnyVectorEnv]
FlatType = Any
MaskNDArray = npt.NDArray[np.int8]
DoneStepType = tuple[Any, SupportsFloat, bool, dict[str, Any]]
TerminatedTruncatedStepType = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]
RNG = RandomNumberGenerator = np.random.Generator
