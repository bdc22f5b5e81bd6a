"""The proxy reaches the hosts it was given and nobody else; from inside it is the only way out."""

import errno
import http.server
import os
import socket
import threading

import pytest

from ludus.sandbox import Limits, Sandbox, backend, proxy
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.proxy import Proxy, address

PYTHON = [interpreter(), "-I", "-S", "-c"]


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if self.path == "/host":
            self.wfile.write(",".join(self.headers.get_all("Host")).encode())
            return
        self.wfile.write(f"{self.path} {self.headers['Connection']} {self.headers['Proxy-Connection']}".encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body[::-1])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found.server_port
        found.shutdown()
        thread.join()


@pytest.fixture
def open_proxy():
    made = []

    def make(*hosts):
        made.append(Proxy(hosts))
        return made[-1]

    yield make
    for one in made:
        one.close()
        one.close()
        assert not os.path.exists(one.path)


def call(proxy, request):
    """Say something, and hear all of the answer."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(60)
        caller.connect(proxy.path)
        caller.sendall(request)
        answer = b""
        while some := caller.recv(65536):
            answer += some
        return answer


def test_a_named_host_is_reached_by_connect(server, open_proxy):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(60)
        caller.connect(open_proxy(f"localhost:{server}").path)
        caller.sendall(f"CONNECT LOCALHOST.:{server} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert caller.recv(100).startswith(b"HTTP/1.1 200 ")
        caller.sendall(b"GET /path HTTP/1.0\r\n\r\n")
        answer = b""
        while some := caller.recv(65536):
            answer += some
    assert answer.endswith(b"/path None None")


def test_what_follows_the_request_at_once_is_not_lost(server, open_proxy):
    request = f"CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\nGET /early HTTP/1.0\r\n\r\n".encode()
    assert call(open_proxy(f"127.0.0.1:{server}"), request).endswith(b"/early None None")


def test_a_plain_request_is_passed_on(server, open_proxy):
    request = (
        f"GET http://localhost:{server}/a/b?c=d HTTP/1.1\r\nHost: localhost\r\nProxy-Connection: keep-alive\r\n"
        "Connection: keep-alive\r\n\r\n"
    )
    assert call(open_proxy(f"localhost:{server}"), request.encode()).endswith(b"/a/b?c=d close None")


def test_a_body_is_passed_on(server, open_proxy):
    body = bytes(range(256)) * 2000
    request = (
        f"POST http://localhost:{server} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )
    assert call(open_proxy(f"localhost:{server}"), request).endswith(body[::-1])


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT localhost:{other} HTTP/1.1",
        "CONNECT 127.0.0.1:{port} HTTP/1.1",
        "CONNECT localhost.example.org:{port} HTTP/1.1",
        "CONNECT example.org:80 HTTP/1.1",
        "GET http://localhost:{other}/ HTTP/1.1",
        "GET http://localhost/ HTTP/1.1",
        "GET http://localhost:{port}@example.org/ HTTP/1.1",
    ],
)
def test_nobody_else_is_reached(server, open_proxy, request_line):
    asked = request_line.format(port=server, other=server + 1)
    answer = call(open_proxy(f"localhost:{server}"), f"{asked}\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert f"expected one of localhost:{server}, got ".encode() in answer


@pytest.mark.parametrize(
    "request_text",
    ["nonsense\r\n\r\n", "CONNECT localhost HTTP/1.1\r\n\r\n", "CONNECT localhost:x HTTP/1.1\r\n\r\n", "\r\n\r\n",
     "GET / HTTP/1.1\r\n\r\n", "GET https://localhost/ HTTP/1.1\r\n\r\n", "GET http://[bad/ HTTP/1.1\r\n\r\n",
     "GET http://localhost:99999/ HTTP/1.1\r\n\r\n", "x" * 20000],
)  # fmt: skip
def test_what_is_no_request_is_refused(open_proxy, request_text):
    assert call(open_proxy("localhost:80"), request_text.encode()).startswith(b"HTTP/1.1 400 ")


def test_a_host_that_does_not_answer_is_told(open_proxy):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        port = taken.getsockname()[1]
        answer = call(open_proxy(f"127.0.0.1:{port}"), f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 502 ")


def test_connections_are_bounded_and_more_wait(server, open_proxy, monkeypatch):
    monkeypatch.setattr(proxy, "MAX_CONNECTIONS", 2)
    one, threads = open_proxy(f"localhost:{server}"), threading.active_count()
    with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
        for caller in (first, second):
            caller.settimeout(60)
            caller.connect(one.path)
            caller.sendall(f"CONNECT localhost:{server} HTTP/1.1\r\n\r\n".encode())
            assert caller.recv(100).startswith(b"HTTP/1.1 200 ")
        with socket.socket(socket.AF_UNIX) as third:
            third.connect(one.path)
            third.sendall(f"GET http://localhost:{server}/a HTTP/1.1\r\n\r\n".encode())
            assert threading.active_count() <= threads + 4  # theirs, and the server's for each of them
            third.settimeout(0.2)
            with pytest.raises(TimeoutError):
                third.recv(1)
            first.close()
            third.settimeout(60)
            assert third.recv(100).startswith(b"HTTP/1.0 200 ")


def test_a_shortage_of_descriptors_is_survived(server, open_proxy):
    found = open_proxy(f"127.0.0.1:{server}")
    real = found._listener

    class Short:
        left = 3

        def accept(self):
            self.left -= 1
            if self.left >= 0:
                raise OSError(errno.EMFILE, "too many open files")
            return real.accept()

        def __getattr__(self, name):
            return getattr(real, name)

    found._listener = Short()
    for _ in range(3):  # the first was being waited for already
        assert call(found, f"GET http://127.0.0.1:{server}/a HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.0 200")


def test_whom_a_request_is_for_follows_from_its_target(server, open_proxy):
    found = open_proxy(f"127.0.0.1:{server}")
    for lie in ("Host: internal.example", "HOST : internal.example", "X: y\r\n Host: internal.example"):
        said = call(found, f"GET http://127.0.0.1:{server}/host HTTP/1.1\r\n{lie}\r\n\r\n".encode())
        assert said.endswith(f"127.0.0.1:{server}".encode()), said
    said = call(found, f"GET http://127.0.0.1:{server}/host HTTP/1.1\r\nX: y\nHost: internal.example\r\n\r\n".encode())
    assert said.startswith(b"HTTP/1.1 400")


def test_closing_hangs_up(server, open_proxy):
    one = open_proxy(f"localhost:{server}")
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(60)
        caller.connect(one.path)
        caller.sendall(f"CONNECT localhost:{server} HTTP/1.1\r\n\r\n".encode())
        assert caller.recv(100).startswith(b"HTTP/1.1 200 ")
        one.close()
        assert caller.recv(100) == b""


def test_only_the_owner_reaches_its_socket(open_proxy):
    assert os.stat(os.path.dirname(open_proxy("localhost:80").path)).st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("text", "known"), [("A.example:1", ("a.example", 1)), ("[::1]:80", ("::1", 80)), ("a.:443", ("a", 443))]
)
def test_addresses_are_compared_in_one_form(text, known):
    assert address(text) == known


# From inside.


@pytest.fixture
def working():
    found = backend("bubblewrap").probe()
    assert found.works, found.detail


def python(script, **policy):
    return Sandbox("bubblewrap", limits=Limits(wall=20), **policy).run([*PYTHON, script])


@pytest.mark.usefixtures("working")
def test_from_inside_the_named_host_is_reached_and_nobody_else(server):
    script = f"""
import socket, urllib.request
proxies = dict.fromkeys(("http", "https"), "http://127.0.0.1:{proxy.PORT}")
opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
print(opener.open("http://127.0.0.1:{server}/in").read())
for url in ("http://127.0.0.1:{server + 1}/", "http://example.org/", "https://example.org/"):
    try: opener.open(url)
    except OSError as error: print(error)
try: socket.create_connection(("127.0.0.1", {server}), timeout=5)
except OSError as error: print(error.errno)
"""
    done = python(script, network=[f"127.0.0.1:{server}"], environment={"no_proxy": "", "NO_PROXY": ""})
    assert done.stdout.decode().splitlines() == [
        "b'/in close None'",
        "HTTP Error 403: Forbidden",
        "HTTP Error 403: Forbidden",
        "<urlopen error Tunnel connection failed: 403 Forbidden>",
        "111",
    ], done.stderr


@pytest.mark.usefixtures("working")
def test_programs_are_told_of_the_proxy(server):
    script = (
        "import os; print(*sorted(name for name in os.environ if 'proxy' in name.lower()), os.environ['HTTPS_PROXY'])"
    )
    done = python(script, network=["localhost:1"])
    names = "ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy http_proxy https_proxy no_proxy http://127.0.0.1:3128"
    assert done.stdout.decode().split() == names.split()


@pytest.mark.usefixtures("working")
def test_the_relay_carries_much_in_both_directions(server):
    script = f"""
import http.client
body = bytes(range(256)) * 8000
for _ in range(3):
    connection = http.client.HTTPConnection("127.0.0.1", {proxy.PORT})
    connection.request("POST", "http://localhost:{server}/", body)
    assert connection.getresponse().read() == body[::-1]
print("same")
"""
    assert python(script, network=[f"localhost:{server}"]).stdout == b"same\n"


@pytest.mark.usefixtures("working")
def test_the_relay_is_nobodys_child_and_holds_nothing(server):
    script = """
import os
try: os.waitpid(-1, os.WNOHANG)
except ChildProcessError: print("no child")
print(len(os.listdir("/proc/self/fd")))
"""
    done = python(script, network=[f"localhost:{server}"])
    assert done.stdout.split() == [b"no", b"child", b"4"]
    assert done.usage.processes <= 2  # the relay leaves through a process in the middle


@pytest.mark.usefixtures("working")
def test_a_command_that_is_not_there_is_told_behind_the_relay_too():
    box = Sandbox("bubblewrap", limits=Limits(wall=20), network=["localhost:1"])
    done = box.run(["no-such-command"])
    assert done.code == 127
    assert b"no-such-command" in done.stderr
    assert box.run(["/usr/share"]).code == 126


@pytest.mark.usefixtures("working")
def test_nothing_is_left_of_the_proxy():
    box = Sandbox("bubblewrap", limits=Limits(wall=20), network=["localhost:1"])
    with box.start(["/bin/sleep", "100"]) as process:
        folder = os.path.dirname(process._proxy.path)
        assert os.path.exists(folder)
    assert not os.path.exists(folder)
