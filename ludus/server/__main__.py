"""The program that `ludus.serve(..., block=False)` starts where a server has several workers."""

from ludus.server.run import run
from ludus.server.server_plan import ServerPlan
from ludus.server.spawned_server import run_spawned

if __name__ == "__main__":
    run_spawned(lambda targets, config, ready, until: run(ServerPlan(targets, config), ready, until))
