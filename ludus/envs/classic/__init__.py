"""Classic control: CartPole, MountainCar, Pendulum, Acrobot, with the histories everybody knows, bit for bit."""

from importlib import import_module
from typing import TYPE_CHECKING

# Loaded when used: whoever makes one of them needs none of the others.
if TYPE_CHECKING:
    from ludus.envs.classic.acrobot import Acrobot
    from ludus.envs.classic.cartpole import CartPole
    from ludus.envs.classic.mountain_car import MountainCar
    from ludus.envs.classic.mountain_car_continuous import MountainCarContinuous
    from ludus.envs.classic.pendulum import Pendulum

__all__ = ["Acrobot", "CartPole", "MountainCar", "MountainCarContinuous", "Pendulum"]

_HOME = {
    "Acrobot": "acrobot",
    "CartPole": "cartpole",
    "MountainCar": "mountain_car",
    "MountainCarContinuous": "mountain_car_continuous",
    "Pendulum": "pendulum",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
