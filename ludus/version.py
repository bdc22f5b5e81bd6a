"""The version of this library, for whatever states it; below all else, since `ludus` itself imports every room."""

__all__ = ["__version__"]

__version__ = "0.1.0"
