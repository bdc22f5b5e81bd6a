"""`Sibling`: another sandbox of the same kind beside the one that attacks, with a secret, which is to be left alone."""

import os
import time
from collections.abc import Mapping
from typing import Any

from ludus.sandbox import Policy, Sandbox
from ludus.sandbox.tree import below
from tests.attacks.trial import Trial, command
from tests.patience import PATIENCE_S

__all__ = ["Sibling"]

NAME = "sibling"


class Sibling:
    """It starts at once; how it fared is known when it is closed."""

    def __init__(self, sandbox: Sandbox, policy: Policy, aim: Mapping[str, Any]) -> None:
        self.mark = os.urandom(8).hex()
        self._closed = False
        self._trial = Trial(sandbox, policy, command({NAME: "sibling:dwell"}, aim, self.mark))
        told: dict[str, Any] = self._trial.until_ready(PATIENCE_S) or {}
        self.secret: str = told.get("secret", "")
        self.place = {name: told.get(name, "") for name in ("home", "abstract", "port")}
        self.pids = list(below(self._trial.process.pid))
        """As the host numbers them."""
        self.called = self.ended = False

    def close(self) -> None:
        """Ask it how it fared; harmless twice."""
        if self._closed:
            return
        self._closed = True
        self._trial.go_on()
        self._trial.finish(time.monotonic() - self._trial.began + PATIENCE_S)  # attacks took the time before
        told = self._trial.told.get(NAME)
        self.ended = told is None or bool(told.get("error"))
        self.called = any("called" in line for line in self._trial.said)
