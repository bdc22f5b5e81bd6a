"""Draw the pictures of the environments' pages again: `python docs/envs/draw.py`."""

from pathlib import Path

import ludus
from ludus.envs.open import (
    ChatAction,
    CodeAction,
    Connect4Action,
    FinRLAction,
    OpenSpielAction,
    ReasoningGymAction,
    SumoAction,
    TextArenaAction,
    clone_repo,
    execute_git_command,
)
from ludus.envs.open.atari.policies import POLICIES as ATARI_POLICIES
from ludus.envs.open.dipg_safety.policies import POLICIES as DIPG_POLICIES
from ludus.rendering import Canvas

ASSETS = Path(__file__).parent / "assets"


def atari() -> Canvas:
    """Some bricks are gone."""
    env = ludus.make("open/Atari-breakout-v0").unwrapped
    observation, _ = env.reset(seed=2)
    for _ in range(160):
        observation = env.step(ATARI_POLICIES["oracle"](env, observation, None)).observation
    return env.draw()


def cartpole() -> Canvas:
    """Leaning a little."""
    env = ludus.make("CartPole-v1").unwrapped
    env.state = (0.6, 0.0, 0.1, 0.0)
    return env.draw()


def mountain_car() -> Canvas:
    """On the way up."""
    env = ludus.make("MountainCar-v0").unwrapped
    env.state = (-0.15, 0.02)
    env.step(2)
    return env.draw()


def mountain_car_continuous() -> Canvas:
    """On the way back."""
    env = ludus.make("MountainCarContinuous-v0").unwrapped
    env.state = (-0.8, -0.02)
    env.step([-0.6])
    return env.draw()


def pendulum() -> Canvas:
    """Pushed to the left."""
    env = ludus.make("Pendulum-v1").unwrapped
    env.state = (2.4, 0.0)
    env.step([1.4])
    return env.draw()


def acrobot() -> Canvas:
    """Almost there."""
    env = ludus.make("Acrobot-v1").unwrapped
    env.state = (1.7, 0.6, 0.0, 0.0)
    env.step(2)
    return env.draw()


def blackjack() -> Canvas:
    """After the dealer's turn."""
    env = ludus.make("Blackjack-v1").unwrapped
    env.reset(seed=12)
    env.step(0)
    return env.draw()


def frozen_lake() -> Canvas:
    """Between the holes."""
    env = ludus.make("FrozenLake-v1").unwrapped
    env.s = 9
    return env.draw()


def cliff_walking() -> Canvas:
    """Close to the edge."""
    env = ludus.make("CliffWalking-v1").unwrapped
    env.s = 27
    return env.draw()


def taxi() -> Canvas:
    """With a passenger waiting."""
    env = ludus.make("Taxi-v4").unwrapped
    env.s = env.encode(2, 1, 0, 3)
    env.step(2)
    return env.draw()


def tape(name: str, seed: int, right: int) -> Canvas:
    """A task with `right` symbols written."""
    env = ludus.make(name, starting_min_length=8).unwrapped
    env.reset(seed=seed)
    for symbol in env.target[:right]:
        env.step((1, 1, symbol))
    return env.draw()


def connect4() -> Canvas:
    """Won, aslant."""
    env = ludus.make("open/Connect4-v0", opponent="none").unwrapped
    env.reset(seed=1)
    for column in (0, 1, 1, 2, 2, 3, 2, 3, 3, 5, 3):
        env.step(Connect4Action(column))
    return env.draw()


def coding() -> Canvas:
    """On the way to a solution."""
    with ludus.make("open/Coding-v0", task="triangular").unwrapped as env:
        env.reset(seed=1)
        for code in ("1 / 0", "def triangular(n):\n    return n * (n + 1) // 2", "triangular(10)"):
            env.step(CodeAction(code))
        return env.draw()


def dipg_safety() -> Canvas:
    """Right, and with quotes."""
    env = ludus.make("open/DIPGSafety-v0", kinds=("conflict",)).unwrapped
    observation, _ = env.reset(seed=1)
    env.step(DIPG_POLICIES["oracle"](env, observation, None))
    return env.draw()


def openspiel() -> Canvas:
    """An Italian game."""
    env = ludus.make("open/OpenSpiel-chess-v0", opponent="none").unwrapped
    env.reset(seed=1)
    for move in ("e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "c3", "Nf6"):
        legal = env.observation_of(env.match().turn).legal_actions
        env.step(OpenSpielAction(next(one for one in legal if env.action_name(one) == move)))
    return env.draw()


def textarena() -> Canvas:
    """Almost the word."""
    env = ludus.make("open/TextArena-v0").unwrapped
    env.reset(seed=3)
    for word in ("slate", "crane", "moist", "blame", "plate"):
        env.step(TextArenaAction(f"[{word}]"))
    return env.draw()


def finrl() -> Canvas:
    """After a quarter of a year."""
    env = ludus.make("open/FinRL-v0").unwrapped
    env.reset(seed=4)
    for day in range(60):
        env.step(FinRLAction([1.0 if (day + stock) % 7 < 3 else -0.4 for stock in range(5)]))
    return env.draw()


def sumo_rl() -> Canvas:
    """In the morning."""
    with ludus.make("open/SumoRL-v0", demand=900.0).unwrapped as env:
        env.reset(seed=1)
        for number in range(24):
            env.step(SumoAction(number // 4 % 2))
        return env.draw()


def reasoning_gym() -> Canvas:
    """Answered."""
    env = ludus.make("open/ReasoningGym-v0").unwrapped
    env.reset(seed=3)
    env.step(ReasoningGymAction(str(env._entry["answer"])))
    return env.draw()


def git() -> Canvas:
    """In the middle of a conflict."""
    with ludus.make("open/Git-v0", task="resolve_conflict").unwrapped as env:
        observation, _ = env.reset(seed=1)
        env.step(clone_repo(observation.repos[0]["name"]))
        for command in ("git branch -r", "git log --oneline --all -4", "git status"):
            env.step(execute_git_command(command))
        return env.draw()


def chat() -> Canvas:
    """On the way to an address."""
    env = ludus.make("open/Chat-v0", scenario="collect_address").unwrapped
    env.reset(seed=1)
    for text in ("What is your name?", "In which street do you live?", "And in which city?"):
        env.step(ChatAction(message=text))
    return env.draw()


PICTURES = {
    "cartpole": cartpole,
    "mountain_car": mountain_car,
    "mountain_car_continuous": mountain_car_continuous,
    "pendulum": pendulum,
    "acrobot": acrobot,
    "blackjack": blackjack,
    "frozen_lake": frozen_lake,
    "cliff_walking": cliff_walking,
    "taxi": taxi,
    "copy": lambda: tape("Copy-v0", 1, 4),
    "duplicated_input": lambda: tape("DuplicatedInput-v0", 1, 2),
    "repeat_copy": lambda: tape("RepeatCopy-v0", 1, 5),
    "reverse": lambda: tape("Reverse-v0", 1, 3),
    "reversed_addition": lambda: tape("ReversedAddition-v0", 1, 4),
    "connect4": connect4,
    "coding": coding,
    "dipg_safety": dipg_safety,
    "atari": atari,
    "openspiel": openspiel,
    "textarena": textarena,
    "finrl": finrl,
    "sumo_rl": sumo_rl,
    "reasoning_gym": reasoning_gym,
    "git": git,
    "chat": chat,
}


def main() -> None:
    """Write every picture."""
    for name, picture in PICTURES.items():
        picture().save(ASSETS / f"{name}.svg")


if __name__ == "__main__":
    main()
