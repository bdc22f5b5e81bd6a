"""Messages: plain data as JSON or msgpack. msgspec is loaded with the first one: most programs never need its 7 ms."""

from ludus.errors import CodecError, shorten

__all__ = ["pack", "read_json", "unpack", "write_json"]


def write_json(data: object) -> bytes:
    """Plain data as JSON."""
    import msgspec

    return msgspec.json.encode(data)


def read_json(text: bytes | str, what: str) -> object:
    """The plain data in JSON; raises CodecError, and nothing else, on any bytes."""
    import msgspec

    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CodecError(f"{what}: expected JSON, got {shorten(text)}: {error}") from error


def pack(data: object) -> bytes:
    """Plain data as msgpack."""
    import msgspec

    return msgspec.msgpack.encode(data)


def unpack(message: bytes, what: str) -> object:
    """The plain data in msgpack; raises CodecError, and nothing else, on any bytes."""
    import msgspec

    if isinstance(message, str):
        raise CodecError(f"{what}: expected msgpack bytes, got text {shorten(message)}")
    try:
        return msgspec.msgpack.decode(message)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CodecError(f"{what}: expected msgpack, got {shorten(message)}: {error}") from error
