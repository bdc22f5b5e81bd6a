"""A folder for the search path of child processes: its only module stands for Gymnasium. Not to be imported."""

__all__: list[str] = []
