"""Serving: requests from a channel, one after the other, until it closes."""

import gc

from ludus.errors import CodecError, ContractViolation
from ludus.sandbox.environment.channel import Channel, ChannelClosed
from ludus.sandbox.environment.inside.host import ConfinedHost
from ludus.wire.failures import write_failure
from ludus.wire.messages import CloseRequest, MakeRequest

__all__ = ["serve"]


def serve(channel: Channel, host: ConfinedHost | None = None) -> None:
    """Answer requests until the environment is closed, or the other side is gone."""
    host = ConfinedHost() if host is None else host
    try:
        while True:
            request = channel.receive()
            reply = host.answer(request)
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
