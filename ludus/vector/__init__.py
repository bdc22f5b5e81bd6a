"""Many environments behind one: executors, each an `Env` with a leading lane axis.

Not here: the contract they keep, which is `ludus.core.VectorEnv`.
"""

from ludus.vector.serial import SerialVectorEnv

__all__ = ["SerialVectorEnv"]
