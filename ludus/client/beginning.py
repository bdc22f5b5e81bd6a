"""`begin`: the talk that opens a session, in the way that the server at the other end speaks."""

from typing import Any

from ludus.client.access import Access
from ludus.client.batch import Batch
from ludus.client.opening import Opening
from ludus.client.single import Single
from ludus.client.talk import Talk
from ludus.core.spec import load_entry_point
from ludus.errors import ConnectionLost

__all__ = ["begin"]

OPENENV = "ludus.client.openenv.remote:open_openenv"
"""By name: most programs never meet a server of another kind."""
ABSENT = (400, 401, 403, 404, 405, 426, 501)
"""What servers of another kind answer to a knock at our door."""


def begin(opening: Opening) -> Talk[Any]:
    """Open the session: what is at the other end, one environment or a batch."""
    session = opening.session()
    try:
        welcome = yield from session.open()
    except ConnectionLost as error:
        if not _is_of_another_kind(opening, error):
            raise
        return (yield from load_entry_point(OPENENV)(opening))
    try:
        return Batch(session) if welcome.lanes else Single(session)
    except BaseException:
        yield from session.close()
        raise


def _is_of_another_kind(opening: Opening, error: ConnectionLost) -> bool:
    """Whether a server is there, and has no door of ours."""
    return isinstance(opening.way, Access) and getattr(error.__cause__, "status", 0) in ABSENT
