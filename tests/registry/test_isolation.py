"""An environment that asks for a wall does not run without one, unless that was said outright."""

import pytest

import ludus
from ludus.core import EnvSpec, Security
from ludus.errors import InvalidArgument, IsolationNeeded

SPEC = EnvSpec("Wild-v0", "ludus.envs.teaching.grid_world:GridWorld", security=Security(isolation="sandbox"))


def test_a_wall_that_cannot_be_given_is_refused():
    with pytest.raises(IsolationNeeded) as raised:
        ludus.make(SPEC)
    assert str(raised.value) == (
        "Wild-v0: expected to run behind a sandbox, got no wall, since this version of Ludus has none; "
        "pass isolation='none' to run its code in this process, with your rights"
    )
    with pytest.raises(IsolationNeeded):
        ludus.make_vec(SPEC, num_envs=2)


def test_running_without_a_wall_takes_a_word():
    assert ludus.make(SPEC, isolation="none").reset(seed=0)[0].tolist() == [0, 0]
    assert ludus.make_vec(SPEC, num_envs=2, isolation="none").reset(seed=0)[0].shape == (2, 2)


def test_a_wall_that_was_asked_for_is_never_left_out():
    with pytest.raises(IsolationNeeded, match="GridWorld-v0: expected to run behind a container, got no wall"):
        ludus.make("GridWorld-v0", isolation="container")
    with pytest.raises(
        InvalidArgument, match="isolation: expected one of none, process, sandbox, container, got 'hope'"
    ):
        ludus.make("GridWorld-v0", isolation="hope")
