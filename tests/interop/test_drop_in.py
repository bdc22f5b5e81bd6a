"""Programs written for Gymnasium run unmodified on Ludus, and so do the processes they start."""

import sys

import pytest

RANDOM_LOOP = """
    import argparse
    import random

    import gymnasium as gym
    import numpy as np


    def make_env(env_id, seed, idx, capture_video, run_name):
        def thunk():
            env = gym.make(env_id)
            env = gym.wrappers.RecordEpisodeStatistics(env)
            env.action_space.seed(seed + idx)
            return env

        return thunk


    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("--env-id", default="CartPole-v1")
        parser.add_argument("--total-timesteps", type=int, default=300)
        args = parser.parse_args()
        random.seed(1)
        np.random.seed(1)
        envs = gym.vector.SyncVectorEnv([make_env(args.env_id, 1, i, False, "run") for i in range(2)])
        assert isinstance(envs.single_action_space, gym.spaces.Discrete), "only discrete action space is supported"
        obs, _ = envs.reset(seed=1)
        ended = []
        for global_step in range(args.total_timesteps):
            actions = np.array([envs.single_action_space.sample() for _ in range(envs.num_envs)])
            next_obs, rewards, terminations, truncations, infos = envs.step(actions)
            if "episode" in infos:
                for i in np.flatnonzero(infos["_episode"]):
                    ended.append((global_step, int(infos["episode"]["l"][i]), float(infos["episode"]["r"][i])))
            obs = next_obs
        envs.close()
        print(len(ended) > 5, all(length == total for _, length, total in ended))
        print(ended)
"""


def test_a_training_loop_of_everyday_prints_what_it_prints_on_gymnasium(on_ludus, python, tmp_path):
    program = tmp_path / "program.py"
    ours = on_ludus(RANDOM_LOOP, "--total-timesteps", 200)
    assert ours.startswith("True True")
    assert python(program, "--total-timesteps", 200).stdout == ours


def test_a_vector_loop_with_episode_statistics_runs(on_ludus):
    program = """
        import gymnasium as gym
        from gymnasium.vector import AutoresetMode

        for mode in AutoresetMode:
            if mode is AutoresetMode.DISABLED:
                continue
            envs = gym.make_vec(
                "CartPole-v1", num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode},
                wrappers=[gym.wrappers.TimeAwareObservation],
            )
            envs = gym.wrappers.vector.RecordEpisodeStatistics(envs)
            envs = gym.wrappers.vector.TransformReward(envs, lambda rewards: rewards * 2)
            assert isinstance(envs, gym.vector.VectorEnv) and isinstance(envs, gym.vector.VectorWrapper)
            observations, infos = envs.reset(seed=3)
            assert observations.shape == (3, 5) and observations in envs.observation_space
            envs.action_space.seed(3)
            for _ in range(100):
                observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
            print(mode.value, envs.env.episode_count > 5, set(rewards.tolist()) <= {0.0, 2.0})
    """
    assert on_ludus(program) == "NextStep True True\nSameStep True True\n"


CUSTOM = """
    import numpy as np
    import gymnasium as gym
    from gymnasium import spaces
    from gymnasium.core import ActType, ObsType
    from gymnasium.envs.registration import register
    from gymnasium.utils import EzPickle
    from gymnasium.utils.env_checker import check_env


    class Walk(gym.Env[np.ndarray, int], EzPickle):
        metadata = {"render_modes": ["ansi"], "render_fps": 4}

        def __init__(self, size: int = 5, render_mode: str | None = None):
            EzPickle.__init__(self, size, render_mode)
            self.size, self.render_mode = size, render_mode
            self.observation_space = spaces.Dict(
                {"agent": spaces.Box(0, size - 1, shape=(1,), dtype=int), "near": spaces.Discrete(2)}
            )
            self.action_space = spaces.Discrete(2)

        def _get_obs(self):
            return {"agent": np.array([self.place]), "near": int(self.place == self.size - 2)}

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.place = int(self.np_random.integers(0, self.size - 1))
            return self._get_obs(), {"distance": self.size - 1 - self.place}

        def step(self, action):
            self.place = max(0, self.place + (1 if action else -1))
            done = self.place == self.size - 1
            return self._get_obs(), 1.0 if done else 0.0, done, False, {"distance": self.size - 1 - self.place}

        def render(self):
            return "." * self.place + "@"


    class Shifted(gym.ObservationWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.observation_space = gym.spaces.utils.flatten_space(env.observation_space)

        def observation(self, observation):
            return gym.spaces.utils.flatten(self.env.observation_space, observation)


    class Doubled(gym.Wrapper, gym.utils.RecordConstructorArgs):
        def __init__(self, env, factor=2.0):
            gym.utils.RecordConstructorArgs.__init__(self, factor=factor)
            gym.Wrapper.__init__(self, env)
            self.factor = factor

        def step(self, action):
            observation, reward, terminated, truncated, info = self.env.step(action)
            return observation, reward * self.factor, terminated, truncated, info


    register(id="walks/Walk-v0", entry_point=Walk, max_episode_steps=20, kwargs={"size": 4})
"""


def test_a_custom_environment_is_registered_checked_made_and_wrapped(on_ludus):
    program = (
        CUSTOM
        + """
    check_env(gym.make("walks/Walk-v0").unwrapped, skip_render_check=True)
    env = gym.make("walks/Walk-v0", size=6, render_mode="ansi")
    env = gym.wrappers.RecordEpisodeStatistics(Doubled(Shifted(env), factor=3.0))
    observation, info = env.reset(seed=2)
    print(observation.shape, observation in env.observation_space, info["distance"])
    total = 0.0
    while True:
        observation, reward, terminated, truncated, info = env.step(1)
        total += reward
        if terminated or truncated:
            break
    print(total, terminated, truncated, info["episode"]["l"] == info["episode"]["l"], env.render())
    print(env.spec.id, [one.name for one in env.spec.additional_wrappers], env.unwrapped.size)
    print("walks/Walk-v0" in gym.registry, gym.spec("walks/Walk-v0").max_episode_steps)
    """
    )
    assert on_ludus(program).splitlines() == [
        "(3,) True 1",
        "3.0 True False True .....@",
        "walks/Walk-v0 ['Shifted', 'Doubled', 'RecordEpisodeStatistics'] 6",
        "True 20",
    ]


def test_the_checker_refuses_what_gymnasiums_refuses_and_warns_of_the_rest(on_ludus):
    program = (
        CUSTOM
        + """
    import warnings

    class Forgetful(Walk):
        def reset(self, *, seed=None, options=None):
            self.place = 0
            return self._get_obs(), {}

    class Fast(Walk):
        def step(self, action):
            result = super().step(action)
            return result[0], float("nan"), *result[2:]

    try:
        check_env(Forgetful())
    except gym.error.Error as error:
        print(str(error).split(":")[0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(Fast())
    print(any("rewards-are-finite" in str(one.message) for one in caught))
    """
    )
    assert on_ludus(program) == "error reset-seeds-np-random\nTrue\n"


CHILD = """
    import multiprocessing
    import subprocess
    import sys

    import gymnasium as gym


    def episode(queue):
        env = gym.make("CartPole-v1")
        queue.put((hasattr(gym, "__ludus__"), env.reset(seed=5)[0].tolist()))


    if __name__ == "__main__":
        expected = gym.make("CartPole-v1").reset(seed=5)[0].tolist()
        context = multiprocessing.get_context(sys.argv[1])
        queue = context.Queue()
        child = context.Process(target=episode, args=(queue,))
        child.start()
        ludus, found = queue.get(timeout=60)
        child.join()
        print(ludus, found == expected)
        command = [sys.executable, "-c", "import gymnasium.spaces as s; print(hasattr(s, '__ludus__'))"]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_child_processes_run_on_ludus_too(method, on_ludus):
    assert on_ludus(CHILD, method) == "True True\nTrue\n"


def test_it_can_be_installed_from_within_a_program(python):
    program = (
        "import ludus.interop.as_gymnasium as g; g.install(); g.install(); "
        "import gymnasium as gym; from gymnasium import spaces; "
        "print(g.installed(), gym.__version__, spaces.Box is __import__('ludus').spaces.Box)"
    )
    assert python("-W", "error", "-c", program).stdout == "True 1.4.0 True\n"


def test_too_late_is_an_error(python):
    program = "import gymnasium, ludus.interop.as_gymnasium as g; g.install()"
    error = python("-c", program, code=1).stderr.splitlines()[-1]
    assert error == (
        "ludus.errors.LudusError: as_gymnasium: expected to be installed before Gymnasium is imported, got it imported "
        "already; call install() first, or run the program by `python -m ludus.interop.as_gymnasium`"
    )


def test_gymnasium_need_not_be_installed(python, tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys, gymnasium as gym\n"
        "print(hasattr(gym, '__ludus__'), gym.make('CartPole-v1').reset(seed=0)[0].shape)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'torch', 'jax', 'numba', 'pygame'}))\n"
    )
    # A finder that hides the real one stands for a machine without it.
    hide = (
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "class Without(PathFinder):\n"
        "    @classmethod\n"
        "    def find_spec(cls, name, path=None, target=None):\n"
        "        return None if name == 'gymnasium' else PathFinder.find_spec(name, path, target)\n"
        "sys.meta_path[:] = [Without if one is PathFinder else one for one in sys.meta_path]\n"
        "sys.argv = ['as_gymnasium', 'program.py']\n"
        "import runpy; runpy.run_module('ludus.interop.as_gymnasium', run_name='__main__', alter_sys=True)\n"
    )
    assert python("-c", hide).stdout == "True (4,)\n[]\n"


def test_modules_run_as_scripts_do(python, tmp_path):
    (tmp_path / "program.py").write_text("import sys, gymnasium; print(hasattr(gymnasium, '__ludus__'), sys.argv[1:])")
    done = python("-m", "ludus.interop.as_gymnasium", "-m", "program", "--seed", "3")
    assert done.stdout == "True ['--seed', '3']\n"


def test_the_command_says_how_it_is_used(python):
    assert "script.py" in python("-m", "ludus.interop.as_gymnasium", "--help").stderr
    assert "script.py" in python("-m", "ludus.interop.as_gymnasium", code=2).stderr
    done = python("-m", "ludus.interop.as_gymnasium", "nowhere.py", code=2)
    assert done.stderr == "as_gymnasium: expected a program, got no file 'nowhere.py'\n"


def test_an_error_of_the_program_is_shown_as_its_own(python, tmp_path):
    (tmp_path / "program.py").write_text("import sys\nimport gymnasium\nsys.exit(3)\n")
    python("-m", "ludus.interop.as_gymnasium", "program.py", code=3)
    (tmp_path / "program.py").write_text("import gymnasium\ngymnasium.make('Nowhere-v0')\n")
    error = python("-m", "ludus.interop.as_gymnasium", "program.py", code=1).stderr
    assert 'File "program.py", line 2' in error
    assert "ludus.errors.NameNotFound" in error


def test_functions_travel_by_cloudpickle_with_the_modules_they_use(on_ludus):
    program = """
        import pickle

        import cloudpickle
        import gymnasium as gym
        from gymnasium.vector.utils import CloudpickleWrapper

        travelled = pickle.loads(pickle.dumps(CloudpickleWrapper(lambda: gym.make("CartPole-v1"))))
        print(travelled().reset(seed=1)[0].shape, cloudpickle.loads(cloudpickle.dumps(gym.logger)) is gym.logger)
    """
    assert on_ludus(program) == "(4,) True\n"


def test_asynchronous_batches_are_processes(on_ludus):
    program = """
        import os

        import gymnasium as gym

        class Told(gym.Wrapper):
            @property
            def process(self):
                return os.getpid()

        envs = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="async", wrappers=[Told])
        print(type(envs).__name__, os.getpid() in envs.get_attr("process"))
        envs.reset_async(seed=1)
        observations, _ = envs.reset_wait(timeout=60)
        print((observations == gym.make_vec("CartPole-v1", num_envs=2).reset(seed=1)[0]).all())
        envs.step_async([0, 1])
        try:
            envs.reset_async()
        except gym.error.AlreadyPendingCallError as error:
            print(error.name)
        envs.step_wait()
        try:
            envs.step_wait()
        except gym.error.NoAsyncCallError as error:
            print(error.name)
        envs.call_async("gravity")
        print(envs.call_wait())
        envs.close(terminate=True)
        try:
            envs.step_async([0, 1])
        except gym.error.ClosedEnvironmentError:
            print("closed")
    """
    assert on_ludus(program).splitlines() == [
        "AsyncVectorEnv False",
        "True",
        "step",
        "step",
        "(9.8, 9.8)",
        "closed",
    ]


def test_only_one_of_the_two_can_be_used_in_a_program(on_ludus):
    program = """
        import ludus

        try:
            ludus.make("gymnasium/CartPole-v1")
        except ludus.errors.MissingExtra as error:
            print(error)
    """
    assert on_ludus(program) == (
        "ludus.interop.gymnasium: expected Gymnasium itself, got Ludus in its place (ludus.interop.as_gymnasium); "
        "use one of the two in a program\n"
    )


def test_spawned_children_find_the_folder_of_the_shim_and_nothing_else_in_it():
    from ludus.interop.as_gymnasium.installation import SHIM

    assert SHIM not in sys.path
    names = {path.name for path in __import__("pathlib").Path(SHIM).iterdir() if path.suffix == ".py"}
    assert names == {"__init__.py", "gymnasium.py"}
