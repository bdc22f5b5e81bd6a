"""Publishing: a Space, against a server that speaks the calls of `huggingface_hub`."""

import importlib
import sys

import msgspec
import pytest

from ludus.errors import InvalidArgument, InvalidSpec, MissingExtra, ServiceError
from ludus.packaging import scaffold
from ludus.packaging.engines import EngineProgram
from ludus.packaging.manifest import read_manifest
from ludus.packaging.publication import push_image, push_space, space_files
from tests.packaging.hugging_face import TOKEN, Hub


@pytest.fixture
def hub(monkeypatch):
    """The server, as the only one that is known."""
    found = Hub()
    monkeypatch.setenv("HF_ENDPOINT", found.url)
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield found
    found.close()


@pytest.fixture
def manifest(tmp_path):
    """Of a new environment with a secret in its folder."""
    folder = scaffold("my_maze_game", tmp_path)[0].parent
    (folder / ".env").write_text("KEY=secret")
    return read_manifest(folder)


def front(readme: bytes) -> dict:
    _, text, _ = readme.decode().split("---\n", 2)
    return msgspec.yaml.decode(text)


def test_a_space_has_a_dockerfile_a_readme_that_says_so_and_only_what_belongs(manifest):
    files = space_files(manifest)
    assert sorted(files) == [
        "Dockerfile", "README.md", "ludus.toml", "my_maze_game.py", "openenv.yaml", "pyproject.toml",
        "test_my_maze_game.py",
    ]  # fmt: skip
    assert front(files["README.md"])["sdk"] == "docker"
    assert front(files["README.md"])["app_port"] == 8000
    assert b"# My Maze Game" in files["README.md"]
    assert files["Dockerfile"].startswith(b"FROM python:3.11-slim\n")


def test_what_a_readme_says_already_stays(manifest):
    path = manifest.folder / "README.md"
    path.write_text("---\ntitle: Mine\nsdk: gradio\nemoji: 🧩\n---\nWords.\n")
    files = space_files(manifest)
    known = front(files["README.md"])
    assert (known["title"], known["emoji"], known["sdk"]) == ("Mine", "🧩", "docker")
    assert files["README.md"].decode().endswith("\n\nWords.\n")
    path.write_text("---\n- a\n---\nWords.\n")
    with pytest.raises(InvalidSpec, match=r"README.md: expected front matter with names as keys"):
        space_files(manifest)


def test_a_space_is_made_and_renewed(hub, manifest):
    done = push_space(manifest, "ada/maze", private=True, token=TOKEN)
    made = hub.repositories["ada/maze"]
    assert done.url == f"{hub.url}/spaces/ada/maze"
    assert (made["asked"]["type"], made["asked"]["sdk"]) == ("space", "docker")
    assert made["asked"].get("private") is True or made["asked"].get("visibility") == "private"
    assert made["files"] == {".gitattributes": b"", **space_files(manifest)}
    assert made["messages"] == ["Publish my_maze_game 0.1.0"]
    assert ("POST", "/api/repos/create") in hub.calls
    assert ("POST", "/api/spaces/ada/maze/preupload/main") in hub.calls
    assert ("POST", "/api/spaces/ada/maze/commit/main") in hub.calls

    (manifest.folder / "test_my_maze_game.py").unlink()
    again = push_space(manifest, "ada/maze", token=TOKEN)
    assert again.removed == ("test_my_maze_game.py",)
    assert sorted(made["files"]) == sorted([".gitattributes", *space_files(manifest)])


def test_a_refusal_is_one_line_that_says_what_to_do_and_tells_no_token(hub, manifest):
    wrong = "hf_" + "w" * 20
    with pytest.raises(ServiceError, match=r"expected to publish a Space, got .*is HF_TOKEN set") as failure:
        push_space(manifest, "ada/maze", token=wrong)
    assert wrong not in str(failure.value)
    assert hub.repositories == {}


def test_nobody_there_is_told(manifest, hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(ServiceError, match="expected to publish a Space"):
        push_space(manifest, "ada/maze", token=TOKEN)


@pytest.mark.parametrize("name", ["", "a/b/c", "../x", "a b", "ada/-x", "ada/x--y", "ada/x..y"])
def test_a_name_that_is_no_repository_is_refused(manifest, name):
    with pytest.raises(InvalidArgument, match="repo-id: expected USER/NAME"):
        push_space(manifest, name)


def test_without_the_package_the_extra_is_named(manifest, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ludus-rl\[push\]'"):
        push_space(manifest, "ada/maze")


def test_nothing_of_the_package_is_imported_before_it_is_needed():
    assert "huggingface_hub" not in vars(importlib.import_module("ludus.packaging.publication"))


@pytest.mark.parametrize("tag", ["maze", "maze:1", "ada/maze:1"])
def test_an_image_without_a_registry_in_its_name_is_not_pushed(tag):
    with pytest.raises(InvalidArgument, match="registry: expected HOST/NAME:TAG"):
        push_image(tag, EngineProgram("podman"))
