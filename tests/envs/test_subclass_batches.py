"""Batches of subclasses: compiled where compiled rules are still the class's, else interpreted and said so."""

import warnings

import numpy as np
import pytest

import ludus
from ludus.envs.classic import Acrobot, CartPole, Pendulum
from ludus.envs.toy_text import Blackjack, CliffWalking, FrozenLake, Taxi
from ludus.errors import InvalidArgument, InvalidType, KernelError
from ludus.kernels.batch import KernelVectorEnv
from ludus.testing import data_equal
from tests.kernels.two_walks import Forward


class Shaped(CartPole):
    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward - abs(self.state[0]), terminated, truncated, info


class Centred(CartPole):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.state = np.zeros(4)
        return np.zeros(4, np.float32), {}


class Blind(Pendulum):
    def _get_obs(self):
        return np.zeros(3, np.float32)


class Endless(Acrobot):
    def _terminal(self):
        return False


class Counting(Blackjack):
    def _get_obs(self):
        return (len(self.player), self.dealer[0], 0)


class Paved(FrozenLake):
    def __init__(self):
        super().__init__(is_slippery=False)
        self.P[0][1] = [(1.0, 15, 5.0, True)]


class Steep(CliffWalking):
    def outcomes(self, state, action):
        return [(chance, place, reward * 3, end) for chance, place, reward, end in super().outcomes(state, action)]


class Kind(Taxi):
    def action_mask(self, state):
        del state
        return np.ones(6, np.int8)


class Loud:
    """A stranger's class that is mixed in."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward * 2, *rest


class LoudWalk(Loud, Forward):
    pass


class OwnWalk(Forward):
    """Rules and a step beside them, in one class."""

    rules = Forward.rules

    def step(self, action):
        return super().step(1 - action)


INTERPRETED = {
    Shaped: "step",
    Centred: "reset",
    Blind: "_get_obs",
    Endless: "_terminal",
    Counting: "_get_obs",
    Paved: "P",
    Steep: "outcomes",
    Kind: "action_mask",
    LoudWalk: "step",
    OwnWalk: "step",
}


@pytest.mark.parametrize("kind", INTERPRETED, ids=lambda kind: kind.__name__)
def test_a_batch_of_a_class_with_rules_of_its_own_is_interpreted_and_says_so(kind):
    with pytest.warns(UserWarning, match=rf"{kind.__name__}: .* its own {INTERPRETED[kind]}, .*; running serially"):
        envs = ludus.make_vec(ludus.EnvSpec("Own-v0", kind), 3)
    assert envs.executor == "serial"
    _lanes_are_single_environments(envs, kind)


@pytest.mark.parametrize("kind", INTERPRETED, ids=lambda kind: kind.__name__)
def test_a_compiled_batch_of_a_class_with_rules_of_its_own_is_refused(kind):
    for make in (
        lambda: ludus.make_vec(ludus.EnvSpec("Own-v0", kind), 3, executor="kernel"),
        lambda: KernelVectorEnv(kind, 3),
    ):
        with pytest.raises(
            KernelError, match=rf"{kind.__name__}: expected .* its own {INTERPRETED[kind]}, .*executor="
        ):
            make()


class LongArm(Acrobot):
    LINK_LENGTH_1 = 2.0
    MAX_VEL_1 = 3.0
    book_or_nips = "nips"


class MoonPole(CartPole):
    def __init__(self):
        super().__init__()
        self.gravity = 1.6
        self.theta_threshold_radians = 0.1


class Anywhere(FrozenLake):
    def __init__(self):
        super().__init__()
        self.initial_state_distrib[:] = 1 / 16


class Below(CliffWalking):
    def __init__(self):
        super().__init__()
        self.initial_state_distrib = np.eye(48)[24]


class Planner(FrozenLake):
    """Reads its table, and leaves it as it is."""

    def __init__(self):
        super().__init__()
        self.best = max(reward for row in self.P.values() for outcomes in row.values() for _, _, reward, _ in outcomes)


class Drawn(CartPole):
    """Overrides nothing that a compiled lane does."""

    def render(self):
        return "a pole"


COMPILED = [LongArm, MoonPole, Anywhere, Below, Planner, Drawn]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("kind", COMPILED, ids=lambda kind: kind.__name__)
def test_what_a_class_sets_is_compiled(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = ludus.make_vec(ludus.EnvSpec("Own-v0", kind), 3)
    assert envs.executor == "kernel"
    _lanes_are_single_environments(envs, kind)


def test_lanes_that_set_parameters_apart_are_compiled_together():
    class Tall(CartPole):
        length = 0.9

        def __init__(self, gravity=9.8):
            super().__init__()
            self.gravity = gravity

    envs = ludus.make_vec(ludus.EnvSpec("Own-v0", Tall), 2, each={"gravity": [1.0, 2.0]})
    assert (envs.executor, envs.get_attr("gravity"), envs.get_attr("length")) == ("kernel", (1.0, 2.0), (0.9, 0.9))


def test_rules_that_are_replaced_in_a_subclass_are_compiled():
    class Half(CartPole):
        rules = CartPole.rules._replace(observe=lambda state, params: (state[0] * 0.5, 0.0, state[2], 0.0))

    envs = ludus.make_vec(ludus.EnvSpec("Own-v0", Half), 3)
    assert envs.executor == "kernel"
    _lanes_are_single_environments(envs, Half)


def _lanes_are_single_environments(envs, kind):
    spec = envs.spec
    singles = [ludus.make(spec) for _ in range(3)]
    observations, _ = envs.reset(seed=5)
    rows = [env.reset(seed=5 + lane)[0] for lane, env in enumerate(singles)]
    assert data_equal(observations, envs.single_observation_space.concatenate(rows))
    envs.action_space.seed(0)
    ended = [False] * 3
    for _ in range(40):
        actions = envs.action_space.sample()
        step = envs.step(actions)
        for lane, env in enumerate(singles):
            if ended[lane]:
                env.reset()
                ended[lane] = False
                continue
            _, reward, terminated, truncated, _ = env.step(actions[lane])
            assert (step.reward[lane], step.terminated[lane]) == (reward, terminated), kind
            ended[lane] = terminated or truncated
    envs.close()


def test_the_error_names_the_cure():
    with pytest.raises(KernelError, match=r"write it as rules = Shaped\.rules\._replace"):
        KernelVectorEnv(Shaped, 2)
    with pytest.raises(InvalidArgument, match="not made of rules"):
        ludus.make_vec("GridWorld-v0", 2, executor="kernel")


def test_a_table_that_compiled_lanes_do_not_read_cannot_be_written_into():
    envs = ludus.make_vec("FrozenLake-v1", 2)
    table = envs.get_attr("P")[0]
    assert table == FrozenLake().P
    with pytest.raises(TypeError, match="does not support item assignment"):
        table[0][1] = [(1.0, 15, 5.0, True)]
    with pytest.raises(ValueError, match="read-only"):
        envs.get_attr("initial_state_distrib")[0][3] = 1.0
    with pytest.raises(InvalidArgument, match="expected one of the parameters"):
        envs.set_attr("P", {})


class Goal(Forward):
    goal = 7


def test_a_parameter_that_a_stranger_sets_in_a_class_is_the_default_and_an_argument_goes_before_it():
    assert (Goal.goal, Goal().goal, Goal(goal=2).goal, Forward.goal, Forward().goal) == (7, 7, 2, 3, 3)
    assert ludus.make_vec(ludus.EnvSpec("Own-v0", Goal), 2).get_attr("goal") == (7, 7)


def test_a_wrong_value_in_a_class_is_refused_when_it_is_used():
    kind = type("Broken", (Forward,), {"goal": "far"})
    with pytest.raises(InvalidType, match="Broken goal: expected an integer, got 'far'"):
        kind()


class Stranger(Forward):
    """Names that the library might have wanted for itself."""

    hooks = ("mine",)
    default_params = "mine"
    settings = 3

    def set_params(self):
        return "mine"

    def _get_obs(self):
        return "nobody calls it: Forward has no such hook"


def test_names_of_a_strangers_own_mean_nothing_to_the_rules():
    env = Stranger(goal=5)
    env.goal = 4
    assert (env.goal, env.hooks, env.default_params, env.set_params()) == (4, ("mine",), "mine", "mine")
    assert ludus.make_vec(ludus.EnvSpec("Own-v0", Stranger), 2).executor == "kernel"


def test_a_subclass_runs_in_processes_as_it_does_alone():
    with ludus.make_vec(ludus.EnvSpec("Own-v0", Endless), 3, executor="process") as envs:
        _lanes_are_single_environments(envs, Endless)
