"""Ask a scripted user what is wrong, and do what the rules say: `python examples/serve_a_customer.py`."""

import ludus
from ludus.envs.open.chat import ChatAction

CAUSES = {"red": "line", "green": "dns", "no light": "power"}
env = ludus.make("open/Chat-v0", scenario="debug_router")
tokenizer = env.unwrapped.tokenizer

for seed in range(4):
    observation, info = env.reset(seed=seed)
    question = "Which light do you see?"
    step = env.step(ChatAction(tokens=tokenizer.encode(question)))  # or ChatAction(message=question)
    answer = step.observation.messages[-1]["content"]
    cause = next((one for light, one in CAUSES.items() if light in answer.lower()), "power")
    step = env.step(ChatAction(message=f"ACT fix cause={cause}"))
    tokens = len(step.observation.tokens)
    print(f"{answer!r:40} {cause:6} reward {step.reward:.1f}, {step.info['outcome']}, {tokens} tokens")
env.close()
