"""The neighbour: another sandbox, with a secret of its own, that others are to leave alone."""

import os
import select
import socket
from typing import Any

from tests.attacks.inside.trying import CHANNEL, tell

Aim = dict[str, Any]
LIFE = 60.0


def dwell(aim: Aim) -> str:
    """Keep a secret in memory and in a file, listen, and say when somebody came."""
    del aim
    secret = f"canary-{os.urandom(16).hex()}"
    with open("secret", "w") as file:
        file.write(secret)
    listeners = [_listen(socket.AF_UNIX, f"\0{secret[-16:]}"), _listen(socket.AF_INET, ("127.0.0.1", 0))]
    port = listeners[1].getsockname()[1] if listeners[1] else 0
    tell(ready={"secret": secret, "home": os.getcwd(), "abstract": secret[-16:], "port": port})
    there = [one for one in listeners if one]
    while True:
        woken: list[Any] = select.select([CHANNEL, *there], [], [], LIFE)[0]
        if not woken or CHANNEL in woken:
            return ""
        woken[0].accept()[0].close()
        tell(called=True)


def _listen(family: int, address: Any) -> Any:
    try:
        listener = socket.socket(family)
        listener.bind(address)
        listener.listen(1)
    except OSError:
        return None  # not allowed here: nobody can come
    return listener
