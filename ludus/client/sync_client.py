"""`SyncClient`: an `EnvClient` whose methods are never awaited."""

from typing import Any, Self

__all__ = ["SyncClient"]


class SyncClient:
    """The same session without `await`, in a running event loop too."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def connect(self) -> Self:
        """Open the session."""
        self._client.__enter__()
        return self

    def reset(self, **options: Any) -> Any:
        """Begin an episode."""
        return self._client._do(self._client._reset(options), wait=True)

    def step(self, action: Any) -> Any:
        """Advance the episode."""
        return self._client._do(self._client._step(action), wait=True)

    def state(self) -> Any:
        """The state of the episode."""
        return self._client._do(self._client._state(), wait=True)

    def close(self) -> None:
        """Close the session."""
        self._client.__exit__()

    disconnect = close

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(self, *error: object) -> None:
        self.close()
