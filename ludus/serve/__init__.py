"""An environment as a service: sessions, their limits, who may do what, and the doors through which they are used.

Not here: the messages, which are in `ludus.wire`, and what connects to a server, which is `ludus.client`.
"""

from ludus.serve.access import Access, Principal
from ludus.serve.served import Served
from ludus.serve.sessions import Sessions
from ludus.serve.settings import Settings

__all__ = ["Access", "Principal", "Served", "Sessions", "Settings"]
