"""`Handle`: a snapshot that stays behind the wall, of which this side holds the number."""

import weakref

from ludus.errors import SnapshotError
from ludus.sandbox.environment.resident import Resident, TenantEnded
from ludus.wire.message import DoneReply, RestoreRequest, SnapshotReply, SnapshotRequest

__all__ = ["Handle"]


class Handle:
    """A snapshot that a process keeps: it fits that process only, and is forgotten there when it is here."""

    def __init__(self, resident: Resident) -> None:
        request = SnapshotRequest(list(resident.dropped))
        try:
            reply = resident.ask(request, SnapshotReply, resident.deadlines.other)
        except TenantEnded as ended:
            raise ended.ending.error(f"{resident.name}.snapshot") from None
        resident.dropped.clear()
        self.number, self.resident, self.start = reply.number, resident, resident.starts
        weakref.finalize(self, resident.drop, reply.number, resident.starts)

    def restore(self, resident: Resident) -> None:
        """Go back to it."""
        if resident is not self.resident or resident.starts != self.start or resident.tenant is None:
            raise SnapshotError(
                f"restore: expected a snapshot of {resident.name} in the process that it is in, got one of another: "
                "the state of a confined environment stays with its process"
            )
        try:
            resident.ask(RestoreRequest(self.number), DoneReply, resident.deadlines.other)
        except TenantEnded as ended:
            raise ended.ending.error(f"{resident.name}.restore") from None
