"""Audits: what installed environment packages are, and whether they keep to what they say.

Not here: walls, which hold whatever an audit says. An audit looks at what a package showed, once.
"""

from ludus.registry.audit.auditing import audit
from ludus.registry.audit.report import Audit, Declared, Finding, PackageAudit, ProbeRun, Unchecked

__all__ = ["Audit", "Declared", "Finding", "PackageAudit", "ProbeRun", "Unchecked", "audit"]
