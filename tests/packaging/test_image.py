"""Images: built by podman and by Docker, started, reached through a loopback port, pushed and pulled."""

import shutil
from pathlib import Path

import pytest

from ludus import __version__
from ludus.errors import InvalidArgument, SandboxUnavailable
from ludus.packaging import image, scaffold
from ludus.packaging.engines import EngineProgram, engine
from ludus.packaging.image import base_of, build
from ludus.packaging.manifest import read_manifest
from ludus.packaging.packages import closure, copy_packages
from ludus.packaging.publication import push_image
from ludus.sandbox.containers.images import host_image
from ludus.sandbox.containers.service import most_files, most_processes
from ludus.sandbox.launcher_process import interpreter
from tests.server.engines import answer, container, docker, registry

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("images")]
TOKEN = "a-token-of-sixteen-and-more"
COMPILER = ("numba", "llvmlite")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    """Of a new environment, with a secret in its folder."""
    folder = scaffold("image_test_game", tmp_path_factory.mktemp("made"))[0].parent
    (folder / ".env").write_text("KEY=secret")
    return read_manifest(folder)


@pytest.fixture(scope="module", autouse=True)
def small_base():
    """Without the compiler, which is two thirds of a base and which these environments do not use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image, "closure", lambda wanted: [one for one in closure(wanted) if one.name not in COMPILER])
        yield


@pytest.fixture(scope="module")
def podman(manifest):
    """The engine, and the image that it built on this interpreter."""
    program, tag = engine("podman"), "localhost/image_test_game:0.1.0"
    build(manifest, tag, program, base_of(manifest, "host", program))
    yield program, tag
    program.run("rmi", "--force", tag)


def test_the_image_serves_the_environment_as_a_user_without_rights(podman, manifest):
    program, tag = podman
    with container(program, tag) as (running, url):
        assert answer(f"{url}/metadata")[1]["name"] == "image_test_game"
        assert program.run("exec", running, "id", "-u").strip() == "10001"
        files = program.run("exec", running, "ls", "-A", "/app").split()
    assert files == ["README.md", "image_test_game.py", "ludus.toml", "pyproject.toml", "test_image_test_game.py"]


@pytest.mark.full
def test_on_a_whole_base_rules_can_be_compiled(manifest, monkeypatch):
    monkeypatch.setattr(image, "closure", closure)
    program, tag = engine("podman"), "localhost/image_test_game:whole"
    build(manifest, tag, program, base_of(manifest, "host", program))
    code = "import ludus; print(ludus.make_vec('CartPole-v1', 2, 'kernel').executor)"
    words = ("--rm", "--env=LUDUS_QUIET=1", "--entrypoint", interpreter(), tag, "-c", code)
    limits = (f"--ulimit=nofile={most_files()}", f"--ulimit=nproc={most_processes()}")
    assert program.run("run", *limits, *words).strip() == "kernel"
    program.run("rmi", "--force", tag)


def test_with_tokens_nobody_gets_in_without_one(podman):
    program, tag = podman
    with container(program, tag, LUDUS_TOKENS=f"orchestrator={TOKEN}") as (_, url):
        assert answer(f"{url}/schema")[0] == 401
        assert answer(f"{url}/schema", TOKEN)[0] == 200


def test_an_image_is_pushed_to_a_registry(tmp_path):
    """A small one: whole images go there and come back in `make test-full`."""
    program, folder = engine("podman"), tmp_path / "small"
    folder.mkdir()
    (folder / "Containerfile").write_text("FROM scratch\nCOPY Containerfile /\n")
    with registry(tmp_path) as address:
        there = f"{address}/games/small:0.1.0"
        program.run("build", "--tag", there, str(folder))
        push_image(there, program)
        assert answer(f"http://{address}/v2/games/small/tags/list")[1]["tags"] == ["0.1.0"]
        program.run("rmi", "--force", there)


@pytest.mark.full  # each run builds on this interpreter, and pushes that
def test_an_image_is_built_on_one_of_a_registry_and_pushed_there(manifest, tmp_path):
    program = engine("podman")
    with registry(tmp_path) as address:
        base, tag = f"{address}/base:1", f"{address}/games/image_test_game:0.1.0"
        _base_with_pip(program, base, tmp_path / "base")
        push_image(base, program)
        program.run("rmi", "--force", base)  # it has to come from there
        build(manifest, tag, program, base_of(manifest, base, program))
        push_image(tag, program)
        assert answer(f"http://{address}/v2/games/image_test_game/tags/list")[1]["tags"] == ["0.1.0"]
        told = program.run("image", "inspect", "--format", "{{.Config.User}} {{.Config.ExposedPorts}}", tag)
        assert told.strip() == "10001:10001 map[8000/tcp:{}]"
        program.run("rmi", "--force", tag, base)


@pytest.mark.full  # of the same files as podman, which builds in each run
def test_docker_builds_and_runs_it_too(manifest, tmp_path, monkeypatch):
    program = EngineProgram("docker")
    with docker(tmp_path) as address:
        monkeypatch.setenv("DOCKER_HOST", address)
        build(manifest, "image_test_game:0.1.0", program, base_of(manifest, "host", program))
        with container(program, "image_test_game:0.1.0") as (_, url):
            assert answer(f"{url}/metadata")[1]["name"] == "image_test_game"


def test_an_engine_that_fails_says_why(manifest):
    with pytest.raises(SandboxUnavailable, match=r"podman build: expected to succeed, got .*nowhere"):
        build(manifest, "localhost/x:1", engine("podman"), base_of(manifest, "localhost/nowhere:1", engine("podman")))


def test_an_engine_that_is_not_there_is_named(monkeypatch):
    with pytest.raises(InvalidArgument, match="engine: expected one of podman, docker, got 'lxc'"):
        engine("lxc")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(SandboxUnavailable, match="expected the program podman or docker, got none"):
        engine()


def _base_with_pip(program: EngineProgram, tag: str, context: Path) -> None:
    """An image with Python and pip, as those of registries have; to pip, what is required is installed."""
    copy_packages(closure(["pip"]), context / "packages")
    known = context / "packages" / f"ludus_rl-{__version__}.dist-info" / "METADATA"
    known.parent.mkdir()
    known.write_text(f"Metadata-Version: 2.1\nName: ludus-rl\nVersion: {__version__}\nProvides-Extra: serve\n")
    path = Path(interpreter()).parent
    (context / "Containerfile").write_text(
        f"FROM {host_image(program.api())}\nCOPY packages /packages\n"
        f"ENV PYTHONPATH=/packages PATH={path}:/usr/bin:/bin\n"
    )
    program.run("build", "--tag", tag, "--file", str(context / "Containerfile"), str(context))
