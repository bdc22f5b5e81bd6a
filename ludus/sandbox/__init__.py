"""Where untrusted code runs: one contract, several walls, and what each of them enforces.

Not here: which environments need a wall, which is in their specs and in `ludus.registry`.
"""

from ludus.sandbox.backend import Backend, Confined, Guarantees, Probe, Usage
from ludus.sandbox.policy import Limits, Mount, Policy
from ludus.sandbox.sandbox import Result, Sandbox, backend, backends, default_backend, probe

__all__ = [
    "Backend",
    "Confined",
    "Guarantees",
    "Limits",
    "Mount",
    "Policy",
    "Probe",
    "Result",
    "Sandbox",
    "Usage",
    "backend",
    "backends",
    "default_backend",
    "probe",
]
