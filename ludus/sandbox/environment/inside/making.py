"""Making: from a request to an environment or a batch, by the registry, which is reached by name since it is above."""

from importlib import import_module
from typing import Any

from ludus.core import Env, EnvSpec
from ludus.core.spec import load_entry_point
from ludus.errors import EntryPointError, LudusError
from ludus.wire import decode_value
from ludus.wire.messages import MakeRequest

__all__ = ["make_env"]

MAKE = "ludus.registry.make:make"
ASSEMBLE = "ludus.registry.assembly:assemble"
OWNER = "ludus.registry.ownership:owner"


def make_env(request: MakeRequest) -> Env[Any, Any]:
    """One environment, as the request says; it is behind the wall already, so no other is asked for."""
    for name in request.modules:
        _import(name)
    arguments = decode_value(request.arguments, "arguments")
    if not request.is_spec:
        return load_entry_point(MAKE)(request.target, isolation="none", kwargs=arguments)
    # Not `make`: a spec needs no look at what other packages announce, which takes longer than all the rest.
    spec = EnvSpec.from_json(request.target)
    return load_entry_point(ASSEMBLE)(spec, arguments, load_entry_point(OWNER)(spec))


def _import(name: str) -> None:
    try:
        import_module(name)
    except LudusError:
        raise
    except Exception as error:
        raise EntryPointError(f"modules: importing {name!r} failed: {type(error).__name__}: {error}") from error
