"""`ludus replay`, and `--record` of the verbs that leave something to replay."""

import numpy as np
import pytest

import ludus as library
from ludus.trajectory import Recorder, Run

CODE = '''
from ludus.core import Env, Step
from ludus.spaces import Discrete


class Lodge(Env):
    """A stranger's environment, which says when it is loaded."""

    observation_space, action_space = Discrete(9), Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return int(self.np_random.integers(9)), {}

    def step(self, action):
        return Step(int(self.np_random.integers(9)), 1.0, bool(self.np_random.random() < 0.2), False, {})
'''


def test_a_run_that_was_recorded_is_seen_again(ludus, tmp_path):
    path = tmp_path / "run.ludus"
    assert ludus("run", "CartPole-v1", "--episodes", "3", "--record", str(path)).exit_code == 0
    run = Run.open(path)
    assert ([episode.seed for episode in run], run.level) == ([0, 1, 2], "seeds")
    result = ludus("replay", str(path))
    assert result.exit_code == 0
    assert "episodes were seen again" in result.output


def test_how_much_is_recorded_can_be_said_and_other_names_are_refused(ludus, tmp_path):
    path = tmp_path / "run.ludus"
    assert ludus("run", "GridWorld-v0", "--episodes", "1", "--record", str(path), "--level", "full").exit_code == 0
    assert Run.open(path)[0].observations.shape[1:] == (2,)
    result = ludus("run", "GridWorld-v0", "--record", str(tmp_path / "run.h5"))
    assert result.exit_code != 0
    assert "ends in .ludus" in result.stderr
    assert "expected a path for a new file" in ludus("run", "GridWorld-v0", "--record", str(path)).stderr


def test_a_run_that_differs_is_told_with_the_place_of_the_first_difference(ludus, tmp_path):
    path = tmp_path / "run.ludus"
    with Recorder(library.make("CartPole-v1"), path, "steps") as env:
        env.reset(seed=0)
        env.step(0)
        env.unwrapped.gravity = 1.0  # no later reader can know
        for _ in range(4):
            env.step(0)
    result = ludus("replay", str(path))
    assert result.exit_code == 1
    assert "2 of 6 rows agree; then episode 0, step 2: observation: recorded 'digest" in result.stderr


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_an_episode_of_a_batch_is_filmed_from_its_seeds(ludus, tmp_path, mode):
    path, video = tmp_path / "run.ludus", tmp_path / "a.gif"
    with Recorder(library.make_vec("CartPole-v1", 3, autoreset_mode=mode), path) as envs:
        envs.reset(seed=5)
        for count in range(60):
            envs.step(np.full(3, count % 3 == 0, np.int64))
    run = Run.open(path)
    late = max((one for one in run if not one.masked), key=lambda one: one.start)
    assert late.start > 20
    result = ludus("replay", str(path), "--episode", str(late.number), "--video", str(video))
    assert result.exit_code == 0, result.stderr
    assert f"{late.length + 1} pictures of episode {late.number}" in result.output.replace("\n", " ")
    assert video.read_bytes()[:4] == b"GIF8"


def test_what_was_not_seen_again_is_no_video(ludus, tmp_path):
    path, video = tmp_path / "run.ludus", tmp_path / "a.gif"
    with Recorder(library.make("CartPole-v1"), path) as env:
        env.reset(seed=0)
        env.unwrapped.force_mag = 0.0
        while not env.step(0).done:
            pass
    result = ludus("replay", str(path), "--video", str(video))
    assert result.exit_code != 0
    assert "`replay` says where it differs" in result.stderr
    assert not video.exists()
    assert "expected 0 to 0, got 7" in ludus("replay", str(path), "--episode", "7", "--video", str(video)).stderr


def test_code_that_only_a_file_names_is_not_run_without_a_word(ludus, tmp_path, monkeypatch):
    (tmp_path / "lodges.py").write_text(CODE, encoding="utf8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "run.ludus"
    assert ludus("run", "lodges:Lodge", "--episodes", "2", "--record", str(path)).exit_code == 0
    result = ludus("replay", str(path))
    assert result.exit_code != 0
    assert "names the code 'lodges:Lodge'" in result.stderr
    assert ludus("replay", str(path), "--isolation", "none").exit_code == 0


def test_what_is_no_run_is_refused_with_a_reason(ludus, tmp_path):
    (tmp_path / "x.ludus").write_bytes(b"PK nothing")
    result = ludus("replay", str(tmp_path / "x.ludus"))
    assert result.exit_code != 0
    assert "expected a run" in result.stderr
