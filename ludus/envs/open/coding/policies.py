"""Ways to code: one that knows the solution, one that guesses, one that hands nothing in, one that writes nonsense."""

import numpy as np

from ludus.envs.open.coding.coding import CodeAction, CodeObservation, Coding
from ludus.envs.open.coding.tasks import CodingTask

__all__ = ["POLICIES"]

GUESSES = ("0", "1", "[]", "''", "True", "False", "arguments[0]", "len(arguments)", "-1")


def oracle(env: Coding, observation: CodeObservation, rng: np.random.Generator) -> CodeAction:
    """The solution, which only a policy of this process can know."""
    del observation, rng
    task: CodingTask = env.get_wrapper_attr("_task")
    return CodeAction(f"{task.solution}\nsubmit()")


def random(env: object, observation: CodeObservation, rng: np.random.Generator) -> CodeAction:
    """A function of the right name that gives a constant."""
    del env
    first = observation.stdout.splitlines()[0] if observation.stdout else ""
    name = first.partition("`")[2].partition("(")[0] or "solution"
    return CodeAction(f"def {name}(*arguments):\n    return {rng.choice(GUESSES)}\nsubmit()")


def nop(env: object, observation: CodeObservation, rng: np.random.Generator) -> CodeAction:
    """Nothing, handed in."""
    del env, observation, rng
    return CodeAction("submit()")


def garbage(env: object, observation: CodeObservation, rng: np.random.Generator) -> CodeAction:
    """Signs in no order."""
    del env, observation
    signs = list("()[]{}:=+-*/ \nabcdef0123'\"\x00é☃")
    return CodeAction("".join(rng.choice(signs, 40).tolist()))


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
