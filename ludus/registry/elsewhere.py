"""Namespaces of another library: it is asked for an environment when one of its namespace is wanted, and not before."""

from ludus.core import EnvId, EnvSpec
from ludus.core.entry_point import load_entry_point

__all__ = ["ADAPTERS", "from_elsewhere"]

RESOLVERS = {"gymnasium": "ludus.interop.gymnasium:resolve"}
"""For each namespace a function from the rest of the id to a spec; it raises UnknownEnvironment where there is none."""
ADAPTERS = {"ludus.interop.gymnasium": "gymnasium"}
"""For each module of ours that runs another library's environments, the library: also the namespace they have here."""


def from_elsewhere(id: EnvId) -> EnvSpec | None:
    """The spec that another library has under the id, or None where the namespace is no other library's."""
    namespace, _, rest = str(id).partition("/")
    resolver = RESOLVERS.get(namespace) if rest else None
    return None if resolver is None else load_entry_point(resolver, str(id))(rest)
