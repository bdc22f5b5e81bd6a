"""Choices: what a person may do now, as JSON, where an environment tells it by `get_choices()`."""

from ludus.remote.host import EnvHost
from ludus.server.protocols.web_api.page_json import plain

__all__ = ["choices_of"]

METHOD = "get_choices"
MAX_CHOICES = 600
"""Of a step: every point of a board of go, and more than anybody reads."""


def choices_of(hosted: EnvHost) -> object:
    """What can be chosen after the last step; None where the environment leaves that to keys, buttons and the form.

    >>> from ludus.registry import make
    >>> choices_of(EnvHost(make("CartPole-v1"))) is None
    True
    """
    try:
        env = hosted.env
        if not env.has_wrapper_attr(METHOD):
            return None
        found = env.get_wrapper_attr(METHOD)()
        return None if found is None else plain(list(found)[:MAX_CHOICES])
    except Exception:  # an author's table that is broken takes nothing from play: there is the form
        return None
