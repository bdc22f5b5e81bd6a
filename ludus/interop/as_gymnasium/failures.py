"""The errors of Gymnasium that say something Ludus's own do not."""

from ludus.errors import EnvError, InvalidArgument, LudusError, UnknownEnvironment

__all__ = [
    "AlreadyPendingCallError",
    "DeprecatedEnv",
    "DeprecatedWrapper",
    "InvalidMetadata",
    "MissingArgument",
    "NoAsyncCallError",
]


class DeprecatedEnv(UnknownEnvironment):
    """A version that is no longer there; Ludus raises `VersionNotFound`."""


class InvalidMetadata(EnvError):
    """An environment's metadata cannot be used."""


class MissingArgument(InvalidArgument):
    """An argument that is needed was not given."""


class DeprecatedWrapper(LudusError, ImportError):
    """A wrapper that is no longer there."""


class AlreadyPendingCallError(LudusError):
    """A call was begun while another, named `name`, is still waiting to be collected."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class NoAsyncCallError(LudusError):
    """The result of a call named `name` was asked for, and none was begun."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name
