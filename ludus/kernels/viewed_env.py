"""`ViewedRuleEnv`: rules whose state is read as something that can be changed in place, an array or lists."""

from typing import Any

from ludus.kernels.rule_env import RuleEnv

__all__ = ["ViewedRuleEnv"]

WAS_READ = "a state that was read"
"""Why a step cannot go on at once: what is read may have been changed, and is taken back first."""


class ViewedRuleEnv(RuleEnv):
    """An environment of which programs read a view and change it: what they write counts in the next step.

    A subclass says what a view is. One that nobody asks for is never made, and costs a step nothing.

    >>> from ludus.envs.classic import CartPole
    >>> env = CartPole()
    >>> _ = env.reset(seed=0)
    >>> env.state[0] = 3.0
    >>> env.step(1).terminated
    True
    """

    _view: tuple[object, object] | None = None
    """The state that was read, and what was given for it."""

    def _view_of(self, state: Any) -> Any:
        """A new view of a state."""
        raise NotImplementedError(f"{type(self).__name__} defines no _view_of(state)")

    def _state_of(self, view: Any) -> Any:
        """The state that a view holds."""
        raise NotImplementedError(f"{type(self).__name__} defines no _state_of(view)")

    def _read(self) -> Any:
        """The view of the current state: the same one until the state is another."""
        if self._view is None or self._view[0] is not self._state:
            self._view = self._state, self._view_of(self._state)
            if not self._needs:
                self._needs = WAS_READ
        return self._view[1]

    def _viewed_state(self) -> Any:
        """The state, with all that was written into its view."""
        if self._view is not None and self._view[0] is self._state:
            self._state = self._state_of(self._view[1])
            self._view = self._state, self._view[1]
        return self._state

    def _unready(self) -> None:
        if self._needs != WAS_READ:
            super()._unready()
        self._viewed_state()
        self._needs, self._view = "", None
