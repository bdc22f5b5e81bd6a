"""Autoreset: when a batch resets the lanes whose episodes have ended."""

from enum import Enum

from ludus.errors import InvalidArgument, listing

__all__ = ["AutoresetMode"]


class AutoresetMode(Enum):
    """When a lane that has ended is reset.

    >>> AutoresetMode.of("SameStep")
    <AutoresetMode.SAME_STEP: 'SameStep'>
    """

    NEXT_STEP = "NextStep"
    """On the next `step`: its action is ignored, its reward is 0, its observation is the first of a new episode."""
    SAME_STEP = "SameStep"
    """At once: the observation is the new episode's; the last is `info["final_obs"]`, its info `info["final_info"]`."""
    DISABLED = "Disabled"
    """Never: call `reset(options={"reset_mask": mask})`; stepping an ended lane is an error."""

    @classmethod
    def of(cls, mode: "AutoresetMode | str") -> "AutoresetMode":
        """The mode itself, or by its value or name."""
        for known in cls:
            if mode in (known, known.value, known.name):
                return known
        raise InvalidArgument(f"autoreset_mode: expected one of {listing(one.value for one in cls)}, got {mode!r}")
