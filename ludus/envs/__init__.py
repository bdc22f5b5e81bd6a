"""Built-in environments, one folder for each family; `catalog.toml` lists them and is read without importing any.

Not here: names. A family is imported by its own, as `ludus.envs.classic`.
"""

__all__: list[str] = []
