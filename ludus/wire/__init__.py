"""Values as bytes and back, without I/O: frames, messages, and what they carry. Nothing is pickled, ever.

Sessions over a network have modules of their own, which a sandboxed process need not load: `network` (messages),
`dialogue` (both ends of a session), `infos` (of batches). Not here: sockets, deadlines and processes, which are in
`ludus.sandbox.environment`, `ludus.server` and `ludus.client`.
"""

from ludus.spaces.plain import decode_value, encode_value
from ludus.wire.description import read_space, write_space
from ludus.wire.frame import FrameLimits, check_frame, payload_length, read_frame, write_frame
from ludus.wire.space_codec import SpaceCodec

__all__ = [
    "FrameLimits",
    "SpaceCodec",
    "check_frame",
    "decode_value",
    "encode_value",
    "payload_length",
    "read_frame",
    "read_space",
    "write_frame",
    "write_space",
]
