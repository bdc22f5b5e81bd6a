"""An environment that asks for isolation gets it or does not run, unless less was said outright; it is recorded."""

import subprocess
import sys
import textwrap

import pytest

import ludus
from ludus.core import EnvSpec, IsolationRecord, Security, WrapperSpec
from ludus.errors import InvalidArgument, InvalidSpec, IsolationNeeded, NameNotFound, SandboxUnavailable
from ludus.registry import isolation
from ludus.registry.resolution import resolve
from ludus.sandbox import Limits, Sandbox

pytestmark = pytest.mark.no_cover

GRID = "ludus.envs.teaching.grid_world:GridWorld"
SPEC = EnvSpec("Wild-v0", GRID, security=Security(isolation="sandbox"), max_episode_steps=9)


@pytest.fixture
def no_isolation(monkeypatch):
    """A machine on which no backend starts."""

    def nothing(isolation):
        raise SandboxUnavailable("sandbox: expected a backend that starts here, got none (bubblewrap: not found)")

    monkeypatch.setattr(isolation, "sandbox_for", nothing)


def test_isolation_that_cannot_be_given_is_refused(no_isolation):
    with pytest.raises(IsolationNeeded) as raised:
        ludus.make(SPEC)
    assert str(raised.value) == (
        "Wild-v0: expected to run behind a sandbox (its spec asks for it), got none that starts here: "
        "sandbox: expected a backend that starts here, got none (bubblewrap: not found); "
        "pass isolation='none' to run its code in this process, with your rights"
    )
    with pytest.raises(IsolationNeeded):
        ludus.make_vec(SPEC, num_envs=2)


def test_isolation_that_was_asked_for_is_never_left_out(no_isolation):
    with pytest.raises(IsolationNeeded, match="GridWorld-v0: expected to run behind a container, got none that starts"):
        ludus.make("GridWorld-v0", isolation="container")


@pytest.mark.parametrize("wrong", ["hope", 3, True, ["none"]])
def test_what_is_no_isolation_names_those_there_are(wrong):
    with pytest.raises(InvalidArgument) as raised:
        ludus.make("GridWorld-v0", isolation=wrong)
    assert str(raised.value) == (
        f"isolation: expected one of none, process, sandbox, container, or a Sandbox, got {wrong!r}"
    )


def test_the_isolation_that_a_spec_asks_for_is_given_and_recorded():
    here, behind = ludus.make(SPEC, isolation="none", size=3), ludus.make(SPEC, size=3)
    with behind:
        assert behind.spec.isolation_record.isolation == behind.spec.isolation_record.asked == "sandbox"
        assert behind.unwrapped.guarantees.boundary
        assert behind.spec.isolation_record.backend == behind.unwrapped.guarantees.backend
        assert (behind.reset(seed=3)[0] == here.reset(seed=3)[0]).all()
        assert behind.step(1)[1:4] == here.step(1)[1:4]
        with ludus.make(behind.spec) as again:
            assert again.spec == behind.spec


def test_running_without_isolation_takes_a_word_and_the_word_is_recorded():
    env = ludus.make(SPEC, isolation="none")
    assert env.reset(seed=0)[0].tolist() == [0, 0]
    assert env.spec.isolation_record == IsolationRecord("none", asked="sandbox")
    assert env.spec.isolation_record.weakened
    assert EnvSpec.from_json(env.spec.to_json()) == env.spec
    envs = ludus.make_vec(SPEC, num_envs=2, isolation="none")
    assert envs.reset(seed=0)[0].shape == (2, 2)
    assert envs.spec.isolation_record == env.spec.isolation_record


def test_a_recorded_word_does_not_speak_again():
    env = ludus.make(SPEC, isolation="none")
    assert resolve(env.spec).sandbox is not None
    forged = EnvSpec("Wild-v0", GRID, security=SPEC.security, isolation_record=IsolationRecord("none", asked="none"))
    assert resolve(forged).sandbox is not None


def test_nothing_is_recorded_where_nothing_was_asked_for():
    assert ludus.make("GridWorld-v0").spec.isolation_record is None
    assert ludus.make("GridWorld-v0", isolation="none").spec.isolation_record is None


def test_more_than_was_asked_for_is_given_again():
    with ludus.make("GridWorld-v0", isolation="process") as env:
        assert env.spec.isolation_record == IsolationRecord("process", "none", "process")
        assert not env.spec.isolation_record.weakened
        with ludus.make(EnvSpec.from_json(env.spec.to_json())) as again:
            assert again.spec == env.spec


def test_a_container_is_isolation_like_any_other():
    with ludus.make("GridWorld-v0", isolation="container") as env:
        assert env.spec.isolation_record.isolation == "container"
        assert env.spec.isolation_record.backend in ("podman", "docker")
        assert env.reset(seed=0)[0].tolist() == [0, 0]


def test_a_batch_is_in_isolation_too():
    with ludus.make_vec(SPEC, num_envs=3) as envs:
        assert envs.spec.isolation_record.isolation == "sandbox"
        assert envs.reset(seed=0)[0].shape == (3, 2)


def test_a_sandbox_of_ones_own_is_taken_as_it_is():
    box = Sandbox("process", limits=Limits(wall=None, memory=300 << 20))
    with ludus.make(SPEC, isolation=box) as env:
        assert env.spec.isolation_record == IsolationRecord("process", "sandbox", "process")
        assert env.spec.isolation_record.weakened
        assert env.reset(seed=0)[0].tolist() == [0, 0]


def test_arguments_limits_and_wrappers_go_along():
    clip = WrapperSpec("ClipReward", "ludus.wrappers:ClipReward", {"max_reward": 0.5})
    wrapped = SPEC.replace(additional_wrappers=(clip,))
    with ludus.make(wrapped, max_episode_steps=2, isolation="process", size=4) as env:
        assert (env.spec.max_episode_steps, env.spec.kwargs) == (2, {"size": 4})
        env.reset(seed=0)
        assert [env.step(0).truncated for _ in range(2)] == [False, True]


def test_arguments_that_are_code_do_not_travel():
    with pytest.raises(InvalidSpec, match=r"Wild-v0\.kwargs"):
        ludus.make(SPEC, size=lambda: 3)


def test_a_window_is_on_this_side(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with ludus.make("CartPole-v1", render_mode="human", isolation="process") as env:
        assert type(env).__name__ == "HumanRendering"
        assert env.env.render_mode == "rgb_array"
        with ludus.make(env.spec) as again:
            assert again.spec == env.spec


# --- what only code can tell ---

TELLTALE = """
import pathlib
import ludus
from ludus.envs.teaching.grid_world import GridWorld
try:
    pathlib.Path(__file__).with_name("imported.txt").write_text("here")
except OSError:
    pass
class Maze(GridWorld): pass
ludus.register("telltale/Maze-v1", "telltale:Maze", max_episode_steps=7)
"""


@pytest.fixture
def telltale(site):
    """A module that leaves a mark when it is imported on this side; in a sandbox it cannot."""
    site.write("telltale.py", TELLTALE)
    return site.folder / "imported.txt"


@pytest.mark.parametrize(("target", "limit"), [("telltale:Maze", None), ("telltale:telltale/Maze-v1", 7)])
def test_a_module_that_is_named_is_not_imported_here(telltale, target, limit):
    with ludus.make(target, isolation="sandbox") as env:
        assert env.reset(seed=0)[0].tolist() == [0, 0]
        assert env.spec.max_episode_steps == limit
        assert "telltale" not in sys.modules
        assert not telltale.exists()
        with ludus.make(env.spec) as again:
            assert again.spec == env.spec


def test_what_goes_wrong_there_is_told_here(telltale):
    with pytest.raises(NameNotFound, match="no environment 'telltale:Lake'") as raised:
        ludus.make("telltale:Lake", isolation="sandbox")
    assert "Raised in the sandboxed process" in raised.value.__notes__[0]
    assert "telltale" not in sys.modules


def test_another_library_is_not_imported_here_either():
    program = (
        "import sys, ludus\n"
        "with ludus.make('gymnasium/CartPole-v1', isolation='sandbox') as env:\n"
        "    print(env.spec.max_episode_steps, 'gymnasium' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["500", "False"]


# --- what isolation opens for ---


def test_what_your_own_code_declares_is_opened(tmp_path):
    (tmp_path / "map.txt").write_text("x")
    security = Security(network=("example.org:443",), files=(f"read:{tmp_path}", "write:/nowhere"), isolation="sandbox")
    box = resolve(EnvSpec("Own-v0", GRID, security=security)).sandbox
    assert box.policy.network == ("example.org:443",)
    assert [(mount.where, mount.writable) for mount in box.policy.mounts] == [(str(tmp_path), False)]


def test_a_stranger_cannot_have_isolation_opened_by_naming_somebody_elses_code(site, tmp_path):
    source = f"""
        import ludus
        from ludus.core import EnvSpec, Security
        SPEC = EnvSpec("Guest-v0", {GRID!r}, security=Security(files=("write:{tmp_path}",)))
    """
    site.install("stranger", "", {"stranger.py": textwrap.dedent(source)})
    resolved = resolve("stranger:SPEC", "sandbox")
    assert resolved.spec.security.files == (f"write:{tmp_path}",)
    assert (resolved.granted, resolved.sandbox.policy.mounts) == (False, ())


def test_no_isolation_opens_for_everything():
    spec = EnvSpec("Own-v0", GRID, security=Security(network=("*",), isolation="sandbox"))
    with pytest.raises(IsolationNeeded, match=r"got the network '\*', which no sandbox opens"):
        resolve(spec)
