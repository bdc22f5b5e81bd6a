"""Programs that the registry has run behind a wall, and how it starts them: short, one question, one answer.

Not here: environments that live behind a wall, which are in `ludus.sandbox.environment`.
"""

__all__: list[str] = []
