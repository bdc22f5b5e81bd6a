"""Shared by all tests: one hypothesis profile, the same examples on every machine and run."""

from hypothesis import HealthCheck, settings

# Derandomized, so a red build is red again on the next run; no deadline, because shared machines stall.
settings.register_profile(
    "ludus", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# `pytest --hypothesis-profile=explore` looks further, and elsewhere each time.
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("ludus")
