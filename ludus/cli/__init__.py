"""The `ludus` command: one file for each verb, which parses, calls the library and prints.

Not here: anything that a program could not do by `import ludus`.
"""

from ludus.cli.main import app

__all__ = ["app"]
