"""The pages: static files that every server shows at its root. No build step, no outside address.

Not here: the data they show, which the protocols of `ludus.server` give.
"""

from ludus.web.pages import routes

__all__ = ["routes"]
