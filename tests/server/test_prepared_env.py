"""Sessions that are forks of one process: apart from each other, limited each, and there within milliseconds."""

import os
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from ludus.core import EnvSpec
from ludus.errors import InvalidArgument, LudusError
from ludus.server.config import ServerConfig
from ludus.server.prepared_env import PreparedEnv

WORLD = """
    import os
    from ludus.core import Env, Step
    from ludus.spaces import Discrete

    IMPORTED_BY = os.getpid()
    COUNT = [0]

    class World(Env):
        observation_space = action_space = Discrete(4)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            COUNT[0] += 1
            return 0, {"pid": os.getpid(), "imported_by": IMPORTED_BY, "resets": COUNT[0]}

        def step(self, action):
            if action == 3:
                self.kept = bytearray(1 << 30)
            return Step(1, 1.0, False, False, {})
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "prepared_world.py").write_text(textwrap.dedent(WORLD))
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(folder))
    spec = EnvSpec("prepared/World-v0", entry_point="prepared_world:World")
    yield PreparedEnv(spec, config=ServerConfig(isolation="process"))
    patch.undo()


def test_sessions_are_processes_of_their_own_that_import_nothing_anew_and_share_no_state(served):
    with served.make() as one, served.make() as other:
        first, second = one.reset(seed=0)[1], other.reset(seed=0)[1]
        assert first["pid"] != second["pid"]
        assert first["imported_by"] == second["imported_by"] != first["pid"]
        assert (first["resets"], second["resets"], one.reset()[1]["resets"]) == (1, 1, 2)


def test_threads_may_make_and_close_at_once(served):
    def play(_):
        with served.make() as env:
            env.reset(seed=0)
            return env.step(1).reward

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(play, range(12))) == [1.0] * 12


def test_a_session_that_takes_too_much_memory_fails_and_the_others_go_on(served):
    with served.make() as greedy, served.make() as modest:
        greedy.reset(seed=0)
        modest.reset(seed=0)
        with pytest.raises(LudusError, match="MemoryError"):
            greedy.step(3)
        assert modest.step(1).reward == 1.0


def test_a_time_limit_may_be_asked_for_and_nothing_else(served):
    with served.make(arguments={"max_episode_steps": 1}) as env:
        env.reset(seed=0)
        assert env.step(1).truncated
    with pytest.raises(InvalidArgument, match=r"expected no arguments.*got folder"):
        served.make(arguments={"folder": "/etc"})


def test_a_process_that_was_forked_since_prepares_its_own(served):
    with served.make() as env:
        ours = env.reset()[1]["imported_by"]
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with served.make() as env:
                os.write(writing, str(env.reset()[1]["imported_by"]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as file:
        theirs = file.read()
    os.waitpid(pid, 0)
    assert theirs.isdigit()
    with served.make() as env:
        assert env.reset()[1]["imported_by"] == ours
