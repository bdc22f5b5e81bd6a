"""`ludus build`: what it prints and writes; that images are built is tested with the engines."""

import pytest

from ludus.packaging import scaffold


@pytest.fixture
def game(tmp_path):
    """A new environment."""
    return scaffold("built_game", tmp_path)[0].parent


def test_it_prints_the_containerfile_and_nothing_else(ludus, game):
    done = ludus("build", game, "--print")
    assert done.exit_code == 0
    assert done.stdout.startswith("FROM python:3.11-slim\n")
    assert done.stdout.count("\n") == len(done.stdout.splitlines())
    assert ludus("build", game, "--print", "--base", "registry.example/py:3").stdout.startswith(
        "FROM registry.example/py:3\n"
    )
    assert not (game / "Containerfile").exists()


def test_it_writes_what_is_derived_and_a_workflow(ludus, game):
    assert ludus("build", game, "--write", "--workflow").exit_code == 0
    assert (game / "Containerfile").read_text() == ludus("build", game, "--print").stdout
    assert "**/.env" in (game / ".dockerignore").read_text()
    assert "name: built_game" in (game / "openenv.yaml").read_text()
    assert "ludus check ." in (game / ".github" / "workflows" / "ludus.yml").read_text()
    assert ludus("build", game, "--write", "--workflow").exit_code == 0  # the same again


def test_a_file_that_says_something_else_stays(ludus, game):
    (game / "Containerfile").write_text("FROM mine\n")
    done = ludus("build", game, "--write")
    assert (done.exit_code, (game / "Containerfile").read_text()) == (2, "FROM mine\n")
    assert "expected to write a new file, got one that is there; remove or rename it" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-t", "Not A Tag"), "tag: expected [HOST/]name[:tag]"),
        (("--engine", "lxc"), "engine: expected one of podman, docker"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_built(ludus, game, arguments, told):
    done = ludus("build", game, *arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_folder_without_a_manifest_is_refused(ludus, tmp_path):
    done = ludus("build", tmp_path)
    assert done.exit_code == 2
    assert "expected a folder with ludus.toml or openenv.yaml" in done.stderr


def test_an_engine_that_is_not_installed_is_named(ludus, game, monkeypatch):
    monkeypatch.setenv("PATH", "")
    done = ludus("build", game)
    assert done.exit_code == 2
    assert "apt-get install podman" in done.stderr
