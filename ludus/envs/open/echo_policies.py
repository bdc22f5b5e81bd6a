"""Ways to talk to an echo: at length, as it comes, not at all, and in what is no message."""

from typing import cast

import numpy as np

from ludus.envs.open.echo import MAX_MESSAGE_CHARS, EchoAction, EchoObservation

__all__ = ["POLICIES"]


def oracle(env: object, observation: EchoObservation, rng: np.random.Generator) -> EchoAction:
    """As long as a message may be: nothing is worth more."""
    del env, observation, rng
    return EchoAction("a" * MAX_MESSAGE_CHARS)


def random(env: object, observation: EchoObservation, rng: np.random.Generator) -> EchoAction:
    """Some letters."""
    del env, observation
    return EchoAction("".join(rng.choice(list("abcdefgh "), int(rng.integers(1, 40))).tolist()))


def nop(env: object, observation: EchoObservation, rng: np.random.Generator) -> EchoAction:
    """Nothing."""
    del env, observation, rng
    return EchoAction("")


def garbage(env: object, observation: EchoObservation, rng: np.random.Generator) -> EchoAction:
    """A number, bytes or more than a message may be, which are refused."""
    del env, observation
    wrong = (7, b"hello", None, "a" * (MAX_MESSAGE_CHARS + 1))
    return EchoAction(cast(str, wrong[int(rng.integers(len(wrong)))]))  # of the wrong type, which is what is tried


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
