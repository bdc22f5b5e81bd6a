"""`ludus push`, against a server that speaks the calls of `huggingface_hub`."""

import pytest

from ludus.packaging import scaffold
from tests.packaging.hugging_face import TOKEN, Hub


@pytest.fixture
def hub():
    """The server."""
    found = Hub()
    yield found
    found.close()


@pytest.fixture
def game(folder):
    """A new environment, with a secret in its folder."""
    made = scaffold("pushed_game", folder)[0].parent
    (made / ".env").write_text("KEY=secret")
    return made


def test_it_publishes_a_space_and_says_what_was_left_out(program, hub, game):
    done = program("push", "pushed_game", "--repo-id", "ada/game", "--yes", HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert "left out: .env  likely a secret" in done.stderr
    assert f"published {hub.url}/spaces/ada/game  7 files" in done.stdout
    assert "LUDUS_TOKENS" in done.stdout
    assert "Dockerfile" in hub.repositories["ada/game"]["files"]
    assert ".env" not in hub.repositories["ada/game"]["files"]
    assert TOKEN not in done.stdout + done.stderr


def test_a_refusal_is_one_line_and_exit_code_2(program, hub, game):
    done = program("push", "pushed_game", "--repo-id", "ada/game", "--yes", HF_ENDPOINT=hub.url, HF_TOKEN="hf_wrong")
    assert done.returncode == 2
    assert "expected to publish a Space, got" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_is_published_unasked_and_every_file_is_listed(program, hub, game):
    (game / "notes.txt").write_text("mine")
    done = program("push", "pushed_game", "--repo-id", "ada/game", HF_ENDPOINT=hub.url, HF_TOKEN=TOKEN)
    assert done.returncode == 2
    assert "publish: notes.txt" in done.stderr
    assert "expected --yes" in done.stderr
    assert "ada/game" not in hub.repositories


@pytest.mark.parametrize("arguments", [(), ("--repo-id", "a/b", "--registry", "r.example/a:1")])
def test_one_place_has_to_be_named(ludus, tmp_path, arguments):
    done = ludus("push", tmp_path, *arguments)
    assert done.exit_code == 2
    assert "expected --repo-id USER/NAME or --registry HOST/NAME:TAG, one of them" in done.stderr
