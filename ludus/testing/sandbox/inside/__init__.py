"""The attacks themselves: functions that run behind the wall, from their source, with nothing but the standard library.

Each takes its aim and gives what it managed, as text; an OSError is a wall that held. They are safe without a wall:
they end by themselves, take little, and touch nothing but what they are aimed at.
"""

__all__: list[str] = []
