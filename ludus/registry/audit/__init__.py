"""Audits: what installed environment packages are, and whether they keep to what they say.

Not here: isolation, which holds whatever an audit says. An audit looks at what a package showed, once.
"""

from ludus.registry.audit.report import Audit, AuditFinding, Declared, NotAudited, PackageAudit, ProbeRun
from ludus.registry.audit.run import audit

__all__ = ["Audit", "Declared", "AuditFinding", "PackageAudit", "ProbeRun", "NotAudited", "audit"]
