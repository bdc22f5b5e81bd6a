"""The program that `ludus.serve(..., block=False)` starts where a server has several workers."""

from ludus.serve.apart import run_apart
from ludus.serve.plan import Plan
from ludus.serve.run import run

if __name__ == "__main__":
    run_apart(lambda job, ready, until: run(Plan(*job), ready, until))
