"""What the viewer answers, without a browser: tables, steps, talk, frames by replay, comparisons, whom it trusts."""

import json
import random
import re
import subprocess
import sys
from contextlib import suppress

import msgspec
import numpy as np
import pytest

import ludus
from ludus.core import Episode, Outcome
from ludus.errors import InvalidArgument, LudusError, TrajectoryError
from ludus.trajectory import Message, Recorder, Run, ToolCall
from ludus.trajectory.archive import Archive
from ludus.web.bundle import bundle
from ludus.web.view import Viewer, write_document
from ludus.web.view.trust import untrusted
from ludus.wrappers import ClipReward
from tests.trajectory.test_hostile import lie
from tests.web.recordings import Counting, agent, batch, cart, hostile

LIES = 60


def ask(viewer, name, **question):
    return viewer.answer(name, {key: str(one) for key, one in question.items()})


# --- the table ---


def test_the_table_is_sorted_filtered_and_searched(tmp_path):
    viewer = Viewer([cart(tmp_path)])
    by_return = ask(viewer, "episodes", run=0, sort="return", down=1)["rows"]
    assert [row["return"] for row in by_return] == sorted((row["return"] for row in by_return), reverse=True)
    assert [row["number"] for row in ask(viewer, "episodes", run=0, text="#3")["rows"]] == [3]
    assert [row["seed"] for row in ask(viewer, "episodes", run=0, text="5")["rows"]] == [5]
    assert ask(viewer, "episodes", run=0, text=str(2**63))["total"] == 0
    assert ask(viewer, "episodes", run=0, outcome="success")["total"] == 0
    assert ask(viewer, "episodes", run=0, text="unkn")["total"] == 6
    with pytest.raises(InvalidArgument, match="sort: expected one of number, seed"):
        ask(viewer, "episodes", run=0, sort="__class__")


def test_masked_episodes_are_marked_and_no_part_of_the_mean(tmp_path):
    with Recorder(ludus.make("CartPole-v1"), tmp_path / "run.ludus") as env:
        for seed in range(3):
            env.reset(seed=seed)
            for _ in range(4 + 100 * (seed == 1)):
                if env.step(0).terminated:
                    break
    viewer = Viewer([tmp_path / "run.ludus"])
    about, rows = ask(viewer, "runs")["runs"][0], ask(viewer, "episodes", run=0)["rows"]
    assert [row["masked"] for row in rows] == [True, False, True]
    assert about["masked"] == 2
    assert about["mean"] == rows[1]["return"]


def test_a_file_that_grows_is_read_anew_and_its_rows_stay_where_they_were(tmp_path):
    with Recorder(ludus.make("CartPole-v1"), tmp_path / "run.ludus", "steps") as env:
        env.reset(seed=0)
        env.step(1)
        env.flush()
        viewer = Viewer([tmp_path / "run.ludus"])
        before = ask(viewer, "runs")["runs"][0]
        assert (before["live"], before["episodes"]) == (True, 1)
        env.step(1)
        env.flush()
        after = ask(viewer, "runs")["runs"][0]
        assert (after["steps"], after["stamp"] != before["stamp"]) == (2, True)
    assert ask(viewer, "runs")["runs"][0]["live"] is False


def test_what_is_no_run_is_refused_in_a_line(tmp_path):
    (tmp_path / "odd.ludus").write_bytes(b"PK\x03\x04 no run")
    with pytest.raises(TrajectoryError):
        Viewer([tmp_path / "odd.ludus"])
    with pytest.raises(TrajectoryError, match="expected a file that can be read"):
        Viewer([tmp_path / "none.ludus"])
    with pytest.raises(InvalidArgument, match=r"episode: expected 0 to 5 of cart\.ludus, got 17"):
        Viewer([f"{cart(tmp_path)}#17"])


# --- executed again ---


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_any_episode_of_any_lane_is_executed_again_as_it_was(tmp_path, mode):
    path = tmp_path / "batch.ludus"
    if mode == "Disabled":
        with Recorder(ludus.make_vec("CartPole-v1", 3, autoreset_mode=mode), path, "full") as envs:
            envs.reset(seed=11)
            for _ in range(80):
                step = envs.step(np.ones(3, np.int64))
                ended = step.terminated | step.truncated
                if ended.any():
                    envs.reset(options={"reset_mask": ended})
    else:
        path = batch(tmp_path, mode=mode)
    viewer, run = Viewer([path]), Run.open(path)
    frames = viewer.frames(0)
    assert len(run) > 8
    for number in (len(run) - 1, 0, 3, 7, 2):
        episode = run[number]
        again = frames.executed(viewer.episode(0, number), 0, episode.length + 1)
        assert np.array_equal([one[0] for one in again], episode.observations), number
        assert frames.differs(episode) == ""
    assert frames.frame(viewer.episode(0, 5), 2)["kind"] == "svg"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episodes_that_a_plan_began_are_executed_by_their_own_seeds(tmp_path, mode):
    path = tmp_path / "planned.ludus"

    def plan(lane, number):
        return Episode(seed=100 * lane + number) if number % 3 else Episode()

    with Recorder(ludus.make_vec("CartPole-v1", 3, autoreset_mode=mode, episodes=plan), path, "full") as envs:
        envs.action_space.seed(1)
        envs.reset(seed=5)
        for _ in range(120):
            envs.step(envs.action_space.sample())
    viewer, run = Viewer([path]), Run.open(path)
    assert len(run) > 9
    for number in (8, 2, 5, 9, 0, 7):
        again = viewer.frames(0).executed(viewer.episode(0, number), 0, run[number].length + 1)
        assert np.array_equal([one[0] for one in again], run[number].observations), number


def test_what_the_file_does_not_have_is_computed_when_asked_for(tmp_path):
    kept, full = batch(tmp_path, "seeds"), batch(tmp_path, "full")
    viewer = Viewer([kept, full])
    for number in (1, 9):
        plain, again, told = (
            ask(viewer, "steps", run=run, n=number, again=more)["steps"] for run, more in ((0, 0), (0, 1), (1, 0))
        )
        assert "observation" not in plain[1]
        assert [one["action"] for one in plain] == [one["action"] for one in told]
        assert [(one["observation"], one["reward"]) for one in again] == [
            (one["observation"], one["reward"]) for one in told
        ]
        assert ask(viewer, "episode", run=0, n=number)["curves"] == []
        assert (
            ask(viewer, "episode", run=0, n=number, again=1)["curves"]
            == ask(viewer, "episode", run=1, n=number)["curves"]
        )


def test_going_back_and_forth_shows_the_same_frames(tmp_path):
    path = tmp_path / "long.ludus"
    with Recorder(ludus.make("Pendulum-v1", max_episode_steps=-1), path, "steps") as env:
        env.reset(seed=3)
        for step in range(1200):
            env.step(np.array([np.sin(step)], np.float32))
    one, two = Viewer([path]), Viewer([path])
    seen = {page: ask(one, "frames", run=0, n=0, page=page) for page in (0, 70, 149, 100)}
    for page in (100, 149, 0, 70):
        assert ask(two, "frames", run=0, n=0, page=page) == seen[page]


def test_a_history_that_is_not_the_files_is_told(tmp_path):
    path = tmp_path / "run.ludus"
    with Recorder(ludus.make("Pendulum-v1"), path, "steps") as env:
        env.reset(seed=1)
        env.step(np.zeros(1, np.float32))
        env.unwrapped.state = np.array([3.0, 0.0])
        env.step(np.zeros(1, np.float32))
    shown = ask(Viewer([path]), "frames", run=0, n=0, page=0)
    assert re.match(r"step 2: the file has the reward -9(\.\d+)?, executing it again gave", shown["differs"])


def test_after_a_snapshot_the_reason_stands_in_the_place_of_the_frame(tmp_path):
    with Recorder(ludus.make("CartPole-v1"), tmp_path / "run.ludus") as env:
        env.reset(seed=1)
        env.step(0)
        saved = env.snapshot()
        env.step(1)
        env.restore(saved)
        env.step(1)
    shown = ask(Viewer([tmp_path / "run.ludus"]), "frames", run=0, n=1, page=0)["frames"][1]
    assert shown["kind"] == "error"
    assert "snapshot" in shown["data"] or "seed" in shown["data"]


# --- trust ---


def test_code_that_a_file_names_is_not_run_without_a_word(tmp_path):
    viewer = Viewer([hostile(tmp_path)])
    about = ask(viewer, "about", run=0)
    assert (about["executed"], about["needs_trust"], about["labels"]) == (False, True, {})
    assert "making it runs the code it names" in about["why"]
    assert ask(viewer, "frames", run=0, n=0, page=0)["frames"] == [None] * 4
    assert ask(Viewer([tmp_path / "hostile.ludus"], trust=True), "about", run=0)["executed"]


@pytest.mark.parametrize(
    ("changes", "harmless"),
    [
        ({}, True),
        ({"kwargs": {"sutton_barto_reward": True}}, True),
        ({"kwargs": {"words": "plain words"}}, True),
        ({"entry_point": "os:system", "kwargs": {"command": "true"}}, False),
        ({"entry_point": "ludus.envs.classic.cartpole:np.save"}, False),
        ({"id": "Other-v0"}, False),
        ({"kwargs": {"path": "/etc/passwd"}}, False),
        ({"kwargs": {"path": "here.csv"}}, False),
        ({"kwargs": {"where": ["..", 1]}}, False),
        ({"kwargs": {"code": "module:name"}}, False),
        ({"kwargs": {"size": 10**12}}, False),
        ({"additional_wrappers": [{"name": "X", "entry_point": "os:remove", "kwargs": {}}]}, False),
        (
            {
                "additional_wrappers": [
                    {"name": "ClipReward", "entry_point": "ludus.wrappers.pictures:RecordVideo", "kwargs": {}}
                ]
            },
            False,
        ),
        (
            {
                "additional_wrappers": [
                    {"name": "C", "entry_point": "ludus.wrappers.rewards:ClipReward", "kwargs": {"min_reward": 0}}
                ]
            },
            True,
        ),
    ],
)
def test_only_what_comes_with_the_library_and_only_transforms_is_made(tmp_path, monkeypatch, changes, harmless):
    (tmp_path / "here.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    header = Run.open(cart(tmp_path, episodes=1)).header
    odd = msgspec.structs.replace(header, spec={**(header.spec or {}), **changes})
    assert (untrusted(odd) == "") is harmless


def test_observations_that_are_pictures_are_shown_without_running_anything(tmp_path):
    path = tmp_path / "count.ludus"
    with Recorder(ludus.make(Counting), path, "full") as env:
        env.reset(seed=1)
        for action in (0, 1, 2, 1, 0):
            env.step(action)
    viewer = Viewer([path])
    frames = ask(viewer, "frames", run=0, n=0, page=0)["frames"]
    assert [one["kind"] for one in frames] == ["png"] * 6  # the observations, which are pictures
    assert not viewer.frames(0).about()["executed"]


def test_in_isolation_a_strangers_environment_needs_no_trust(tmp_path):
    viewer = Viewer([hostile(tmp_path)], isolation="process")
    about = ask(viewer, "about", run=0)
    assert (about["executed"], about["needs_trust"]) == (True, False)
    assert [one["reward"] for one in ask(viewer, "steps", run=0, n=0, again=1)["steps"]] == [None, 1, 1, 1]
    viewer.close()


# --- talk ---


def test_events_are_found_by_kind_and_text_and_counted(tmp_path):
    viewer = Viewer([agent(tmp_path)])
    episode = ask(viewer, "episode", run=0, n=0)
    assert (episode["kinds"]["tool_call"], episode["usage"]["calls"], episode["usage"]["cost_usd"]) == (3, 3, 0.75)
    events = ask(viewer, "events", run=0, n=0, page=0)["events"]
    found = ask(viewer, "find", run=0, n=0, kind="tool_call,tool_result", text="OUT 2")["found"]
    assert [events[number]["fields"]["content"][:5] for number in found] == ["out 2"]
    at_two = ask(viewer, "find", run=0, n=0, step=2)["found"]
    assert [events[number]["step"] for number in at_two] == [2] * 5
    assert len(ask(viewer, "find", run=0, n=0)["found"]) == episode["events"] == len(events)


def test_numbers_of_infos_and_scores_have_curves(tmp_path):
    with Recorder(ludus.make(Counting), tmp_path / "whole.ludus", "full") as env:
        env.reset(seed=1)
        for action in (0, 1, 2):
            env.step(action)
    with Recorder(ludus.make(Counting), tmp_path / "named.ludus", "steps", info=["value"]) as env:
        env.reset(seed=1)
        for action in (0, 1, 2):
            env.step(action)
    viewer = Viewer([tmp_path / "whole.ludus", tmp_path / "named.ludus", cart(tmp_path, episodes=1)])
    for run in (0, 1, 2):
        found = {one["name"]: one for one in ask(viewer, "episode", run=run, n=0)["curves"]}
        assert list(found) == ["reward", "return", "value"]
    assert found["value"]["high"][:2] == [1.0, 0.99]


def test_the_events_of_an_episode_are_those_of_the_run_that_belong_to_it(tmp_path):
    path = tmp_path / "run.ludus"
    with Recorder(ludus.make_vec("CartPole-v1", 3, autoreset_mode="SameStep"), path, "steps") as envs:
        envs.reset(seed=2)
        for step in range(60):
            envs.step(np.ones(3, np.int64))
            envs.record(Message("user", f"{step}"), lane=step % 3)
            if step % 20 == 0:
                envs.flush()
                envs.record(ToolCall("late", "after its row was written"), lane=step % 3)
                envs.flush()
    run = Run.open(path)
    for episode in run:
        assert episode.events == [event for event in run.events() if event.episode == episode.number]
    assert sum(len(episode.events) for episode in run) > 50


# --- side by side ---


def test_the_first_difference_is_found_and_equal_actions_stand_beside_each_other(tmp_path):
    viewer = Viewer([cart(tmp_path, "a.ludus", episodes=1), cart(tmp_path, "b.ludus", episodes=1, turn=6)])
    found = ask(viewer, "compare", of="0.0,1.0")
    actions = [run.run[0].actions.tolist() for run in viewer.runs]
    expected = next(at for at, (a, b) in enumerate(zip(*actions, strict=False), 1) if a != b)
    assert found["first"]["step"] == expected
    assert "action" in found["first"]["fields"]
    steps = [[line[at] for line in found["rows"] if line[at] is not None] for at in (0, 1)]
    assert steps == [list(range(len(one) + 1)) for one in actions]
    assert ask(viewer, "compare", of="0.0,0.0")["first"] is None
    talks = Viewer([agent(tmp_path), agent(tmp_path, "another.ludus", rounds=2)])
    assert ask(talks, "compare", of="0.0,1.0")["first"] == {"step": 2, "fields": ["events"]}
    with pytest.raises(InvalidArgument, match="compare: expected 2 to 8"):
        ask(viewer, "compare", of="0.0")


# --- the document ---


def test_a_document_is_within_its_limit_and_says_what_it_left_out(tmp_path):
    viewer = Viewer([cart(tmp_path, episodes=22)])
    written = write_document(viewer, tmp_path / "out.html", limit_bytes=1 << 20)
    text = (tmp_path / "out.html").read_text(encoding="utf8")
    assert written.bytes == len(text.encode()) < (1 << 20) + len("".join(bundle())) + 4096
    assert written.episodes + written.left_out == 22
    assert written.frames > 100
    with pytest.raises(TrajectoryError, match="expected a path for a new file"):
        write_document(viewer, tmp_path / "out.html")


def test_a_document_has_one_script_of_data_and_no_outside_address(tmp_path):
    write_document(Viewer([hostile(tmp_path)]), tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text(encoding="utf8")
    assert re.findall(r"<script[^>]*>", text) == [
        "<script>",
        '<script type="application/json" id="answers">',
        '<script type="module">',
    ]
    assert text.count("</script>") == 3
    assert "pwned" not in text
    assert re.findall(r"https?://", text.replace("http://www.w3.org/2000/svg", "")) == []
    assert "default-src 'none'" in text
    json.loads(re.search(r'id="answers">(.*?)</script>', text, re.DOTALL)[1])


def test_modules_are_put_together_so_that_none_is_left_over():
    script = bundle().script
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert script.count("module_dom = ") == 1


def test_nothing_outside_a_question_is_answered(tmp_path):
    viewer = Viewer([cart(tmp_path, episodes=1)])
    for name, question in [
        ("close", {}),
        ("__init__", {}),
        ("episodes", {"run": "7"}),
        ("steps", {"run": "0", "n": "-1"}),
        ("steps", {"run": "0", "n": "9" * 40}),
        ("compare", {"of": "x.y,z"}),
    ]:
        with pytest.raises(LudusError):
            viewer.answer(name, question)
    assert ask(viewer, "steps", run=0, n=0, page=10**9)["steps"] == []


def test_outcomes_are_told_by_their_names(tmp_path):
    viewer = Viewer([hostile(tmp_path)])
    assert ask(viewer, "runs")["runs"][0]["outcomes"] == {Outcome.FAILURE.value: 1}


def test_importing_the_library_does_not_load_the_viewer():
    source = "import sys, ludus; assert not [one for one in sys.modules if one.startswith('ludus.web')]"
    subprocess.run([sys.executable, "-c", source], check=True)


def test_files_that_lie_are_refused_or_answered_and_never_crash(tmp_path):
    paths = [cart(tmp_path, episodes=2), agent(tmp_path), batch(tmp_path, "full", "SameStep", 2)]
    originals = [{name: Archive(path).read(name) for name in Archive(path).names()} for path in paths]
    asked = {
        "episodes": {"sort": "seed", "text": "a 1"},
        "about": {},
        "episode": {"again": 1},
        "steps": {"again": 1},
        "events": {},
        "find": {"text": "x"},
        "frames": {},
        "compare": {"of": "0.0,0.1"},
    }
    opened = 0
    for seed in range(LIES):
        draw = random.Random(seed)
        path = tmp_path / f"lie-{seed}.ludus"
        lie(draw.choice(originals), draw, path)
        with suppress(LudusError):
            viewer = Viewer([path])
            opened += 1
            for name, question in asked.items():
                with suppress(LudusError):
                    msgspec.json.encode(ask(viewer, name, run=0, n=0, page=0, **question))
            viewer.close()
    assert opened > LIES // 4


def test_wrappers_around_a_batch_are_made_where_the_environment_is(tmp_path):
    path = tmp_path / "clipped.ludus"
    with Recorder(ClipReward(ludus.make_vec("Pendulum-v1", 2, executor="serial"), -1.0, 0.0), path, "steps") as envs:
        envs.reset(seed=5)
        for _ in range(10):
            envs.step(np.ones((2, 1), np.float32))
    viewer = Viewer([path])
    frames = ask(viewer, "frames", run=0, n=1, page=1)
    assert ([one["kind"] for one in frames["frames"]], frames["differs"]) == (["svg"] * 3, "")
    assert ClipReward in [type(layer) for layer in viewer.frames(0)._made()._layers()]
