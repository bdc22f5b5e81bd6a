"""Registration: from what a user passes to `register` to a spec."""

from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any, TypedDict

from ludus.core import EnvId, EnvSpec, Security, WrapperSpec
from ludus.core.entry_point import EntryPoint
from ludus.core.spec import Arguments
from ludus.errors import InvalidSpec, RegistrationError, did_you_mean, listing

__all__ = ["OtherFields", "SpecFields", "spec_of"]


class OtherFields(TypedDict, total=False):
    """The fields of an `EnvSpec` beside what whoever registers a task says in words of its own."""

    reward_threshold: float | None
    nondeterministic: bool
    order_enforce: bool
    disable_env_checker: bool
    kwargs: Arguments | None
    additional_wrappers: Sequence[WrapperSpec]
    vector_entry_point: EntryPoint | None
    author: str
    tags: Sequence[str]
    family: str
    license: str
    extras: Sequence[str]
    aliases: Sequence[str]
    deprecated: str
    security: Security


class SpecFields(OtherFields, total=False):
    """The fields of an `EnvSpec` beside its id and entry point; None stands for the default."""

    max_episode_steps: int | None
    description: str


KNOWN = [one.name for one in fields_of(EnvSpec) if one.name not in ("id", "entry_point", "isolation_record")]


def spec_of(
    id: str | EnvSpec, entry_point: EntryPoint | None, fields: Mapping[str, Any], namespace: str | None
) -> EnvSpec:
    """The spec to register, inside the namespace if there is one."""
    if isinstance(id, EnvSpec):
        if entry_point is not None or fields:
            raise RegistrationError(
                f"register: expected an EnvSpec alone, got {id.id!r} with {listing(fields) or 'an entry_point'}; "
                "change the spec with spec.replace(…)"
            )
        spec = id.replace(id=_within(namespace, id.id))
    else:
        full = _within(namespace, id)
        _check_names(full, fields)
        spec = EnvSpec(full, entry_point, **{name: value for name, value in fields.items() if value is not None})
    if spec.entry_point is None and spec.vector_entry_point is None:
        raise RegistrationError(
            f"{spec.id}: expected an entry_point ('module:Class' or a callable) or a vector_entry_point, got neither"
        )
    return spec


def _within(namespace: str | None, id: str) -> str:
    parsed = EnvId.parse(id)
    if namespace is None or parsed.namespace == namespace:
        return str(parsed)
    if parsed.namespace is not None:
        raise RegistrationError(f"{id}: expected an id without a namespace inside namespace({namespace!r}), got {id!r}")
    return str(parsed._replace(namespace=namespace))


def _check_names(id: str, fields: Mapping[str, object]) -> None:
    for name in fields:
        if name not in KNOWN:
            hint = did_you_mean(name, KNOWN) or ";"
            raise InvalidSpec(f"register {id!r}: unknown field {name!r}{hint} the fields are {listing(KNOWN, 40)}")
