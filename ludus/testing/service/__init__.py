"""Checks of environments that are shared: of a folder before it is published, and of a service at its address.

Not here: the contract itself, which both are held to, and which is in `ludus.testing`.
"""

from ludus.testing.service.checks import check_folder, check_url
from ludus.testing.service.checkup import Checkup

__all__ = ["Checkup", "check_folder", "check_url"]
