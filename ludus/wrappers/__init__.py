"""One transform, any batch: every wrapper is one class, for one environment and for a batch of them.

Not here: executors, which run many environments, and the `Wrapper` contract itself, which is in `ludus.core`.
"""

from ludus.wrappers.actions import ClipAction, RepeatAction, RescaleAction, StickyAction, TransformAction
from ludus.wrappers.autoreset import Autoreset
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
from ludus.wrappers.order_enforcing import OrderEnforcing
from ludus.wrappers.passive_env_checker import ContractWarning, PassiveEnvChecker
from ludus.wrappers.rewards import ClipReward, TransformReward
from ludus.wrappers.statistics import RecordEpisodeStatistics
from ludus.wrappers.time_aware import TimeAwareObservation
from ludus.wrappers.time_limit import TimeLimit
from ludus.wrappers.transform import LaneWise, ObservationTransform, Transform
from ludus.wrappers.wrap import wrap, wrapper_of

__all__ = [
    "Autoreset",
    "ClipAction",
    "ClipReward",
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
    "LaneWise",
    "MaxAndSkipObservation",
    "NormalizeObservation",
    "NormalizeReward",
    "ObservationTransform",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RecordEpisodeStatistics",
    "RepeatAction",
    "RescaleAction",
    "RescaleObservation",
    "ReshapeObservation",
    "RunningMeanStd",
    "StickyAction",
    "TimeAwareObservation",
    "TimeLimit",
    "Transform",
    "TransformAction",
    "TransformObservation",
    "TransformReward",
    "wrap",
    "wrapper_of",
]
