"""The frame of a program in a sandbox: the question from standard input, the answer by a channel of its own."""

import os
import sys
from collections.abc import Callable

__all__ = ["run"]


def run(main: Callable[[bytes, int], None]) -> None:
    """Run `main` with the question and a descriptor for the answer; what is printed meanwhile goes nowhere."""
    question = sys.stdin.buffer.read()
    answer = os.dup(1)  # not inheritable: programs that the code starts cannot answer in its place
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    main(question, answer)
    os._exit(0)  # threads that the code left behind are not waited for
