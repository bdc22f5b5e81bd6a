"""Hostile environments: they run behind the wall, own their process and its channel, and say what they like on it."""

__all__: list[str] = []
