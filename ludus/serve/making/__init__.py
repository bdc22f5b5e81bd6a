"""Making and sharing an environment: the folder it lives in, the image it becomes, and where that is published."""

from ludus.serve.making.scaffold import scaffold

__all__ = ["scaffold"]
