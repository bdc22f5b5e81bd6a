"""An environment in a folder: its manifest, what it requires, the image it becomes, and where that is published.

Not here: serving it, which is in `ludus.server`.
"""

from ludus.packaging.scaffold import scaffold

__all__ = ["scaffold"]
