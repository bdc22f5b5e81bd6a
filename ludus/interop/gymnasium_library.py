"""Gymnasium itself: the one file that imports it, and says what to install where it is missing."""

from ludus.errors import MissingExtra

try:
    import gymnasium
    from gymnasium.envs import registration
except ModuleNotFoundError as error:
    raise MissingExtra(
        'ludus.interop.gymnasium: expected the package gymnasium, got none; pip install "ludus-rl[gymnasium]"',
        name="gymnasium",
    ) from error

if hasattr(gymnasium, "__ludus__"):
    raise MissingExtra(
        "ludus.interop.gymnasium: expected Gymnasium itself, got Ludus in its place (ludus.interop.as_gymnasium); "
        "use one of the two in a program",
        name="gymnasium",
    )

__all__ = ["gymnasium", "registration"]
