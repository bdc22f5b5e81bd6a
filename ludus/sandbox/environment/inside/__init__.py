"""What runs inside the sandbox: it makes the environment, and answers what is asked of it.

Not here: anything that the other side relies on. Code of the environment runs in the same process.
"""

__all__: list[str] = []
