"""A service as an environment: connect to a server, and it is an `Env`.

Not here: servers, which are in `ludus.serve`, and the messages, which are in `ludus.wire`.
"""

__all__: list[str] = []
