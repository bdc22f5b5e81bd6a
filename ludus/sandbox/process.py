"""`process`: a plain child process with limits. It is no boundary, and never chosen unless it is asked for by name."""

from collections.abc import Sequence

from ludus.errors import SandboxUnavailable
from ludus.sandbox.backend import Backend, Confined, Guarantees, Probe
from ludus.sandbox.means import kill_means, limit_means, process_limits
from ludus.sandbox.policy import Policy
from ludus.sandbox.probing import try_start
from ludus.sandbox.streams import Streams
from ludus.sandbox.supervised import launch

__all__ = ["Process"]


class Process(Backend):
    """Limits, a cleared environment and a certain end, for code that is trusted: it sees and may do all you may.

    >>> Process().guarantees(Policy()).boundary
    False
    """

    name = "process"
    boundary = False
    rank = 0

    def __init__(self) -> None:
        self._probe: Probe | None = None

    def probe(self) -> Probe:
        if self._probe is None or not self._probe.works:
            self._probe = try_start(self, ["/bin/sh", "-c", "exit 0"])
        return self._probe

    def guarantees(self, policy: Policy) -> Guarantees:
        moved = [mount.where for mount in policy.mounts if mount.where != mount.source]
        if moved:
            raise SandboxUnavailable(
                f"process: expected mounts at their own path, got {moved[0]}: it sees the host's files as they are; "
                "take the backend 'bubblewrap'"
            )
        return Guarantees(
            backend=self.name,
            boundary=False,
            **limit_means(policy.limits),
            disk="watched" if policy.limits.disk is not None else "",
            kill=kill_means(),
        )

    def start(
        self,
        argv: Sequence[str],
        policy: Policy,
        *,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        channel: int | None = None,
    ) -> Confined:
        return launch(
            argv,
            policy,
            self.guarantees(policy),
            limits=process_limits(policy.limits),
            walls=lambda _: [("privileges",)],
            streams=Streams(stdin, stdout, stderr),
            channel=channel,
        )
