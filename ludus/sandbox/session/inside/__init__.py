"""What runs inside the sandbox: the agent of a session. Standard library only, and any Python from 3.8 on.

Its files are sent through the channel and executed there, so nothing of Ludus needs to be installed inside.
"""

__all__: list[str] = []
