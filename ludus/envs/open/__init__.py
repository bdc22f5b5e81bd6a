"""Environments of the open kind: typed actions and observations, tools, and worlds that language models act in."""

from ludus.envs.open.echo import Echo, EchoAction, EchoObservation
from ludus.envs.open.echo_tools import EchoTools

__all__ = ["Echo", "EchoAction", "EchoObservation", "EchoTools"]
