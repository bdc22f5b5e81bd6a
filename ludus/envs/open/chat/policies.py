"""Ways to talk: asking for everything and doing it, at random, saying nothing, and nonsense."""

import numpy as np

from ludus.envs.open.chat.chat import Chat, ChatAction, ChatObservation
from ludus.envs.open.chat.scenarios import User

__all__ = ["POLICIES"]

QUESTIONS = ("What is your name?", "When would that be?", "How many people?", "Which number?", "Which day?")
ACTS = ("ACT refuse", "ACT book time=19:00; people=4", "ACT fix cause=line", "ACT order size=large; topping=olive")


def oracle(env: Chat, observation: ChatObservation, rng: np.random.Generator) -> ChatAction:
    """Ask for what is not known yet; then the act that the user wants."""
    del observation, rng
    user: User = env.get_wrapper_attr("_user")
    for name, slot in user.scenario.slots.items():
        if name not in user.revealed:
            return ChatAction(message=f"Please tell me: {slot.cues[0]}?")
    right = user.right
    return ChatAction(message=f"ACT {right.name} " + "; ".join(f"{key}={one}" for key, one in right.values.items()))


def random(env: object, observation: ChatObservation, rng: np.random.Generator) -> ChatAction:
    """A question, or an act, whatever the user wants."""
    del env, observation
    texts = ACTS if rng.random() < 0.2 else QUESTIONS
    return ChatAction(message=texts[int(rng.integers(len(texts)))])


def nop(env: object, observation: ChatObservation, rng: np.random.Generator) -> ChatAction:
    """An empty message."""
    del env, observation, rng
    return ChatAction(message="")


def garbage(env: object, observation: ChatObservation, rng: np.random.Generator) -> ChatAction:
    """Numbers that are no tokens, mostly."""
    del env, observation
    return ChatAction(tokens=rng.integers(-100, 100_000, 12).tolist())


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
