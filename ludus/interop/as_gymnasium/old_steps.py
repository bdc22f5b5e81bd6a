"""Steps of four values and of five, either from the other."""

from typing import Any

from ludus.core import from_done_step, to_done_step

__all__ = ["convert_to_done_step_api", "convert_to_terminated_truncated_step_api", "step_api_compatibility"]


def convert_to_terminated_truncated_step_api(step_returns: tuple[Any, ...], is_vector_env: bool = False) -> Any:
    """Five values, from four or five."""
    del is_vector_env  # the values show it
    return from_done_step(step_returns)


def convert_to_done_step_api(step_returns: tuple[Any, ...], is_vector_env: bool = False) -> Any:
    """Four values, from five or four."""
    del is_vector_env
    return to_done_step(step_returns)


def step_api_compatibility(
    step_returns: tuple[Any, ...], output_truncation_bool: bool = True, is_vector_env: bool = False
) -> Any:
    """Five values, or four, from either."""
    convert = convert_to_terminated_truncated_step_api if output_truncation_bool else convert_to_done_step_api
    return convert(step_returns, is_vector_env)
