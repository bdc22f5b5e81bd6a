"""BrowserGym: pages in a sandboxed Chromium, driven by BrowserGym's action language; MiniWoB++ and sites of our own."""

from ludus.envs.open.browsergym.browsergym import (
    BrowserAction,
    BrowserGym,
    BrowserGymAction,
    BrowserGymObservation,
    BrowserGymState,
)

__all__ = ["BrowserAction", "BrowserGym", "BrowserGymAction", "BrowserGymObservation", "BrowserGymState"]
