"""The protocols of a server. Each module has `routes(server, served)` or a coroutine that serves one connection."""

__all__: list[str] = []
