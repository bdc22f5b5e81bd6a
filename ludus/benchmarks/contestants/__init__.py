"""Those who can be timed: one file each, run by `ludus.benchmarks.driver` in a process of its own.

Those of other libraries import nothing of Ludus: they run under whatever interpreter has the library.
"""

__all__: list[str] = []
