"""`ludus.serve`: a server in the background, its address, and who reaches it."""

import json
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
from contextlib import suppress

import httpx
import pytest

import ludus
from ludus.errors import AccessDenied, EntryPointError, InvalidArgument, InvalidSpec, ServiceError
from ludus.server import Access, ServedEnv, ServerConfig
from ludus.server.http_limits import LimitedHttp
from ludus.server.listen_config import ListenConfig
from ludus.server.quick_socket import QuickSocket
from ludus.server.targets import Application, offered
from ludus.server.uvicorn_server import uvicorn_config

TOKEN = "orchestrator-of-tests"
LATER = ("connect", "create_app", "serve")


def served(*targets, **options):
    return ludus.serve(*targets, port=0, block=False, **options)


def test_a_handle_has_an_address_until_it_is_closed():
    running = served("CartPole-v1", "GridWorld-v0")
    assert running.url.startswith("http://127.0.0.1:")
    answer = httpx.get(f"{running.url}/health")
    assert answer.status_code == 200
    assert "server" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert list(running.server.offered) == ["CartPole-v1", "GridWorld-v0"]
    running.close()
    running.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running.url}/health")


def test_closing_ends_sessions_threads_and_sockets():
    before = set(threading.enumerate())
    with served("CartPole-v1") as running, httpx.Client(base_url=running.url) as http:
        assert http.post("/reset", json={}).status_code == 200
        assert len(running.server.sessions.infos()) == 1
    assert running.server.sessions.infos() == []
    assert not [one for one in threading.enumerate() if one not in before and one.name.startswith("ludus-server")]


def test_several_servers_live_side_by_side():
    with served("CartPole-v1") as one, served("GridWorld-v0") as two:
        assert one.url != two.url
        names = [httpx.get(f"{url}/metadata").json()["name"] for url in (one.url, two.url)]
        assert names == ["CartPole-v1", "GridWorld-v0"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_others_reach_no_server_without_tokens(host):
    with pytest.raises(AccessDenied, match=r"expected this machine's own .* for a server without tokens"):
        ludus.serve("CartPole-v1", host=host, port=0, block=False)


def test_tokens_or_a_word_open_it_to_others():
    for options, open_to_all in (({}, False), ({"insecure": True}, True)):
        where = ListenConfig(host="0.0.0.0", **options)  # never bound
        where.check(open_to_all=open_to_all)
        assert where.allowed is None  # who knows what it is called out there
    assert ListenConfig(host="0.0.0.0", hosts=("ours.example",)).allowed == ("ours.example",)
    assert [ListenConfig(host=host).private for host in ("127.0.0.9", "::1", "localhost", "::")] == [True] * 3 + [False]


def test_on_loopback_it_is_called_by_its_own_name_or_one_that_was_allowed():
    with served("CartPole-v1", hosts=("ours.example",)) as running:
        statuses = [
            httpx.get(f"{running.url}/health", headers={"Host": name}).status_code
            for name in ("localhost", "ours.example", "theirs.example")
        ]
    assert statuses == [200, 200, 421]


def test_an_address_in_use_is_refused():
    with served("CartPole-v1") as running:
        port = int(running.url.rpartition(":")[2])
        with pytest.raises(ServiceError, match=f"expected an address to be free, got 127.0.0.1:{port}"):
            ludus.serve("CartPole-v1", port=port, block=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"port": 70_000}, "port: expected 0 to 65535"),
        ({"port": 0, "tls_cert": "x"}, "expected a certificate and its key"),
        (
            {"port": 0, "unix": "x", "config": ServerConfig(workers=2), "block": True},
            "1 for a server with a Unix socket",
        ),
        ({"deadline": 5.0}, r"unknown argument 'deadline'; write config=ServerConfig\(deadline=…\)"),
        ({"hots": ["a"]}, r"unknown argument 'hots'; did you mean 'hosts'\?; it takes .*config"),
        ({"settings": ServerConfig()}, r"unknown argument 'settings'; it takes "),
    ],
)
def test_what_does_not_go_together_is_refused(options, words):
    with pytest.raises(InvalidArgument, match=words):
        ludus.serve("CartPole-v1", **{"block": False, **options})


def test_nothing_is_not_served():
    with pytest.raises(InvalidArgument, match="expected at least one environment"):
        served()


def test_a_wrong_certificate_is_told(tmp_path):
    (tmp_path / "no.pem").write_text("nothing")
    with pytest.raises(InvalidArgument, match="TLS: expected a certificate and its key as PEM files"):
        served("CartPole-v1", tls_cert=str(tmp_path / "no.pem"), tls_key=str(tmp_path / "no.pem"))


def test_tls(tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    with served("CartPole-v1", tls_cert=str(cert), tls_key=str(key)) as running:
        assert running.url.startswith("https://")
        context = ssl.create_default_context(cafile=str(cert))
        assert httpx.get(f"{running.url}/health", verify=context).status_code == 200


def test_the_wire_has_a_path_of_its_own(tmp_path):
    path = tmp_path / "wire"
    with served("CartPole-v1", unix=str(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with ludus.connect(f"unix://{path}") as env:
            env.reset(seed=1)
            assert env.step(1).reward == 1.0
    assert not path.exists()


def test_a_path_that_is_taken_is_told(tmp_path):
    (tmp_path / "wire").write_text("a file")
    with pytest.raises(InvalidArgument, match="unix socket: expected a path that is free"):
        served("CartPole-v1", unix=str(tmp_path / "wire"))
    assert (tmp_path / "wire").read_text() == "a file"


def test_an_application_that_does_not_begin_is_told(theirs):
    (theirs / "their_app_of_tests.py").write_text("async def app(scope, receive, send):\n    raise RuntimeError\n")
    with pytest.raises(ServiceError, match="expected an application that begins"):
        served(str(theirs))


def test_without_pages_there_is_no_page():
    with served("CartPole-v1", pages=False) as running:
        assert httpx.get(f"{running.url}/").status_code == 404


HELD_UP = """
import sys, threading
from ludus.envs.teaching.grid_world import GridWorld
from ludus.server import ServerConfig
from ludus.server.listen_config import ListenConfig
from ludus.server.server_plan import ServerPlan
from ludus.server.quick_socket import QuickSocket
from ludus.server.run import run

class Endless(GridWorld):
    def reset(self, **options):
        print("held up", flush=True)
        threading.Event().wait()

plan = ServerPlan([Endless], ServerConfig(isolation="none", listen=ListenConfig(port=0)))
run(plan, lambda url: print(url, flush=True), patience=float(sys.argv[1]))
"""


def test_a_program_that_is_held_up_ends_all_the_same():
    with subprocess.Popen([sys.executable, "-c", HELD_UP, "0.2"], stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        asking = threading.Thread(target=_asked, args=(f"{url}/reset",))
        asking.start()
        assert process.stdout.readline() == "held up\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 1
        asking.join()


def _asked(url):
    with suppress(httpx.HTTPError):
        httpx.post(url, json={}, timeout=60)


# --- targets ---

MANIFEST = 'name = "corridor"\nenvironment = "corridor_of_tests:Corridor"\n[arguments]\nsize = 3\n'
MODULE = """
from ludus.envs.teaching.grid_world import GridWorld

class Corridor(GridWorld):
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an environment."""
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "ludus.toml").write_text(MANIFEST)
    (tmp_path / "corridor_of_tests.py").write_text(MODULE)
    return tmp_path


def test_a_folder_is_served_under_its_name(folder):
    with served(str(folder)) as running:
        assert list(running.server.offered) == ["corridor"]
        assert httpx.post(f"{running.url}/reset", json={"seed": 1}).status_code == 200


def test_an_asgi_application_takes_folders(folder):
    assert list(ludus.create_app(str(folder)).state.server.offered) == ["corridor"]


def test_an_application_is_no_part_of_another(theirs):
    with pytest.raises(InvalidArgument, match="which is an application already"):
        ludus.create_app(str(theirs))


def test_a_folder_without_a_manifest_says_so(tmp_path):
    with pytest.raises(InvalidSpec, match=r"expected a folder with ludus\.toml"):
        served(f"{tmp_path}/")


OPENENV = "spec_version: 1\nname: theirs\nruntime: fastapi\napp: their_app_of_tests:app\nport: 8000\n"
APP = """
async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"theirs"})
"""


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """A folder made for OpenEnv, with an application of its own."""
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "openenv.yaml").write_text(OPENENV)
    (tmp_path / "their_app_of_tests.py").write_text(APP)
    yield tmp_path
    sys.modules.pop("their_app_of_tests", None)


def test_an_application_is_served_as_it_is_behind_our_guard(theirs):
    access = Access({TOKEN: "orchestrator", "an-agent-of-the-tests": "agent"})
    with served(str(theirs), access=access) as running:
        answers = [
            httpx.get(f"{running.url}/anything", headers={"Authorization": f"Bearer {token}"})
            for token in (TOKEN, "an-agent-of-the-tests", "nobody")
        ]
    assert [one.status_code for one in answers] == [200, 403, 401]
    assert answers[0].text == "theirs"


def test_an_application_is_alone_and_has_no_isolation(theirs):
    assert isinstance(offered([str(theirs)], ServerConfig()), Application)
    for targets, config in (
        ([str(theirs), "CartPole-v1"], ServerConfig()),
        ([str(theirs)], ServerConfig(isolation="process")),
    ):
        with pytest.raises(InvalidArgument, match="expected"):
            offered(targets, config)
    with pytest.raises(InvalidArgument, match="workers: expected 1"):
        ludus.serve(str(theirs), port=0, config=ServerConfig(workers=2))


def test_an_application_that_lacks_a_package_says_which(theirs):
    (theirs / "their_app_of_tests.py").write_text("import a_package_that_is_not_there\n")
    with pytest.raises(EntryPointError, match="a_package_that_is_not_there"):
        offered([str(theirs)], ServerConfig())


def test_what_is_settled_already_is_taken_as_it_is():
    one = ServedEnv("CartPole-v1", "mine")
    assert offered([one], ServerConfig()) == [one]


# --- the names at the top ---


def test_the_room_is_the_function_whatever_was_imported_first(tmp_path):
    first = "import ludus.server.config, ludus; print(ludus.serve('CartPole-v1', port=0, block=False).close())"
    then = "import ludus; print(ludus.serve('CartPole-v1', port=0, block=False).close())"
    for source in (first, then):
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
        assert done.stdout == "None\n"


def test_the_names_are_there_and_others_are_not():
    assert all(callable(getattr(ludus, name)) for name in LATER)
    assert set(LATER) <= set(ludus.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'srve'"):
        ludus.__getattr__("srve")
    with pytest.raises(AttributeError, match="has no attribute 'srve'"):
        ludus.server.__getattr__("srve")


def test_uvicorn_is_set_up_by_our_settings():
    made = uvicorn_config(None, ServerConfig(body=1234))
    assert (made.ws_max_size, made.ws, made.http, made.loop) == (1234, QuickSocket, LimitedHttp, "uvloop")
    assert (made.server_header, made.access_log, made.proxy_headers) == (False, False, False)


def test_a_message_beyond_the_limit_ends_its_connection_alone():
    with served("CartPole-v1", config=ServerConfig(body=4096)) as running, httpx.Client(base_url=running.url) as http:
        assert http.post("/reset", content=b"x" * 5000).status_code in (400, 413, 422)
        assert http.get("/health").json() == {"status": "healthy"}


def test_a_port_is_listened_at_by_one_socket():
    listener = ListenConfig(port=0).bind()
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    assert json.loads(json.dumps(ListenConfig(port=0).url(listener))).startswith("http://127.0.0.1")
    listener.close()


@pytest.mark.parametrize("call", ["ludus.serve('CartPole-v1')", "ludus.create_app('CartPole-v1')"])
def test_without_its_packages_it_says_which_extra(call):
    source = f"import sys; sys.modules['starlette.applications'] = None\nimport ludus\n{call}"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert "MissingExtra: serve: expected the packages of the extra 'serve', got no starlette" in done.stderr
