"""SUMO-RL: traffic lights over real SUMO, one sandboxed process for a simulation, typed or all lights at once."""

from ludus.envs.open.sumo.signals import SumoRLSignals
from ludus.envs.open.sumo.sumo_rl import SumoAction, SumoObservation, SumoRL, SumoState
from ludus.envs.open.sumo.traffic import LightView, SumoConfig

__all__ = ["LightView", "SumoAction", "SumoConfig", "SumoObservation", "SumoRL", "SumoRLSignals", "SumoState"]
