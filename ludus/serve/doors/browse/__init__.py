"""What the pages ask for: the catalogue, an environment's page, its picture, and play, as JSON.

Not here: the pages themselves, which are in `ludus.web`.
"""

from ludus.serve.doors.browse.routes import routes

__all__ = ["routes"]
