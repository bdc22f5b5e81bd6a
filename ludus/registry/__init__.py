"""From a name to an environment: ids, specs, search, `make`, and the plugins that other packages bring.

Not here: the environments themselves, which are reached through entry points only, when one is made.
"""

from ludus.registry.make import make
from ludus.registry.make_vec import make_vec
from ludus.registry.shared import list_envs, namespace, pprint_registry, register, register_envs, registry, spec
from ludus.registry.table import Registry
from ludus.registry.trust import trust

__all__ = [
    "Registry",
    "list_envs",
    "make",
    "make_vec",
    "namespace",
    "pprint_registry",
    "register",
    "register_envs",
    "registry",
    "spec",
    "trust",
]
