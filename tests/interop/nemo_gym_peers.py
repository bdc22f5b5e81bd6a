"""Run where NeMo Gym is: `nemo_gym_peers.py URL ID=ACTION…`, its own adapter over classes of `to_openenv`. Prints JSON.

Environments are made in its process; those of a URL, which it has no packages for, are made by that server.
"""

import json
import sys
from types import ModuleType
from unittest.mock import MagicMock

from fastapi.testclient import TestClient
from nemo_gym.server_utils import ServerClient
from resources_servers.openenv.app import OpenEnvResourcesServer, OpenEnvResourcesServerConfig

import ludus
from ludus.interop.openenv import to_openenv

WORLDS = sys.modules["worlds"] = ModuleType("worlds")
"""The adapter imports classes by dotted names."""
ENDED = {
    "responses_create_params": {"input": "test"},
    "response": {"id": "test", "output": [], "created_at": 0, "model": "test", "object": "response"}
    | {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
}


def class_of(url, name):
    """A class that the adapter can make instances of."""
    if not url:
        return to_openenv(name)
    with ludus.connect(f"{url}/env/{name}") as env:
        kind = type(to_openenv(env))

    class Remote(kind):
        """An environment of a server."""

        def __init__(self):
            super().__init__(ludus.connect(f"{url}/env/{name}"))

    return Remote


def play(url, name, action):
    """A session: two steps, or one that ends it, and the sum of their rewards."""
    kind = class_of(url, name)
    WORLDS.Environment, WORLDS.Action = kind, kind.Action
    config = OpenEnvResourcesServerConfig(
        host="127.0.0.1", port=8080, entrypoint="", name="", env_class="worlds.Environment",
        action_class="worlds.Action", reset_kwargs={"seed": 3},
    )  # fmt: skip
    server = OpenEnvResourcesServer(config=config, server_client=MagicMock(spec=ServerClient))
    with TestClient(server.setup_webserver()) as client:
        client.post("/seed_session", json={}).raise_for_status()
        told = [client.post("/step", json=action).json()]
        if not told[0]["done"]:
            told.append(client.post("/step", json=action).json())
        return {"told": told, "reward": client.post("/verify", json=ENDED).json()["reward"]}


if __name__ == "__main__":
    cases = [one.split("=", 1) for one in sys.argv[2:]]
    print(json.dumps({name: play(sys.argv[1], name, json.loads(action)) for name, action in cases}))
