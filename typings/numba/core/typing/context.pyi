class BaseContext:
    """What knows the types of functions and of their results."""
