"""Machine code in this process: object files and small texts of LLVM, linked by llvmlite alone.

Numba is the compiler, and takes half a second to load. What it compiled is an object file like any other, and linking
one takes a few milliseconds: so a batch that is on disk already is made without Numba.
"""

import struct
from collections.abc import Iterator, Sequence
from functools import cache

import llvmlite
import llvmlite.binding as llvm

__all__ = ["Machine", "host", "object_of", "undefined_symbols"]

ELF = b"\x7fELF\x02\x01"
"""An object file of 64 bits, little-endian."""
SECTION, SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
SYMBOL_TABLE = 2


class Machine:
    r"""Code that was linked, which lives as long as this object.

    >>> twice = Machine.of_text("define i64 @twice(i64 %x) { %y = add i64 %x, %x \n ret i64 %y }")
    >>> import ctypes
    >>> ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(twice.address("twice"))(21)
    42
    """

    def __init__(self, object_file: bytes) -> None:
        # An engine owns the machine it is made with, and frees it at its end: none may be shared.
        machine = _target().create_target_machine(opt=2)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()

    @classmethod
    def of_text(cls, text: str) -> "Machine":
        """Compile a text of LLVM's language."""
        return cls.of_object(object_of(text))

    @classmethod
    def of_object(cls, data: bytes) -> "Machine":
        """Link an object file; every symbol it misses has to be known, or the process ends."""
        return cls(data)

    def address(self, name: str) -> int:
        """Where a function begins; 0 where there is none."""
        return self._engine.get_function_address(name)


def object_of(text: str) -> bytes:
    """The object file of a text of LLVM's language; raises RuntimeError for what is none."""
    machine = _target().create_target_machine(opt=2)
    return machine.emit_object(llvm.parse_assembly(text))


@cache
def _target() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@cache
def host() -> str:
    """What machine code of this processor depends on: its features, and the version of LLVM."""
    features = llvm.get_host_cpu_features()
    processor = f"{llvm.get_default_triple()} {llvm.get_host_cpu_name()} {features.flatten()}"
    return f"{llvmlite.__version__} {processor}"


def undefined_symbols(data: bytes) -> list[str] | None:
    """The names that an object file has to be given; None where its format is not known here.

    >>> undefined_symbols(b"MZ") is None
    True
    """
    if not data.startswith(ELF):
        return None
    begin = struct.unpack_from("<Q", data, 40)[0]
    size, count = struct.unpack_from("<HH", data, 58)
    sections: list[tuple[int, ...]] = [SECTION.unpack_from(data, begin + place * size) for place in range(count)]
    return [name for one in sections if one[1] == SYMBOL_TABLE for name in _undefined(data, one, sections[one[6]])]


def _undefined(data: bytes, table: Sequence[int], names: Sequence[int]) -> Iterator[str]:
    for at in range(table[4], table[4] + table[5], SYMBOL.size):
        name, _, _, section, _, _ = SYMBOL.unpack_from(data, at)
        if section == 0 and name:
            start = names[4] + name
            yield data[start : data.index(b"\0", start)].decode()
