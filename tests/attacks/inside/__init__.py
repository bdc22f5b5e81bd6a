"""The attacks themselves: functions that run in the sandbox, from their source, with the standard library alone.

Each takes its aim and gives what it managed, as text; an OSError is isolation that held. They are safe without
isolation: they end by themselves, take little, and touch nothing but what they are aimed at.
"""

__all__: list[str] = []
