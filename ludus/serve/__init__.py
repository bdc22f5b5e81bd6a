"""An environment as a service: sessions, their limits, who may do what, and the doors through which they are used.

Not here: the messages, which are in `ludus.wire`, and what connects to a server, which is `ludus.client`.
"""

import sys
from typing import TYPE_CHECKING, Any

from ludus.serve.access import Access, Principal
from ludus.serve.room import Room, loaded
from ludus.serve.served import Served
from ludus.serve.sessions import Sessions
from ludus.serve.settings import Settings

if TYPE_CHECKING:
    from ludus.serve.app import create_app
    from ludus.serve.run import Running, serve

__all__ = ["Access", "Principal", "Running", "Served", "Sessions", "Settings", "create_app", "serve"]

LATER = {
    "Running": "ludus.serve.run:Running",
    "create_app": "ludus.serve.app:create_app",
    "serve": "ludus.serve.run:serve",
}
"""What needs a web server is loaded when it is used."""


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module 'ludus.serve' has no attribute {name!r}")
    return loaded(LATER[name])


# `ludus.serve(…)` is a call of this room.
sys.modules[__name__].__class__ = Room
