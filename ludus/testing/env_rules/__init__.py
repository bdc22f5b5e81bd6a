"""The rules an environment is held to, one function each, in files by theme.

Not here: their list and order, which is `ENV_RULES` in `ludus.testing.env_contract`.
"""

__all__: list[str] = []
