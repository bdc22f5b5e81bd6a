"""LZW: the compression of GIF files."""

__all__ = ["lzw"]

TABLE_LIMIT = 4096


def lzw(indices: bytes, bits: int) -> bytes:
    """Palette indices of at most `bits` bits each, compressed as a GIF image wants them, without its block lengths.

    >>> lzw(bytes([1, 1, 1, 1]), 2).hex()
    '8c53'
    """
    clear, stop = 1 << bits, (1 << bits) + 1
    table: dict[int, int] = {}
    size, next_code = bits + 1, stop + 1
    held, filled = clear, size  # bits that wait to become bytes; the table starts with a clear
    out = bytearray()
    prefix = indices[0]
    for value in indices[1:]:
        key = prefix << 8 | value
        code = table.get(key)
        if code is not None:
            prefix = code
            continue
        held |= prefix << filled
        filled += size
        table[key] = next_code
        if next_code == 1 << size and size < 12:
            size += 1
        next_code += 1
        if next_code == TABLE_LIMIT:
            held |= clear << filled
            filled += size
            table.clear()
            size, next_code = bits + 1, stop + 1
        while filled >= 8:
            out.append(held & 255)
            held >>= 8
            filled -= 8
        prefix = value
    # After the last prefix the reader adds one more entry, which may widen the code of the end mark.
    held |= prefix << filled
    filled += size
    if next_code == 1 << size and size < 12:
        size += 1
    held |= stop << filled
    filled += size
    return bytes(out) + held.to_bytes((filled + 7) // 8, "little")
