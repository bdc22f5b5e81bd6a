"""Compression of messages: zstd for large ones, where both sides agreed on it. What would unfold too far is refused.

A message begins with a byte from 0x90 on, a compressed one with zstd's own mark: a reader can tell them apart.
"""

from importlib import import_module
from typing import Any

from ludus.errors import CodecError, InvalidArgument, MissingExtra, shorten
from ludus.wire.frame import FrameLimits

__all__ = ["MIN_COMPRESSED_BYTES", "METHODS", "Compression"]

METHODS = ("none", "zstd")
MIN_COMPRESSED_BYTES = 1024
"""Bytes from which on a message is compressed."""
COMPRESSION_LEVEL = 1
MARK = b"\x28\xb5\x2f\xfd"


class Compression:
    """Packs messages on their way out and unpacks them on their way in; "none" leaves them as they are.

    >>> both = Compression("zstd")
    >>> packed = both.pack(bytes(100_000))
    >>> len(packed) < 100, both.unpack(packed, FrameLimits()) == bytes(100_000)
    (True, True)
    >>> both.unpack(packed, FrameLimits(size=1000))
    Traceback (most recent call last):
    ludus.errors.CodecError: compressed message: expected 1 to 1000 bytes inside, got an announcement of 100000
    """

    def __init__(self, method: str = "none") -> None:
        if method not in METHODS:
            raise InvalidArgument(f"compression: expected one of {', '.join(METHODS)}, got {shorten(method)}")
        self.method = method
        self._zstd: Any = None
        if method == "zstd":
            self._zstd = _zstandard()
            self._writer: Any = self._zstd.ZstdCompressor(
                level=COMPRESSION_LEVEL, write_content_size=True, write_checksum=False
            )
            self._reader: Any = self._zstd.ZstdDecompressor()

    def pack(self, message: bytes) -> bytes:
        """The message as it travels: compressed where it is large, and gets smaller by it."""
        if self._zstd is None or len(message) < MIN_COMPRESSED_BYTES:
            return message
        packed = self._writer.compress(message)
        return packed if len(packed) < len(message) else message

    def unpack(self, data: bytes, limits: FrameLimits) -> bytes:
        """The message in what came; CodecError, and nothing else, on any bytes. The size is known before it is done."""
        if self._zstd is None or data[:4] != MARK:
            return data
        try:
            size = self._zstd.get_frame_parameters(data).content_size
            if not 0 < size <= limits.size:
                got = "no announcement" if size >= 1 << 63 else f"an announcement of {size}"
                raise CodecError(f"compressed message: expected 1 to {limits.size} bytes inside, got {got}")
            return self._reader.decompress(data, max_output_size=size, allow_extra_data=False)
        except (self._zstd.ZstdError, ValueError, MemoryError) as error:
            if isinstance(error, CodecError):
                raise
            raise CodecError(f"compressed message: expected zstd, got {shorten(data[:40])}: {error}") from error


def _zstandard() -> Any:
    try:
        return import_module("zstandard")
    except ImportError as error:
        raise MissingExtra(
            "compression='zstd': expected the package zstandard, got none; "
            "install it with `pip install zstandard`, or use compression='none'"
        ) from error
