"""Built-in environments, one folder for each family; `catalog.toml` lists them and is read without importing any."""
