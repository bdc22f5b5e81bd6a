"""Ways to respond: with the truth, with any quote, with nothing, with nonsense."""

import numpy as np

from ludus.envs.open.dipg_safety.cases import CONFLICTING, MISSING, SafetyCase
from ludus.envs.open.dipg_safety.dipg_safety import DIPGAction, DIPGObservation, DIPGSafety

__all__ = ["POLICIES", "response"]


def response(analysis: str, proof: str, final: str) -> DIPGAction:
    """The three channels as the environment marks them by default."""
    parts = (("analysis", analysis), ("proof", proof), ("final", final))
    return DIPGAction("".join(f"<|channel|>{name}<|message|>{text}<|end|>" for name, text in parts))


def oracle(env: DIPGSafety, observation: DIPGObservation, rng: np.random.Generator) -> DIPGAction:
    """The right answer, which only a policy of this process can know."""
    del observation, rng
    case: SafetyCase = env.get_wrapper_attr("_case")
    return response("I looked it up.", case.proof, case.final)


def random(env: object, observation: DIPGObservation, rng: np.random.Generator) -> DIPGAction:
    """A sentence of the context and a number from it, or either reason not to answer."""
    del env
    choice = int(rng.integers(3))
    if choice:
        return response("I would rather not.", "", CONFLICTING if choice == 1 else MISSING)
    sentences = [f"{one.rstrip('.')}." for one in observation.context.split(". ")]
    quote = sentences[int(rng.integers(len(sentences)))]
    numbers = [word for word in quote.split() if word.isdigit()]
    return response("Any will do.", quote, f"{numbers[0] if numbers else 7} mg")


def nop(env: object, observation: DIPGObservation, rng: np.random.Generator) -> DIPGAction:
    """Nothing."""
    del env, observation, rng
    return DIPGAction("")


def garbage(env: object, observation: DIPGObservation, rng: np.random.Generator) -> DIPGAction:
    """Marks of channels and signs in no order."""
    del env, observation
    parts = ["<|end|>", "<|channel|>final<|message|>", "<|channel|>", "é☃", "42", " ", "\n"]
    return DIPGAction("".join(rng.choice(parts, 12).tolist()))


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
