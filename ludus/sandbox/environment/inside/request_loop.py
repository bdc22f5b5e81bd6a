"""Serving: requests from a channel, one after the other, until it closes."""

import gc

from ludus.core.progress import reporting
from ludus.errors import CodecError, ContractViolation
from ludus.sandbox.environment.channel import ChannelClosed, MessageChannel
from ludus.sandbox.environment.inside.host import SandboxedHost
from ludus.sandbox.environment.reports import ChannelProgress
from ludus.wire.failures import write_failure
from ludus.wire.messages import CloseRequest, MakeRequest, Reply, ReportedStepRequest, Request, StepRequest

__all__ = ["serve"]


def serve(channel: MessageChannel[Request], host: SandboxedHost | None = None) -> None:
    """Answer requests until the environment is closed, or the other side is gone."""
    host = SandboxedHost() if host is None else host
    try:
        while True:
            request = channel.receive()
            reply = _reported(channel, host, request) if type(request) is ReportedStepRequest else host.answer(request)
            try:
                channel.send(reply)
            except CodecError as error:  # larger than a frame may be, say
                channel.send(write_failure(ContractViolation(f"{type(request).__name__}: {error}")))
            if type(request) is CloseRequest:
                return
            if type(request) is MakeRequest:
                gc.enable()  # off since the interpreter began: all that was imported is there to stay
    except ChannelClosed:
        return


def _reported(channel: MessageChannel[Request], host: SandboxedHost, request: ReportedStepRequest) -> Reply:
    """The reply to a step that says how far it is."""
    progress = ChannelProgress(channel)
    try:
        with reporting(progress):
            return host.answer(StepRequest(request.action))
    finally:
        progress.end()
