"""Wording is API: an error's whole text is compared, not a part of it."""

from contextlib import contextmanager

import pytest


@contextmanager
def says(error, text):
    """The block raises exactly this class with exactly this text."""
    with pytest.raises(error) as caught:
        yield
    assert (type(caught.value), str(caught.value)) == (error, text), f"got {caught.value!r}"
