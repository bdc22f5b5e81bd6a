"""The guide's `core.client_types`: what a reset or a step gives a client."""

from ludus.client.result import StepResult

__all__ = ["StepResult"]
