"""The rules a space is held to, one function each, in files by theme.

Not here: their list and order, which is `SPACE_RULES` in `ludus.testing.space_contract`.
"""

__all__: list[str] = []
