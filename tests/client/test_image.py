"""`connect("image:NAME")`: a container is started, reached, and removed, whatever happens."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

from ludus.client import EnvClient, ImagePolicy, TypedClient, connect
from ludus.client.image import start_image
from ludus.client.inside import _handed_over
from ludus.errors import InvalidArgument, SandboxError, SandboxUnavailable
from ludus.sandbox.containers import Podman
from ludus.sandbox.containers.description import LABEL
from tests.client.images import build

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("images")]  # two workers would remove one image
IMAGE = f"localhost/ludus-test-server-{os.getpid()}"
SERVER = """
import os, ludus
if "BROKEN" in os.environ:
    sys.exit(3)
ludus.serve("open/Echo-v0", host="127.0.0.1", port=8000, pages=False)
"""


@pytest.fixture(scope="module")
def api():
    return Podman().connect()


@pytest.fixture(scope="module")
def image(api):
    build(api, IMAGE, SERVER)
    yield IMAGE
    api.remove_image(IMAGE)


def containers(api, process=None):
    """Those of this process, or of another one."""
    pid = str(process or os.getpid())
    return {name for name, (owner, _) in api.labelled(LABEL).items() if owner.split(".")[2] == pid}


def test_a_container_serves_within_its_limits_and_is_gone_afterwards(api, image):
    before = containers(api)
    policy = ImagePolicy(memory=512 << 20, cpus=1.5, processes=100, engine="podman")
    with connect(f"image:{image}", image=policy) as env:
        observation, _ = env.reset(seed=1)
        assert observation.message_length == 0
        assert env.step({"message": "hello"}).reward == pytest.approx(0.5)
        (ours,) = containers(api) - before
        host = api.call("GET", f"/containers/{ours}/json")["HostConfig"]
        assert host["Memory"] == 512 << 20
        assert host["NanoCpus"] == 1_500_000_000
        assert host["PidsLimit"] == 100
        assert host["ReadonlyRootfs"] is True
        assert host["NetworkMode"] == "none"
        assert host["CapDrop"]
        assert "no-new-privileges" in host["SecurityOpt"]
    assert containers(api) == before


def test_the_typed_styles_start_one_too(api, image):
    before = containers(api)
    with TypedClient(f"image:{image}") as client:
        client.reset()
        assert client.step(message="hi").observation.message_length == 2
    with EnvClient.from_docker_image(image) as client:
        client.reset()
        assert client.step({"message": "hi"}).observation.echoed_message == "hi"
    assert containers(api) == before


def test_nothing_is_left_when_the_parent_is_killed(api, image):
    program = (
        "import sys; from ludus.client import connect\n"
        f"env = connect('image:{image}'); env.reset(); print('up', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        (ours,) = containers(api, child.pid)
        inside = int(api.state(ours)["Pid"])
        end = os.pidfd_open(inside)
        os.kill(child.pid, signal.SIGKILL)
    try:
        signal.pidfd_send_signal(end, 0)
        assert wait_readable(end)
    except ProcessLookupError:
        pass
    finally:
        os.close(end)
    patience = time.monotonic() + 60.0
    while containers(api, child.pid) and time.monotonic() < patience:
        os.sched_yield()
    assert containers(api, child.pid) == set()


def wait_readable(descriptor):
    return bool(select.select([descriptor], [], [], 60.0)[0])


def test_an_image_whose_server_does_not_begin_is_an_error_and_leaves_nothing(api, image):
    before = containers(api)
    with pytest.raises(SandboxError, match="exit code 3"):
        start_image(image, ImagePolicy(variables={"BROKEN": "3"}), seconds=120)
    assert containers(api) == before


def test_who_is_not_root_gets_its_socket_from_a_helper(image):
    running = start_image(image)
    try:
        with _handed_over(running.pid, 8000, 10.0) as link:
            link.sendall(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert link.recv(1000).startswith(b"HTTP/1.1 200")
        with pytest.raises(ConnectionRefusedError, match="nobody listens inside"):
            _handed_over(running.pid, 8001, 10.0)
    finally:
        running.close()
        running.close()


def test_what_is_not_here_is_not_pulled():
    with pytest.raises(SandboxUnavailable, match="nothing is pulled"):
        connect("image:localhost/there-is-no-such-image", image=ImagePolicy(engine="podman"))


@pytest.mark.parametrize("wrong", [{"memory": 0}, {"cpus": -1}, {"network": "host"}, {"port": True}])
def test_a_policy_that_is_none_is_refused(wrong):
    with pytest.raises(InvalidArgument, match=f"image policy {next(iter(wrong))}: expected"):
        ImagePolicy(**wrong)
