"""Making: from a request to an environment, by what the registry set on `EnvSpec`: it is above this room."""

from importlib import import_module

from ludus.core import EnvSpec
from ludus.core.env import AnyEnv
from ludus.errors import EntryPointError, LudusError
from ludus.wire import decode_value
from ludus.wire.messages import MakeRequest

__all__ = ["make_env"]


def make_env(request: MakeRequest) -> AnyEnv:
    """One environment, as the request says; it is inside the sandbox already, so no other is asked for."""
    for name in request.modules:
        _import(name)
    arguments = decode_value(request.arguments, "arguments")
    if not request.is_spec:
        return EnvSpec.make_named(request.target, isolation="none", kwargs=arguments)
    return EnvSpec.from_json(request.target).assemble(arguments)


def _import(name: str) -> None:
    try:
        import_module(name)
    except LudusError:
        raise
    except Exception as error:
        raise EntryPointError(f"modules: importing {name!r} failed: {type(error).__name__}: {error}") from error
