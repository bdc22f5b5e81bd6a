"""The garbage collector, kept from looking again and again at what stays for the whole run.

Fifteen thousand tests and the modules that they import are some eight hundred thousand objects, of which none is ever
garbage: to look at them all takes half a second, each time that a test asks for a collection or that the interpreter
finds it due. So there are no collections while tests are collected, and none of these objects takes part afterwards.
"""

import gc

import pytest


def pytest_configure() -> None:
    """From here on imports and items are made."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is there now stays; what tests make is collected as ever."""
    gc.freeze()
    gc.enable()
