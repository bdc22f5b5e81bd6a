"""`Remote`: what one environment and a batch at a server have in common; its methods are talks, without I/O."""

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from ludus.client.handle import Handle, take_handle
from ludus.client.session import WireSession
from ludus.client.talk import Talk
from ludus.core import EnvSpec
from ludus.core.spec import load_entry_point
from ludus.errors import CodecError, ContractViolation, InvalidArgument, InvalidValue, LudusError, shorten
from ludus.wire import SpaceCodec, decode_value, encode_value, read_space
from ludus.wire.message import RenderRequest, StateRequest, ValueReply
from ludus.wire.network import ForkReply, ForkRequest

__all__ = ["Remote", "travelling"]

PICTURES = (np.ndarray, str, list, tuple, type(None))
LONGEST_MODE = 100
PNG = "ludus.wire.pictures"
"""By name: most observations are none."""


class Remote:
    """A session with what its welcome told: spaces, metadata, render mode, spec. Nothing of it is trusted unseen."""

    seed: Any
    """The seed of the environment's stream, as far as this side knows it."""

    def __init__(self, session: WireSession) -> None:
        self.session = session
        welcome: Any = session.welcome
        self.single_observation_space = self._space(welcome.observation_space, "observation_space")
        self.single_action_space = self._space(welcome.action_space, "action_space")
        self.metadata = self._metadata(welcome.metadata)
        self.render_mode: str | None = welcome.render_mode
        mode = self.render_mode
        if mode is not None and (not mode.isprintable() or len(mode) > LONGEST_MODE):
            raise ContractViolation(f"{self.name} render_mode: expected a word, got {shorten(self.render_mode)}")
        self.spec = _spec(welcome.spec)
        self._pictures = welcome.pictures == "png"

    @property
    def name(self) -> str:
        """Of the environment, for messages."""
        return self.session.name

    def _space(self, data: Any, name: str) -> Any:
        try:
            return deepcopy(_known_space(msgspec.msgpack.encode(data), name))
        except CodecError as error:
            raise ContractViolation(f"{self.name}: {error}") from error

    def _metadata(self, data: Any) -> dict[str, Any]:
        try:
            found = decode_value(data, "metadata")
        except CodecError as error:
            raise ContractViolation(f"{self.name}: {error}") from error
        modes = found.get("render_modes", []) if isinstance(found, dict) else None
        if not isinstance(modes, list | tuple) or not all(isinstance(mode, str) for mode in modes):
            raise ContractViolation(f"{self.name} metadata: expected a list of render_modes, got {shorten(modes)}")
        # The window of a server is of no use here.
        return {**found, "render_modes": [mode for mode in modes if mode != "human"]}

    def _codec(self, space: Any, name: str, single: Any = None) -> SpaceCodec:
        """The codec of observations, pictures as they were agreed on."""
        return (
            load_entry_point(f"{PNG}:PictureCodec")(space, name, single) if self._pictures else SpaceCodec(space, name)
        )

    def _read(self, read: Callable[[Any], Any], data: Any) -> Any:
        """What the server gave, which is in its space."""
        try:
            return read(data)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(f"{self.name}: {error}") from error

    # --- what is asked of one and of a batch ---

    def render(self) -> Talk[Any]:
        """The current picture: an array, text, or several of these."""
        reply = yield from self.session.ask(RenderRequest(), ValueReply)
        read = load_entry_point(f"{PNG}:read_render") if self._pictures else lambda data: decode_value(data, "render")
        picture = self._read(read, reply.value)
        if not isinstance(picture, PICTURES):
            raise ContractViolation(f"{self.name}.render: expected an array, text or a list, got {shorten(picture)}")
        return picture

    def state(self, *, private: bool = False) -> Talk[dict[str, Any]]:
        """What the environment shows of its episode, with the episode's name and the number of its steps."""
        reply = yield from self.session.ask(StateRequest(private), ValueReply)
        found = self._read(lambda data: decode_value(data, "state"), reply.value)
        if not isinstance(found, dict):
            raise ContractViolation(f"{self.name}.state: expected a dictionary, got {shorten(found)}")
        return found

    def snapshot(self, line: Any = None) -> Talk[Handle]:
        """Have the state kept at the server."""
        return (yield from take_handle(self.session, self.seed, line))

    def restore(self, handle: Handle) -> Talk[None]:
        """Go back to a snapshot of this session."""
        yield from handle.restore(self.session)
        self.seed = handle.mine

    def fork(self) -> Talk[str]:
        """The id of a new session that goes on from here."""
        reply = yield from self.session.ask(ForkRequest(), ForkReply)
        return reply.session

    def move(self, session: str, handle: Handle) -> Talk[None]:
        """Go on with a session that was forked from a snapshot of another one."""
        yield from self.session.attach(session)
        self.seed = handle.mine

    def close(self) -> Talk[None]:
        """Have the session closed, and end the connection."""
        return self.session.close()


@lru_cache(maxsize=64)
def _known_space(data: bytes, name: str) -> Any:
    """The space of a description: typed values of two connections to one environment are of one class."""
    return read_space(msgspec.msgpack.decode(data), name)


def travelling(value: Any, name: str) -> Any:
    """A value as data; InvalidArgument names what cannot travel."""
    try:
        return encode_value(value, name)
    except CodecError as error:
        raise InvalidArgument(str(error)) from error


def _spec(text: str) -> EnvSpec | None:
    """The spec that the server told, where it is one: nothing is loaded by it."""
    try:
        return EnvSpec.from_json(text) if text else None
    except LudusError:
        return None
