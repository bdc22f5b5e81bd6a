"""Wordle by crossing out what cannot be: `python examples/guess_the_word.py`."""

import ludus
from ludus.envs.open import TextArenaAction
from ludus.envs.open.textarena.wordle import marks_of
from ludus.envs.open.textarena.words import FIVE

env = ludus.make("open/TextArena-v0", game="Wordle")
for seed in range(4):
    env.reset(seed=seed)
    words, guesses, step = list(FIVE), [], None
    while step is None or not step.done:
        guesses.append(words[len(words) // 2])
        step = env.step(TextArenaAction(f"I try [{guesses[-1]}]."))
        marks = step.observation.messages[1].content.splitlines()[-1].replace(" ", "")
        words = [one for one in words if marks_of(one, guesses[-1]) == marks]
    print(f"{', '.join(guesses)}: {step.info['outcome']}, reward {step.reward:g}")
