"""Ask three generators of reasoning-gym, and a game of textarena: `python examples/reasoning_questions.py`."""

import ludus
from ludus.envs.open import ReasoningGymAction, TextArenaAction

for dataset in ("leg_counting", "chain_sum", "countdown"):
    env = ludus.make("open/ReasoningGym-v0", dataset=dataset)
    observation, info = env.reset(seed=0)
    step = env.step(ReasoningGymAction("42"))
    print(f"{dataset}: 42 is worth {step.reward}; right was {step.observation.correct_answer}")

env = ludus.make("open/TextArena-v0", game="TicTacToe-v0")
observation, info = env.reset(seed=0)
step = env.step(TextArenaAction("The middle: [4]"))
print(step.observation.messages[-1].content)
