"""Dictionaries in rules: `{"board": …, "turn": …}` is a tuple in compiled code, in the order it is written in.

Numba's own dictionaries hold values of one type and take seconds to compile. The instruction that makes a dictionary of
constant keys makes a tuple instead; lines stay where they are, so errors name the author's own.
"""

import dis
from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType

from ludus.errors import KernelError, listing
from ludus.spaces.kinds import is_tuple

__all__ = ["dict_places", "tuple_code"]

CONST_MAP, MAP, TUPLE, NOP = (
    dis.opmap.get(name, -1) for name in ("BUILD_CONST_KEY_MAP", "BUILD_MAP", "BUILD_TUPLE", "NOP")
)


def tuple_code(code: CodeType) -> CodeType:
    """The code with every dictionary of constant text keys as a tuple of its values.

    >>> def seen(place):
    ...     return {"place": place, "goal": 3}
    >>> type(seen)(tuple_code(seen.__code__), {})(2)
    (2, 3)
    """
    steps = list(dis.get_instructions(code))
    changed = bytearray(code.co_code)
    for place, step in enumerate(steps):
        if step.opcode == CONST_MAP and _texts(steps[place - 1].argval):
            before = steps[place - 1]
            changed[before.offset : before.offset + 2] = bytes((TUPLE, len(before.argval)))
            changed[step.offset : step.offset + 2] = bytes((NOP, 0))
        elif step.opcode == MAP and step.arg == 1 and _key(steps[:place]):  # one key, which stays beside its value
            changed[step.offset : step.offset + 2] = bytes((TUPLE, 2))
    return code if bytes(changed) == code.co_code else code.replace(co_code=bytes(changed))


def _key(before: list[dis.Instruction]) -> bool:
    """Whether what lies under the topmost value on the stack is constant text."""
    needed = 2
    for step in reversed(before):
        if step.is_jump_target or step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            return False  # a value that has branches: such a dictionary stays one, and is refused
        needed -= dis.stack_effect(step.opcode, step.arg)
        if needed <= 0:
            return step.opname == "LOAD_CONST" and isinstance(step.argval, str)
    return False


def _texts(keys: object) -> bool:
    return is_tuple(keys) and all(type(one) is str for one in keys)


def dict_places(name: str, value: Mapping[str, object], functions: Sequence[FunctionType]) -> dict[str, int]:
    """Where the tuple that stands for a dictionary has each of its keys.

    Raises KernelError where two functions, or two branches of one, write the same keys in different orders.
    """
    keys = tuple(value)
    if len(keys) == 1:
        return {keys[0]: 1}
    found = {
        step.argval
        for function in functions
        for step in dis.get_instructions(function.__code__)
        if step.opname == "LOAD_CONST" and _texts(step.argval) and set(step.argval) == set(keys)
    }
    if found != {keys}:
        raise KernelError(
            f"{name}: expected a dictionary written out in one place and one order, {{{listing(keys)}}}, "
            f"got {sorted(found) if found else 'none written so'}; write it as one display, or return a NamedTuple"
        )
    return {key: place for place, key in enumerate(keys)}
