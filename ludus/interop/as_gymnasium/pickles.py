"""Classes that other classes derive from, or that programs put things in, to remember arguments and to travel."""

import os
import pickle
from collections.abc import Generator
from contextlib import contextmanager
from copy import deepcopy
from importlib import import_module
from typing import Any

from ludus.errors import MissingExtra

__all__ = ["CloudpickleWrapper", "EzPickle", "RecordConstructorArgs", "clear_mpi_env_vars"]


class EzPickle:
    """What derives from this is pickled as its constructor's arguments, and made again from them.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(EzPickle(1, b=2)))._ezpickle_kwargs
    {'b': 2}
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        self._ezpickle_args, self._ezpickle_kwargs = args, kwargs

    def __getstate__(self) -> dict[str, Any]:
        return {"_ezpickle_args": self._ezpickle_args, "_ezpickle_kwargs": self._ezpickle_kwargs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        again = type(self)(*state["_ezpickle_args"], **state["_ezpickle_kwargs"])
        self.__dict__.update(again.__dict__)


class RecordConstructorArgs:
    """Keeps the arguments that it gets first; Ludus's wrappers remember theirs without it.

    >>> RecordConstructorArgs(size=3)._saved_kwargs
    {'size': 3}
    """

    _saved_kwargs: dict[str, Any]

    def __init__(self, *, _disable_deepcopy: bool = False, **kwargs: Any) -> None:
        if "_saved_kwargs" not in self.__dict__:
            self._saved_kwargs = kwargs if _disable_deepcopy else deepcopy(kwargs)


class CloudpickleWrapper:
    """A function that travels to another process, lambdas included, by cloudpickle.

    >>> CloudpickleWrapper(lambda: 3)()
    3
    """

    def __init__(self, fn: Any) -> None:
        self.fn = fn

    def __getstate__(self) -> bytes:
        try:
            return import_module("cloudpickle").dumps(self.fn)
        except ModuleNotFoundError as error:
            raise MissingExtra(
                "CloudpickleWrapper: expected the package cloudpickle, got none; pip install cloudpickle",
                name="cloudpickle",
            ) from error

    def __setstate__(self, state: bytes) -> None:
        self.fn = pickle.loads(state)  # noqa: S301  (from our own parent process)

    def __call__(self) -> Any:
        """Call the function."""
        return self.fn()


@contextmanager
def clear_mpi_env_vars() -> Generator[None]:
    """Hide the environment variables of MPI, so that children do not take themselves for parts of its job."""
    hidden = {name: value for name, value in os.environ.items() if name.startswith(("OMPI_", "PMI_"))}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)
