"""OpenEnv's own server tests over real sockets, on its server and on ours: are the verdicts equal?

    sh scripts/peers.sh
    pip install --target build/peers/pytest pytest pytest-asyncio
    python scripts/openenv_tests.py OPENENV/tests/core/test_production_mode_routes.py …

The tests run as they are, by the interpreter that has OpenEnv; only `TestClient`, which asks an application in
process, is replaced by one that asks uvicorn, and with ours by one whose server is Ludus's, of the same environment.
Tests that use no `TestClient` say the same of both. Prints how many passed, and whose verdicts differ.
"""

import json
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / "build/peers/openenv-0.10.0/bin/python"
PYTEST = ROOT / "build/peers/pytest"
SERVER, VERDICTS = "LUDUS_TESTED_SERVER", "LUDUS_VERDICTS"
"""Variables for the interpreter that has OpenEnv: whose server, and the file for what came of each test."""


def pytest_configure() -> None:
    """Put our client in place of Starlette's, before any test imports it."""
    import fastapi.testclient  # pyright: ignore[reportMissingImports]  # run by another interpreter
    import starlette.testclient
    from openenv.core.env_server.http_server import HTTPEnvServer  # pyright: ignore[reportMissingImports]  # as above

    routes = HTTPEnvServer.register_routes

    def register_routes(self: Any, app: Any, *arguments: Any, **named: Any) -> Any:
        mode = named.get("mode", arguments[0] if arguments else "simulation")
        app.state.openenv = self, str(getattr(mode, "value", mode))
        return routes(self, app, *arguments, **named)

    HTTPEnvServer.register_routes = register_routes
    starlette.testclient.TestClient = fastapi.testclient.TestClient = _socket_client()


def _socket_client() -> type:
    import httpx
    from starlette.websockets import WebSocketDisconnect
    from websockets.exceptions import ConnectionClosed, InvalidStatus
    from websockets.sync.client import connect

    class Conversation:
        """A WebSocket with the words of Starlette's test client."""

        def __init__(self, url: str) -> None:
            try:
                self._socket = connect(url, max_size=None, proxy=None)
            except InvalidStatus as error:
                raise WebSocketDisconnect(error.response.status_code) from error

        def __enter__(self) -> "Conversation":
            return self

        def __exit__(self, *_: object) -> None:
            self._socket.close()

        def close(self, *_: object) -> None:
            self._socket.close()

        def send_text(self, text: str) -> None:
            self._socket.send(text)

        def send_json(self, data: object) -> None:
            self.send_text(json.dumps(data))

        def receive_text(self) -> str:
            try:
                return str(self._socket.recv(timeout=60))
            except ConnectionClosed as error:
                raise WebSocketDisconnect(error.rcvd.code if error.rcvd else 1006) from error

        def receive_json(self) -> Any:
            return json.loads(self.receive_text())

    class SocketClient(httpx.Client):
        def __init__(self, app: Any, **_: object) -> None:
            super().__init__(base_url=f"http://127.0.0.1:{_port(_served(app))}", timeout=60, follow_redirects=True)

        def websocket_connect(self, path: str, **_: object) -> Conversation:
            return Conversation(f"ws{str(self.base_url)[4:].rstrip('/')}{path}")

    return SocketClient


def _served(app: Any) -> Any:
    """The application itself, or ours of the environment behind it; an application without one is nobody's twin."""
    if os.environ[SERVER] == "theirs" or not hasattr(app.state, "openenv"):
        return app
    from ludus.interop.openenv import from_openenv
    from ludus.server.app import create_app
    from ludus.server.config import ServerConfig
    from ludus.server.served_env import ServedEnv

    theirs, mode = app.state.openenv
    models = {"action": theirs.action_cls, "observation": theirs.observation_cls}
    models |= {"state": getattr(theirs, "state_cls", None)}
    config = ServerConfig(mode=mode)
    served = ServedEnv(lambda: from_openenv(theirs._env_factory(), **models), "tested", config=config)
    return create_app(served, config=config, hosts=None)


def _port(app: Any) -> int:
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, args=([listener],), daemon=True).start()
    return int(listener.getsockname()[1])


def pytest_runtest_logreport(report: Any) -> None:
    """Write down what came of a test."""
    if report.when == "call" or report.outcome != "passed":
        with Path(os.environ[VERDICTS]).open("a", encoding="utf8") as file:
            file.write(json.dumps([report.nodeid, report.outcome]) + "\n")


def verdicts(whose: str, tests: list[str]) -> dict[str, str]:
    """What came of each test, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "verdicts")
        file.touch()
        paths = [Path(__file__).parent, PYTEST, ROOT, sysconfig.get_paths()["purelib"]]
        program = "import sys; sys.path += sys.argv[1].split(':'); import pytest; sys.exit(pytest.main(sys.argv[2:]))"
        options = [
            "-q",
            "-p",
            "openenv_tests",
            "-p",
            "pytest_asyncio.plugin",
            "-o",
            "asyncio_mode=auto",
            "-p",
            "no:cacheprovider",
        ]
        command = [PYTHON, "-c", program, ":".join(map(str, paths)), *options, "--tb=line", *tests]
        environment = {**os.environ, SERVER: whose, VERDICTS: str(file), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        print(done.stdout[-1500:] if done.returncode > 1 else done.stdout.splitlines()[-1], done.stderr[-500:])
        return dict(json.loads(line) for line in file.read_text(encoding="utf8").splitlines())


def main() -> None:
    """Print sums, differences and what both fail; exit with 1 where ours fails what theirs passes, or none ran."""
    theirs, ours = (verdicts(whose, sys.argv[1:]) for whose in ("theirs", "ours"))
    for whose, found in (("OpenEnv's server", theirs), ("ours", ours)):
        print(f"{whose:20}", dict(Counter(found.values())))
    for name in sorted(theirs.keys() | ours.keys()):
        if theirs.get(name) != ours.get(name) or theirs[name] == "failed":
            print(f"{name}: {theirs.get(name)} on OpenEnv's, {ours.get(name)} on ours")
    sys.exit(not theirs or any(one == "passed" and ours.get(name) != "passed" for name, one in theirs.items()))


if __name__ == "__main__":
    main()
