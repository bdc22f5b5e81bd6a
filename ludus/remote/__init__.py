"""An `Env` that is somewhere else: a host that answers for it there, and proxies for one and for a batch here.

Not here: how bytes get from one side to the other, and who starts and ends the other side. That is a link: a sandboxed
process has one in `ludus.sandbox.environment`, a session at a server in `ludus.client`.
"""

__all__: list[str] = []
