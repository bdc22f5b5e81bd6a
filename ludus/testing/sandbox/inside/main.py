"""The program that runs inside: it carries out attacks one after the other and tells what each of them managed."""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from ludus.testing.sandbox.inside.trying import tell

__all__ = ["main"]

SECONDS = 10
"""For one attack of a group."""
OWN = ("outside", "shown", "shared")
"""Folders in which each attack has one of its own, so that the host can tell who was there."""
Attack = Callable[[Any], "str | None"]


def main(work: "dict[str, Any]") -> None:
    """Carry out the attacks of `work` (names to `module:function`): a single one here, several in processes of their own."""
    tell(kernel=os.uname().release)
    for name, place in work["attacks"].items():
        module, _, function = place.partition(":")
        attack: Attack = getattr(sys.modules[f"{work['package']}.{module}"], function)
        own = {place: f"{work['aim'][place]}/{name}" for place in OWN}
        aim = {**work["aim"], **own, "name": f"{work['aim']['name']}-{name}"}
        told = attempt(attack, aim) if len(work["attacks"]) == 1 else apart(attack, aim)
        tell(attack=name, **told)


def attempt(attack: Attack, aim: Any) -> "dict[str, str]":
    """What an attack did, or what kept it from doing it."""
    try:
        return {"did": attack(aim) or ""}
    except OSError as error:
        return {"error": f"{type(error).__name__}: {error}", "kind": "OSError"}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}", "kind": type(error).__name__}


def apart(attack: Attack, aim: Any) -> "dict[str, str]":
    """The same in a child: what it does to itself, or is done to it, ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        try:
            os.write(writing, json.dumps(attempt(attack, aim)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    if told:
        return json.loads(told)
    return {"error": f"ended by signal {status & 127}", "kind": "signal"}
