"""Other worlds: environments of other libraries as Ludus's, and Ludus's as theirs; one module for each neighbour.

Nothing is loaded here: `ludus.interop.gymnasium` needs Gymnasium, `ludus.interop.as_gymnasium` stands in for it.
"""

__all__: list[str] = []
