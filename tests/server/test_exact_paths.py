"""Paths that are known to the letter lead where the routers would, and nowhere else."""

from typing import Any

import pytest
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from ludus.server import ServerConfig, create_app
from ludus.server.exact_paths import ExactPaths

WORLD = "tests.server.direct_worlds:Tape"


@pytest.fixture
def client() -> Any:
    with TestClient(create_app(WORLD, config=ServerConfig(isolation="none"))) as client:
        yield client


@pytest.mark.parametrize("root", ["", "/env/Tape"])
def test_an_episode_over_http_is_the_same_by_either_way(
    client: Any, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played() -> list[Any]:
        found = [client.post(f"{root}/reset", json={"seed": 3})]
        found += [client.post(f"{root}/step", json={"action": {"letter": letter}}) for letter in (1, 2)]
        found += [client.get(f"{root}/state"), client.post(f"{root}/step", content=b"{"), client.get(f"{root}/step")]
        found += [client.post(f"{root}/close")]
        session = found[0].json()["session_id"]
        episode = found[3].json()["episode_id"]
        return [(one.status_code, one.text.replace(session, "S").replace(episode, "E")) for one in found]

    by_letter = played()
    monkeypatch.setattr(ExactPaths, "__call__", lambda self, scope, receive, send: self.app(scope, receive, send))
    assert played() == by_letter
    assert [status for status, _ in by_letter] == [200, 200, 200, 200, 422, 405, 200]


def test_what_the_routers_find_first_for_a_path_is_found_here_or_left_to_them() -> None:
    app = create_app(WORLD, config=ServerConfig(isolation="none"))
    (step,) = [one for one in app.routes if isinstance(one, Route) and one.path == "/step"]

    async def another(request: Any) -> Any:
        raise NotImplementedError

    alone = ExactPaths(app, [step, Mount("/env/x", routes=[step])])
    assert {key: found.root for key, found in alone.known.items()} == {
        ("/step", "POST"): "",
        ("/env/x/step", "POST"): "/env/x",
    }
    assert not ExactPaths(app, [Route("/{any:path}", another, methods=["POST"]), step]).known
    assert ExactPaths(app, [Route("/{any:path}", another, methods=["GET"]), step]).known


def test_the_cookie_of_a_reset_is_for_the_path_that_it_was_asked_at(client: Any) -> None:
    for root, path in (("", "Path=/;"), ("/env/Tape", "Path=/env/Tape;")):
        assert path in client.post(f"{root}/reset", json={}).headers["set-cookie"]
