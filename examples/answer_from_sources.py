"""Answer only what the sources say, quote them, and say where they differ: `python examples/answer_from_sources.py`."""

import re

import ludus
from ludus.envs.open.dipg_safety.policies import response

TOPICS = ("dose", "survival", "response", "nausea", "weeks")

env = ludus.make("open/DIPGSafety-v0")
for seed in (0, 1, 4, 11, 14, 23):  # look-alike, conflict, missing, and three with an answer
    observation, info = env.reset(seed=seed)
    topic = next((one for one in TOPICS if one in observation.question), "children")
    drug = next(word for word in re.findall(r"[A-Z]\w+", observation.question) if word in observation.context)
    sentences = re.findall(r"[^.]+\.", observation.context)
    quotes = [one.strip() for one in sentences if {drug, topic} <= set(re.findall(r"\w+", one))]
    numbers = {number for one in quotes for number in re.findall(r"\d+ \w+", one)}
    final = "The context does not contain this information."
    if numbers:
        final = numbers.pop() if len(numbers) == 1 else "The context has conflicting information."
    step = env.step(response("I looked for the sentences.", "\n".join(quotes), final))
    print(f"{observation.question} {final} → {step.info['outcome']}, reward {step.reward:g}")
