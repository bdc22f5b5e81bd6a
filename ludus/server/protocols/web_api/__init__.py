"""What the pages ask for: the catalogue, an environment's page, its picture, and play, as JSON.

Not here: the pages themselves, which are in `ludus.web`.
"""

from ludus.server.protocols.web_api.routes import routes

__all__ = ["routes"]
