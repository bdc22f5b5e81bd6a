"""Recorded runs as a page: what is asked of files, frames drawn by replay, a local server, one self-contained document.

Not here: the page itself, which is static files beside those of the servers' pages.
"""

from ludus.web.view.document import write_document
from ludus.web.view.service import show_runs
from ludus.web.view.viewer import Viewer

__all__ = ["Viewer", "show_runs", "write_document"]
