"""`Blueprint`: what is to be made inside the sandbox, as data. Functions do not travel; names of them do."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ludus.core import EnvSpec
from ludus.core.entry_point import entry_point_name
from ludus.errors import CodecError, InvalidArgument, InvalidType, shorten
from ludus.wire import encode_value
from ludus.wire.messages import PROTOCOL, MakeRequest

__all__ = ["Blueprint"]


class Blueprint(msgspec.Struct, frozen=True, kw_only=True):
    """An id, `module:Class` or a spec as JSON text, with arguments and the modules to import before."""

    target: str
    is_spec: bool
    arguments: Any
    modules: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    """Modules that the interpreter has to see."""

    @classmethod
    def of(cls, target: object, arguments: Mapping[str, object] | None, modules: Sequence[str] = ()) -> "Blueprint":
        """The blueprint of a target; InvalidArgument or InvalidSpec name what is code rather than data."""
        spec = _spec(target)
        if spec is not None:
            text = spec.to_json()
        elif isinstance(target, str):
            text = target
        else:
            raise InvalidType(f"isolate: expected an id, 'module:Class', a spec or its JSON, got {shorten(target)}")
        try:
            encoded = encode_value(dict(arguments or {}), "arguments")
        except CodecError as error:
            raise InvalidArgument(f"isolate {shorten(text)}: {error}") from error
        named = [text] if spec is None else _entry_points(spec)
        needed = [name.partition(":")[0] for name in named if ":" in name]
        return cls(
            target=text,
            is_spec=spec is not None,
            arguments=encoded,
            modules=tuple(modules),
            needed=tuple(dict.fromkeys([*needed, *modules])),
        )

    def request(self, lanes: int = 0, autoreset_mode: str = "NextStep", *, planned: bool = False) -> MakeRequest:
        """The message that has it made."""
        return MakeRequest(
            PROTOCOL,
            self.target,
            self.is_spec,
            self.arguments,
            list(self.modules),
            lanes,
            autoreset_mode,
            planned,
        )


def _spec(target: object) -> EnvSpec | None:
    if isinstance(target, str) and target.lstrip().startswith("{"):
        return EnvSpec.from_json(target)
    return target if isinstance(target, EnvSpec) else None


def _entry_points(spec: EnvSpec) -> list[str]:
    """The code that a spec runs, by name."""
    found = [spec.entry_point, *(one.entry_point for one in spec.additional_wrappers)]
    return [entry_point_name(one, f"{spec.id}.entry_point") for one in found if one is not None]
