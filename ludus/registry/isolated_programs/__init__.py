"""Programs that the registry has run in a sandbox, and how it starts them: short, one question, one answer.

Not here: environments that live in a sandbox, which are in `ludus.sandbox.environment`.
"""

__all__: list[str] = []
