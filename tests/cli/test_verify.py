"""`ludus eval --out`, `ludus verify` and `ludus leaderboard`."""

import subprocess

import pytest

from ludus.evaluate import read_evaluation
from tests.evaluate.forgery import Forgery


@pytest.fixture
def result(tmp_path, ludus):
    path = tmp_path / "result.ludus"
    done = ludus("eval", "CartPole-v1", "--agent", "random", "--episodes", 4, "--seed", 7, "--out", path)
    assert done.exit_code == 0, done.stderr
    assert f"check it with: ludus verify {path}" in " ".join(done.stdout.split())
    return path


def test_a_result_is_confirmed(result, ludus, read):
    done = ludus("verify", result)
    assert done.exit_code == 0
    assert "confirmed: 4 episodes" in done.stdout
    assert "note: seed 7" in done.stdout
    (plain,) = read(ludus("verify", result, "--json").stdout)
    assert plain["confirmed"]
    assert plain["findings"] == []


def test_what_is_wrong_is_named_and_the_exit_code_is_1(result, ludus, read):
    forged = Forgery(result)
    forged.column("episodes/return")[2] += 1
    forged.save(result)
    done = ludus("verify", result)
    assert done.exit_code == 1
    assert "not confirmed" in done.stdout
    assert "episode 2, step " in done.stdout
    (plain,) = read(ludus("verify", result, "--json").stdout)
    assert (plain["confirmed"], plain["findings"][0]["episode"]) == (False, 2)


def test_an_evaluation_goes_on_in_its_file(result, ludus):
    before = read_evaluation(result)
    command = ("eval", "CartPole-v1", "--agent", "random", "--episodes", 4, "--seed", 7, "--out", result)
    assert ludus(*command).exit_code == 2
    assert ludus(*command, "--resume").exit_code == 0
    assert read_evaluation(result) == before
    assert ludus("eval", "CartPole-v1", "--agent", "random", "--resume").exit_code == 2


def test_a_result_is_signed(tmp_path, ludus):
    key, path = tmp_path / "key.pem", tmp_path / "r.ludus"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
    done = ludus("eval", "GridWorld-v0", "--agent", "nop", "--episodes", 2, "--out", path, "--sign", key)
    assert done.exit_code == 0, done.stderr
    assert "note: signed by " in ludus("verify", path).stdout
    assert ludus("verify", path, "--signed-by", "ab" * 32).exit_code == 1


def test_too_many_masked_episodes_are_an_error(folder, program):
    (folder / "bad.py").write_text(
        "from ludus.envs.teaching import GridWorld\n"
        "class Bad(GridWorld):\n"
        "    def step(self, action):\n"
        "        raise RuntimeError('broken')\n"
    )
    done = program("eval", "bad:Bad", "--agent", "random", "--episodes", 3)
    assert done.returncode == 2
    assert "expected at most 10% of episodes masked, got 100.0%" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_leaderboard_is_a_table_and_a_page(result, tmp_path, ludus, read):
    (tmp_path / "torn.ludus").write_bytes(result.read_bytes()[:400])
    page = tmp_path / "index.html"
    done = ludus("leaderboard", tmp_path, "--html", page, "--title", "Mine")
    assert done.exit_code == 0
    assert "CartPole-v1" in done.stdout
    assert "not shown: " in done.stderr
    assert "<h1>Mine</h1>" in page.read_text(encoding="utf8")
    plain = read(ludus("leaderboard", tmp_path, "--json").stdout)
    assert [one["agent"] for one in plain["lines"]] == ["random"]
    assert len(plain["refused"]) == 1


def test_a_suite_needs_a_folder(ludus):
    done = ludus("eval", "suite:classic", "--agent", "random")
    assert done.exit_code == 2
    assert "suite: expected a folder for its results, --out FOLDER, got none" in done.stderr
