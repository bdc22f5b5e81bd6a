"""OpenSpiel: every game of `open_spiel` by one adapter, typed or as arrays, against opponents or by every seat."""

from ludus.envs.open.openspiel.arrays import OpenSpielArrays
from ludus.envs.open.openspiel.openspiel import OpenSpiel, OpenSpielAction, OpenSpielObservation, OpenSpielState

__all__ = ["OpenSpiel", "OpenSpielAction", "OpenSpielArrays", "OpenSpielObservation", "OpenSpielState"]
