"""Resolution: from what somebody passes to `make` to the spec that they mean, and the isolation that it is made in."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

from ludus.core import EnvSpec, IsolationRecord, Security
from ludus.core.env import is_env
from ludus.core.spec import Isolation
from ludus.errors import InvalidType, shorten
from ludus.registry.arguments import NOTHING, Creator
from ludus.registry.assembly import creator_of
from ludus.registry.isolation import isolation_level, opened, sandbox_of
from ludus.registry.provenance import Author, authors, authors_before_import, is_adapter, is_built_in
from ludus.registry.search import ISOLATION_LEVELS
from ludus.registry.shared import registry
from ludus.registry.table import Registry
from ludus.registry.target import adhoc_spec
from ludus.registry.trust import (
    NO_REQUIREMENT,
    IsolationRequirement,
    is_granted,
    required_before_import,
    required_isolation,
    stronger,
    trust_rules,
)

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["ResolvedSpec", "Target", "foreign_spec", "resolve", "spec_meant"]

Target = str | EnvSpec | Callable[..., object]


class ResolvedSpec:
    """What is to be made, and in which isolation: decided once, and good for any number of environments."""

    def __init__(
        self, spec: EnvSpec, requirement: IsolationRequirement, sandbox: "Sandbox | None", granted: bool = False
    ) -> None:
        self.spec = spec
        """With the `isolation_record` that goes on record."""
        self.requirement = requirement
        self.sandbox = sandbox
        """None: in this process."""
        self.granted = granted
        """Whether the isolation opens for what the spec declares."""

    @cached_property
    def creator(self) -> Creator:
        """The class or function that makes it, loaded when it is first asked for, and only for this process."""
        return creator_of(self.spec)

    def __getstate__(self) -> dict[str, object]:
        """Without the code, which a worker loads by itself."""
        return {name: value for name, value in self.__dict__.items() if name != "creator"}


def resolve(
    id: Target, isolation: "str | Sandbox | None" = None, arguments: Mapping[str, object] = NOTHING
) -> ResolvedSpec:
    """Decide: the isolation that was asked for, else the strongest of what spec, trust and an earlier making say.

    `arguments` are those that it will be made with over the spec's: they may name whose code it is.

    Fails closed: IsolationNeeded where it cannot be given, and nothing runs. Where only code can tell what a text
    means, that code runs isolated as well.

    >>> resolve("CartPole-v1").sandbox is None
    True
    """
    if isolation is None and not trust_rules():  # nobody said anything: then only the spec itself can ask for more
        spec = _meant_here(id)
        if spec.isolation_record is None and spec.security.isolation == "none":
            return ResolvedSpec(spec, NO_REQUIREMENT, None)
        return _decide(spec, None, NO_REQUIREMENT, arguments=arguments)
    given = isolation_level(isolation)
    if not isinstance(id, str):
        return _decide(_meant_here(id), isolation, NO_REQUIREMENT, arguments=arguments)
    ahead = required_before_import(id)
    before = ahead.isolation if given is None else given
    whose = authors_before_import(id) if before != "none" else ()
    if not whose:
        return _decide(_meant_here(id), isolation, ahead, arguments=arguments)
    box = sandbox_of(before if isolation is None else isolation, id, ahead)
    from ludus.registry.isolated_programs.resolution import resolve_isolated  # it takes the sandbox with it

    return _decide(resolve_isolated(id, box.backend.name), isolation, ahead, whose, arguments)


def _decide(
    spec: EnvSpec,
    isolation: "str | Sandbox | None",
    ahead: IsolationRequirement,
    whose: tuple[Author, ...] = (),
    arguments: Mapping[str, object] = NOTHING,
) -> ResolvedSpec:
    """`whose` code said what the spec is, where others than its authors did."""
    whole = spec.replace(kwargs={**spec.kwargs, **arguments}) if arguments and is_adapter(spec) else spec
    required, earlier = (
        required_isolation(whole),
        "none" if spec.isolation_record is None else spec.isolation_record.isolation,
    )
    if ISOLATION_LEVELS.index(ahead.isolation) > ISOLATION_LEVELS.index(required.isolation):
        required = ahead
    given = isolation_level(isolation)
    level = stronger(required.isolation, earlier) if given is None else given
    if level == "none":
        record = None if required.isolation == "none" else IsolationRecord("none", required.isolation)
        return ResolvedSpec(spec.replace(isolation_record=record), required, None)
    box = sandbox_of(level if isolation is None else isolation, spec.id, required)
    opens = (isolation is None or isinstance(isolation, str)) and is_granted([*authors(whole), *whose])
    record = IsolationRecord(level, required.isolation, box.backend.name)
    return ResolvedSpec(spec.replace(isolation_record=record), required, opened(box, spec) if opens else box, opens)


def spec_meant(id: object) -> EnvSpec:
    """The spec that somebody means by an id, a spec, a class or a function.

    Where only code can tell, it runs as isolated as trust asks for.
    """
    return registry.spec(id) if isinstance(id, str) else _meant_here(id)


def foreign_spec(spec: EnvSpec) -> EnvSpec:
    """A spec that somebody else wrote down: it opens no isolation, and asks for a sandbox if it names others' code.

    >>> foreign_spec(EnvSpec("A-v0", "os:system", kwargs={"command": "id"})).security.isolation
    'sandbox'
    """
    least: Isolation = "none" if is_built_in(spec) else "sandbox"
    return spec.replace(security=Security(isolation=stronger(spec.security.isolation, least)), isolation_record=None)


def _found_isolated(text: str) -> EnvSpec | None:
    """What a text means, if the code that tells has to be isolated; None if it may run here, or none is needed."""
    if not isinstance(text, str) or required_before_import(text).isolation == "none":  # pyright: ignore[reportUnnecessaryIsInstance]
        return None
    return resolve(text).spec.replace(isolation_record=None)


Registry.isolated = staticmethod(_found_isolated)


def _is_callable(id: object) -> TypeGuard[Callable[..., object]]:
    return callable(id)


def _meant_here(id: object) -> EnvSpec:
    if isinstance(id, str):
        return registry.spec_here(id)
    if isinstance(id, EnvSpec):
        return id
    if _is_callable(id) and not is_env(id):
        return adhoc_spec(id)
    hint = "; it is made already" if is_env(id) else ""
    raise InvalidType(f"make: expected an id like 'CartPole-v1', an EnvSpec or an Env class, got {shorten(id)}{hint}")
