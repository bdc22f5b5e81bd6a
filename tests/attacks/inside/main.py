"""The program that runs inside: it carries out attacks one after the other and tells what each of them managed."""

import json
import os
import signal
import sys
from typing import Any

from tests.attacks.inside.trying import open_descriptors, tell

__all__ = ["main"]

SECONDS = 10
"""For one attack of a group."""
OWN = ("outside", "shown", "shared")
"""Folders in which each attack has one of its own, so that the host can tell who was there."""
Work = dict[str, Any]


def main(work: Work) -> None:
    """Carry out the attacks of `work` (name to `module:function`): one here, several in processes of their own."""
    work["aim"]["descriptors"] = open_descriptors()  # before this program opens any
    tell(kernel=os.uname().release)
    for name in work["attacks"]:
        told = attempt(work, name) if len(work["attacks"]) == 1 else apart(work, name)
        tell(attack=name, **told)


def attempt(work: Work, name: str) -> "dict[str, str]":
    """What an attack did, or what kept it from doing it."""
    try:
        module, _, function = work["attacks"][name].rpartition(":")
        own = {place: f"{work['aim'][place]}/{name}" for place in OWN}
        aim = {**work["aim"], **own, "name": f"{work['aim']['name']}-{name}"}
        return {"did": getattr(sys.modules[f"{work['package']}.{module}"], function)(aim) or ""}
    except OSError as error:
        return {"error": f"{type(error).__name__}: {error}", "kind": "OSError"}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}", "kind": type(error).__name__}


def apart(work: Work, name: str) -> "dict[str, str]":
    """The same in a child: what it does to itself, or is done to it, ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        try:
            os.write(writing, json.dumps(attempt(work, name)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    if told:
        return json.loads(told)
    return {"error": f"ended by signal {status & 127}", "kind": "signal"}
