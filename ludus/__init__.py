"""Ludus: one library for reinforcement-learning environments."""

__version__ = "0.1.0"
