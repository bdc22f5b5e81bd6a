"""Arrays of one library as another's, by Gymnasium's names of functions."""

from typing import Any

from ludus.wrappers.conversion import array_conversion, module_namespace

__all__ = ["jax_to_numpy", "jax_to_torch", "numpy_to_jax", "numpy_to_torch", "torch_to_jax", "torch_to_numpy"]


def numpy_to_torch(value: Any, device: Any = None) -> Any:
    """The value with torch tensors in it."""
    return array_conversion(value, module_namespace("torch"), device)


def numpy_to_jax(value: Any, device: Any = None) -> Any:
    """The value with JAX arrays in it."""
    return array_conversion(value, module_namespace("jax.numpy"), device)


def torch_to_numpy(value: Any) -> Any:
    """The value with NumPy arrays in it."""
    return array_conversion(value, module_namespace("numpy"))


jax_to_torch, torch_to_jax, jax_to_numpy = numpy_to_torch, numpy_to_jax, torch_to_numpy
