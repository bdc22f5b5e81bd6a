"""Code that a file names: whether this process would run the same by the id alone. If not, it is a stranger's word."""

from collections.abc import Mapping

from ludus.core import EnvSpec, Security, WrapperSpec
from ludus.errors import IsolationNeeded, LudusError
from ludus.registry.provenance import BUILT_IN, authors, is_adapter, only_transforms, places
from ludus.registry.shared import registry
from ludus.registry.trust import stronger

__all__ = ["file_spec", "named_by_caller", "unknown_beside", "unknown_code"]

CODE = ("entry_point", "vector_entry_point")
"""The fields of a spec that name code; that arguments name none but the known, `authors` sees."""
_NOBODYS = EnvSpec("Nothing-v0", "ludus.envs.nothing:Nothing")


def unknown_code(spec: EnvSpec, wrappers: tuple[WrapperSpec, ...] = ()) -> str:
    """What a file names that nobody chose here; empty where this process would run the same by the id alone.

    `wrappers` are those of a batch, which no spec has.

    >>> unknown_code(registry.spec("CartPole-v1")), unknown_code(EnvSpec("CartPole-v1", "os:system"))
    ('', 'os:system')
    """
    whole = spec.replace(additional_wrappers=(*spec.additional_wrappers, *wrappers))
    if does_more := _more_than_transforms(whole):
        return does_more
    known = _registered(spec.id)
    strange = places(whole, known)
    if strange:
        return strange[0]
    if spec.vector_entry_point is not None and (known is None or known.vector_entry_point != spec.vector_entry_point):
        return str(spec.vector_entry_point)
    if all(author == BUILT_IN for author in authors(whole)):
        return ""
    same = known is not None and all(getattr(known, name) == getattr(spec, name) for name in CODE)
    if known is not None and same and set(authors(whole)) <= {*authors(known), BUILT_IN}:
        return ""
    named = [str(one) for one in authors(whole) if one != BUILT_IN and (known is None or one not in authors(known))]
    return str(spec.entry_point) if not same else "; ".join(named)


def unknown_beside(spec: EnvSpec, own: EnvSpec) -> str:
    """What a file names beside the environment that somebody gave for its own: by its wrappers, or by its arguments.

    >>> unknown_beside(EnvSpec("CartPole-v1", "os:system"), registry.spec("CartPole-v1"))
    ''
    """
    whole = own.replace(kwargs=spec.kwargs, additional_wrappers=spec.additional_wrappers)
    strange = [str(one) for one in authors(whole) if one != BUILT_IN and one not in authors(own)]
    return next(iter([*filter(None, [_more_than_transforms(whole)]), *places(whole, own), *strange]), "")


def named_by_caller(spec: EnvSpec, arguments: Mapping[str, object], *, confined: bool) -> str:
    """What arguments of somebody elsewhere name that whoever offers the environment did not choose; "" if nothing.

    That is code, and what is to be adapted, in any isolation; files and addresses unless it is `confined` to a sandbox,
    whose own they are.

    >>> named_by_caller(registry.spec("GridWorld-v0"), {"size": 3}, confined=False)
    ''
    >>> named_by_caller(registry.spec("open/Chat-v0"), {"tokenizer": "/etc/hosts"}, confined=False)
    '/etc/hosts'
    """
    whole = spec.replace(kwargs={**spec.kwargs, **arguments})
    found = [] if confined else places(whole, spec)
    if is_adapter(spec):  # of any other, whose code it is does not depend on arguments
        found += [f"{name}={arguments[name]!r}" for name in spec.kwargs if name in arguments]
        found += [str(one) for one in authors(whole) if one != BUILT_IN and one not in authors(spec)]
    return found[0] if found else ""


def _more_than_transforms(spec: EnvSpec) -> str:
    """The wrapper of ours, if there is one, that does more than transform."""
    ours = [one for one in spec.additional_wrappers if one.entry_point.partition(":")[0].partition(".")[0] == "ludus"]
    return next((one.entry_point for one in ours if not only_transforms(one)), "")


def file_spec(spec: EnvSpec, wrappers: tuple[WrapperSpec, ...] = (), isolation: object = None) -> EnvSpec:
    """The spec of a file, to be made in `isolation`: it asks for a sandbox where it names code that nobody chose here.

    Wrappers of a batch run in this process wherever its lanes are: IsolationNeeded where they are not known here.
    """
    if isolation == "none":  # somebody's own word
        return spec
    stranger = unknown_code(_NOBODYS, wrappers)
    if stranger:
        raise IsolationNeeded(
            f"{spec.id}: expected wrappers of a batch that only transform, got a file that names {stranger!r}, which "
            "would run in this process; give the environment yourself, or isolation='none' if you trust the file"
        )
    if isolation is not None or not unknown_code(spec):
        return spec
    return spec.replace(
        security=Security(isolation=stronger(spec.security.isolation, "sandbox")), isolation_record=None
    )


def _registered(id: str) -> EnvSpec | None:
    try:
        return registry.spec(id) if ":" not in id else None
    except LudusError:
        return None
