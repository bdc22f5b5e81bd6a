"""Certificates of the world's authorities, read once: no test speaks to anybody who needs them.

Each `httpx.get` makes a client, each client a context, and each context reads all of these anew: 70 ms of the processor
for a request to this machine that takes one. Contexts that a test makes itself are its own.
"""

import ssl
from functools import cache
from typing import Any

from httpx._transports import default


def read_once() -> None:
    """From here on, clients that ask for nothing particular share one context."""
    make: Any = default.create_ssl_context
    plain = cache(make)

    def create(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        return plain() if verify is True and cert is None and trust_env else make(verify, cert, trust_env)

    default.create_ssl_context = create  # pyright: ignore[reportPrivateImportUsage]
