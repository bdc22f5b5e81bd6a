"""One transform, any batch: every wrapper is one class, for one environment and for a batch of them.

Not here: executors, which run many environments, and the `Wrapper` contract itself, which is in `ludus.core`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.wrappers.actions import ClipAction, RescaleAction, TransformAction
    from ludus.wrappers.atari import AtariPreprocessing
    from ludus.wrappers.autoreset import Autoreset
    from ludus.wrappers.coerce_action import CoerceAction
    from ludus.wrappers.conversion import ArrayConversion, JaxToNumpy, JaxToTorch, NumpyToTorch
    from ludus.wrappers.delay import DelayObservation
    from ludus.wrappers.discretize import DiscretizeAction, DiscretizeObservation
    from ludus.wrappers.frame_stack import FrameStackObservation
    from ludus.wrappers.infos import DictInfoToList
    from ludus.wrappers.max_and_skip import MaxAndSkipObservation
    from ludus.wrappers.normalize import NormalizeObservation, NormalizeReward, RunningMeanStd
    from ludus.wrappers.observations import (
        DtypeObservation,
        FilterObservation,
        FlattenObservation,
        GrayscaleObservation,
        RescaleObservation,
        ReshapeObservation,
        TransformObservation,
    )
    from ludus.wrappers.opponent import PlayAgainst
    from ludus.wrappers.order_enforcing import OrderEnforcing
    from ludus.wrappers.passive_env_checker import ContractWarning, PassiveEnvChecker
    from ludus.wrappers.pictures import AddWhiteNoise, HumanRendering, ObstructView, RecordVideo, RenderCollection
    from ludus.wrappers.render_observation import AddRenderObservation
    from ludus.wrappers.repeat_action import RepeatAction
    from ludus.wrappers.resize import ResizeObservation
    from ludus.wrappers.rewards import ClipReward, TransformReward
    from ludus.wrappers.statistics import RecordEpisodeStatistics
    from ludus.wrappers.sticky_action import StickyAction
    from ludus.wrappers.time_aware import TimeAwareObservation
    from ludus.wrappers.time_limit import TimeLimit
    from ludus.wrappers.transform import ActionTransform, ObservationTransform, RewardTransform, Transform
    from ludus.wrappers.vectorize import (
        VectorizeTransformAction,
        VectorizeTransformObservation,
        VectorizeTransformReward,
    )
    from ludus.wrappers.wrapper_list import wrap, wrapper_of

_HOME = {
    "ClipAction": "actions",
    "RepeatAction": "repeat_action",
    "RescaleAction": "actions",
    "StickyAction": "sticky_action",
    "TransformAction": "actions",
    "AtariPreprocessing": "atari",
    "Autoreset": "autoreset",
    "CoerceAction": "coerce_action",
    "ArrayConversion": "conversion",
    "JaxToNumpy": "conversion",
    "JaxToTorch": "conversion",
    "NumpyToTorch": "conversion",
    "DelayObservation": "delay",
    "DiscretizeAction": "discretize",
    "DiscretizeObservation": "discretize",
    "FrameStackObservation": "frame_stack",
    "DictInfoToList": "infos",
    "MaxAndSkipObservation": "max_and_skip",
    "NormalizeObservation": "normalize",
    "NormalizeReward": "normalize",
    "RunningMeanStd": "normalize",
    "DtypeObservation": "observations",
    "FilterObservation": "observations",
    "FlattenObservation": "observations",
    "GrayscaleObservation": "observations",
    "RescaleObservation": "observations",
    "ReshapeObservation": "observations",
    "TransformObservation": "observations",
    "PlayAgainst": "opponent",
    "OrderEnforcing": "order_enforcing",
    "ContractWarning": "passive_env_checker",
    "PassiveEnvChecker": "passive_env_checker",
    "AddWhiteNoise": "pictures",
    "HumanRendering": "pictures",
    "ObstructView": "pictures",
    "RecordVideo": "pictures",
    "RenderCollection": "pictures",
    "AddRenderObservation": "render_observation",
    "ResizeObservation": "resize",
    "ClipReward": "rewards",
    "TransformReward": "rewards",
    "RecordEpisodeStatistics": "statistics",
    "TimeAwareObservation": "time_aware",
    "TimeLimit": "time_limit",
    "ActionTransform": "transform",
    "ObservationTransform": "transform",
    "RewardTransform": "transform",
    "Transform": "transform",
    "VectorizeTransformAction": "vectorize",
    "VectorizeTransformObservation": "vectorize",
    "VectorizeTransformReward": "vectorize",
    "wrap": "wrapper_list",
    "wrapper_of": "wrapper_list",
}
"""Where each name lives: a wrapper is loaded when it is first named, which keeps `import ludus` light."""

__all__ = [
    "ActionTransform",
    "AddRenderObservation",
    "AddWhiteNoise",
    "ArrayConversion",
    "AtariPreprocessing",
    "Autoreset",
    "ClipAction",
    "ClipReward",
    "CoerceAction",
    "ContractWarning",
    "DelayObservation",
    "DictInfoToList",
    "DiscretizeAction",
    "DiscretizeObservation",
    "DtypeObservation",
    "FilterObservation",
    "FlattenObservation",
    "FrameStackObservation",
    "GrayscaleObservation",
    "HumanRendering",
    "JaxToNumpy",
    "JaxToTorch",
    "MaxAndSkipObservation",
    "NormalizeObservation",
    "NormalizeReward",
    "NumpyToTorch",
    "ObservationTransform",
    "ObstructView",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "PlayAgainst",
    "RecordEpisodeStatistics",
    "RecordVideo",
    "RenderCollection",
    "RepeatAction",
    "RescaleAction",
    "RescaleObservation",
    "ReshapeObservation",
    "ResizeObservation",
    "RewardTransform",
    "RunningMeanStd",
    "StickyAction",
    "TimeAwareObservation",
    "TimeLimit",
    "Transform",
    "TransformAction",
    "TransformObservation",
    "TransformReward",
    "VectorizeTransformAction",
    "VectorizeTransformObservation",
    "VectorizeTransformReward",
    "wrap",
    "wrapper_of",
]


def __getattr__(name: str) -> object:
    if name == "vector":  # Gymnasium's; not AttributeError, of which `from ludus.wrappers import vector` keeps the name
        raise ImportError(
            "ludus.wrappers: expected a name of Ludus, got 'vector', which is Gymnasium's; "
            "write ludus.wrappers.NAME(envs): one class wraps one environment and a batch"
        )
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
