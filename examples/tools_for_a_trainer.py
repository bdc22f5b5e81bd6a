"""An environment as TRL's trainers use it, played by hand: `python examples/tools_for_a_trainer.py`."""

import inspect

from ludus.interop.trl import dataset_rows, environment_factory

Wordle = environment_factory("open/TextArena-v0", fields=("messages",))
row = dataset_rows(Wordle, 1)[0]
print(row["prompt"][0]["content"])

env = (
    Wordle()
)  # GRPOTrainer(environment_factory=Wordle, train_dataset=Dataset.from_list(rows), …) makes and calls these
print(env.reset(**row))
print(inspect.signature(env.text_arena), inspect.getdoc(env.text_arena), sep="\n")
for guess in ("crane", "moist", "bulky"):
    if not env.done:
        print(env.text_arena(message=f"[{guess}]"))
print("reward", env.get_reward(), "after", env.steps, "guesses")
