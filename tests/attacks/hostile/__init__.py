"""Hostile environments: they run in the sandbox, own their process and channel, and say what they like."""

__all__: list[str] = []
