"""Linked code: each has a machine of its own, so that the end of one is not the end of the next."""

import subprocess
import sys

PROGRAM = """
from ludus.kernels.machine import Machine

kept = []
for number in range(60):
    made = Machine.of_text(f"define i64 @twice{number}(i64 %x) {{ %y = add i64 %x, %x \\n ret i64 %y }}")
    assert made.address(f"twice{number}")
    if number % 3 == 0:
        kept.append(made)
"""


def test_code_can_be_let_go_of_while_other_code_lives_and_more_is_made():
    """In a process of its own: memory that was freed and is used again ends it."""
    assert subprocess.run([sys.executable, "-c", PROGRAM], check=False).returncode == 0
