"""Classic control: CartPole, MountainCar, Pendulum, Acrobot, with the histories everybody knows, bit for bit."""

from ludus.envs.classic.cartpole import CartPole

__all__ = ["CartPole"]
