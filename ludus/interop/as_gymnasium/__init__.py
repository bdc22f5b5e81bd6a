"""Ludus in Gymnasium's place: `import gymnasium` gives Ludus, in this process and in those it starts.

`python -m ludus.interop.as_gymnasium script.py …` runs an unmodified program so; `install()` does it from within one.
"""

from ludus.interop.as_gymnasium.installation import install, installed

__all__ = ["install", "installed"]
