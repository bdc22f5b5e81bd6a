"""Classic control: CartPole, MountainCar, Pendulum, Acrobot, with the histories everybody knows, bit for bit."""

from ludus.envs.classic.acrobot import Acrobot
from ludus.envs.classic.cartpole import CartPole
from ludus.envs.classic.mountain_car import MountainCar
from ludus.envs.classic.mountain_car_continuous import MountainCarContinuous
from ludus.envs.classic.pendulum import Pendulum

__all__ = ["Acrobot", "CartPole", "MountainCar", "MountainCarContinuous", "Pendulum"]
