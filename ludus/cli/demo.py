"""`ludus demo`: the built-in environments at play, in a few seconds."""

from time import perf_counter

from rich import box
from rich.table import Table
from rich.text import Text

from ludus.cli.console import out
from ludus.cli.episode import play
from ludus.core import EnvSpec
from ludus.registry import make, spec

__all__ = ["demo"]

EPISODES = 20
MAX_STEPS = 200
TOUR = (
    "CartPole-v1",
    "Pendulum-v1",
    "MountainCar-v0",
    "FrozenLake-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "Copy-v0",
    "GridWorld-v0",
    "Bandit-v0",
)
"""Something of every family."""
NEXT = (
    ("ludus list", "every environment there is"),
    ("ludus play CartPole-v1", "play it yourself, here in the terminal"),
    ("ludus info CartPole-v1", "its spaces, its arguments, what it may touch"),
    ("ludus run GridWorld-v0 --seed 7", "a few episodes, the same for the same seed"),
    ("ludus check my_module:MyEnv", "does your own environment keep the contract?"),
)


def demo() -> None:
    """Play some of the built-in environments with random actions, and say what to try next."""
    table = Table(
        title=f"{EPISODES} episodes each, random actions", title_justify="left", title_style="bold", box=box.ROUNDED
    )
    table.add_column("environment", style="cyan", no_wrap=True)
    for name in ("steps", "mean length", "mean return", "steps/s"):
        table.add_column(name, justify="right")
    table.add_column("same seed again", justify="center")
    for name in TOUR:
        table.add_row(name, *_played(spec(name)))
    out.print(table)
    _print_next()


def _played(one: EnvSpec) -> list[str | Text]:
    with make(one) as env:
        started = perf_counter()
        episodes = [play(env, seed, MAX_STEPS) for seed in range(EPISODES)]
        seconds = perf_counter() - started
        again = [play(env, seed, MAX_STEPS) for seed in range(EPISODES)]
    steps = sum(one.steps for one in episodes)
    total = sum(one.total for one in episodes)
    same = Text("same history", "green") if again == episodes else Text("differs", "red")
    return [f"{steps:,}", f"{steps / EPISODES:.1f}", f"{total / EPISODES:.2f}", f"{steps / seconds:,.0f}", same]


def _print_next() -> None:
    grid = Table.grid(padding=(0, 2, 0, 2))
    for command, purpose in NEXT:
        grid.add_row(Text(command, "bold"), Text(purpose, "dim"))
    out.print("\nTry next:")
    out.print(grid)
