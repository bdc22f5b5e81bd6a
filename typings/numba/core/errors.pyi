from collections.abc import Callable
from typing import Protocol

class NumbaError(Exception): ...
class ConstantInferenceError(NumbaError): ...

class _ColourScheme(Protocol):
    """How messages are coloured; of a class that depends on whether colorama is there."""

    _markup: Callable[..., str]

def termcolor() -> _ColourScheme: ...
