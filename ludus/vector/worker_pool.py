"""`WorkerPool`: the workers of a batch and the memory they share, from their start until they are let go."""

import time
from collections.abc import Iterable, Sequence
from os import sched_yield
from typing import cast

from ludus.core import EpisodePlan
from ludus.errors import InvalidSpace, InvalidType
from ludus.spaces import Space
from ludus.spaces.kinds import is_list
from ludus.vector.block import DONE, ISSUED, QUIT, SharedBlock
from ludus.vector.failure import Failure, error_of, how_it_ended
from ludus.vector.lane import Description, Maker
from ludus.vector.link import WorkerLink
from ludus.vector.payload import dumps, pack, unpack
from ludus.vector.semaphore import fence
from ludus.vector.spin_policy import SpinPolicy
from ludus.vector.split import Span
from ludus.vector.worker_options import WorkerOptions

__all__ = ["CLOSE_DEADLINE_S", "WorkerPool"]

LIVENESS_CHECK_S = 0.05
"""For how many seconds the batch sleeps before it looks whether the workers it waits for are still there."""
START_DEADLINE_S = 60.0
"""For how many seconds a worker may make its lanes at least, where `timeout` is shorter: imports take their time."""
CLOSE_DEADLINE_S = 5.0
"""For how many seconds workers may go on closing their lanes when the batch is closed."""


class WorkerPool:
    """The workers with lanes of `makers`, split as `spans` says. It knows nothing of the batch, and may outlive it."""

    block: SharedBlock | None = None

    def __init__(self, makers: Sequence[Maker], spans: list[Span], worker_options: WorkerOptions) -> None:
        self._makers, self.spans, self._worker_options = makers, spans, worker_options
        self._look = (
            LIVENESS_CHECK_S if worker_options.timeout is None else min(LIVENESS_CHECK_S, worker_options.timeout / 4)
        )
        self._looked, self._spin_policy = 0.0, SpinPolicy()
        self.links: list[WorkerLink] = []
        try:
            for span in spans:
                self.links.append(self._started(span))
            self.descriptions = [self._first_message(link) for link in self.links]
        except BaseException:
            self.end()
            raise

    # --- beginning ---

    def _started(self, span: Span) -> WorkerLink:
        lanes: bytes | tuple[Sequence[Maker], EpisodePlan | None] = (
            self._makers[slice(*span)],
            self._worker_options.plan,
        )
        if not self._worker_options.forks:
            try:
                lanes = dumps(lanes, "env_fns and episodes")
            except InvalidType as error:
                raise InvalidType(f"{error}; or use context='fork', which sends nothing") from error
        return WorkerLink(self._worker_options, span, lanes)

    def _first_message(self, link: WorkerLink) -> Description:
        """What the worker says of its lanes when it has made them; raises what kept it from that."""
        timeout = None if self._worker_options.timeout is None else max(START_DEADLINE_S, self._worker_options.timeout)
        end = None if timeout is None else time.monotonic() + timeout
        while link.lost is None:
            try:
                message = link.channel.receive(self._look)
            except EOFError:
                link.process.join(1.0)
                link.lose(how_it_ended(link.process.exitcode))
                break
            if message is not None:
                made, found = unpack(message)
                if made:
                    return found
                raise error_of(found, "an environment")
            if end is not None and time.monotonic() > end:
                link.lose(f"took more than {timeout:g} s and was killed")
        raise link.error("an environment")

    def share(self, observation_space: Space[object], action_space: Space[object]) -> SharedBlock:
        """Make memory for lanes of these spaces, and let every worker have it."""
        self.block = SharedBlock(observation_space, action_space, self.spans)
        for number, link in enumerate(self.links):
            self._hand_over(self.block, number, link)
        return self.block

    def _hand_over(self, block: SharedBlock, number: int, link: WorkerLink) -> None:
        link.work_queue, link.box = block.work_queues[number], self.spans[-1][1] + number
        link.taken = link.work_queue.counters[ISSUED]
        link.channel.send(pack([number, self.spans]))
        link.channel.send_file(block.file)

    def renew(self, block: SharedBlock, number: int) -> WorkerLink:
        """Start a new worker in the place of one that was lost."""
        link = self._started(self.spans[number])
        try:
            spaces = [one[1:] for one in self._first_message(link)[2]]
            if any(one != self.descriptions[0][2][0][1:] for one in spaces):
                raise InvalidSpace(f"lanes {link.span}: expected the spaces of the worker that was lost, got {spaces}")
            block.work_queues[number].clear()
            self._hand_over(block, number, link)
        except BaseException:
            link.let_go()
            raise
        self.links[number] = link
        return link

    # --- work ---

    def wait(self, block: SharedBlock, links: Iterable[WorkerLink]) -> None:
        """Until each has done all it was asked, or is lost: for a moment the core is yielded, then the batch sleeps."""
        links, until, now = list(links), self._spin_policy.until(), 0
        waiting = [link for link in links if link.waiting]
        while waiting:
            now = time.monotonic_ns()
            if now < until:
                sched_yield()
            elif not block.semaphore.wait(self._look):
                self.look_after(waiting)
            waiting = [link for link in waiting if link.waiting]
        if 0 < now < until:
            self._spin_policy.learn(max(link.work_queue.last_time for link in links))
        block.semaphore.drain()
        fence()

    def wait_for_some(self, block: SharedBlock, links: Iterable[WorkerLink]) -> None:
        """Until one of them has done something that was not looked at, or is lost."""
        links, until, now = list(links), self._spin_policy.until(), 0
        if time.monotonic() - self._looked > self._look:  # others may keep the batch busy while one of them hangs
            self.look_after(links)
        while not any(link.lost is not None or link.work_queue.counters[DONE] != link.taken for link in links):
            now = time.monotonic_ns()
            if now < until:
                sched_yield()
            elif not block.semaphore.wait(self._look):
                self.look_after(links)
        if 0 < now < until:
            self._spin_policy.learn(max(link.work_queue.last_time for link in links))
        block.semaphore.drain()
        fence()

    def look_after(self, links: Iterable[WorkerLink]) -> None:
        """Lose those that have ended or hang."""
        self._looked = time.monotonic()
        for link in links:
            if link.waiting:
                link.look_after(self._worker_options.timeout)

    # --- the end ---

    def end(self, seconds: float = CLOSE_DEADLINE_S) -> list[Failure]:
        """Let every worker close its lanes and go, in so many seconds or by force; gives what failed in closing."""
        links, self.links, block, self.block = self.links, [], self.block, None
        there = [link for link in links if link.lost is None]
        end = time.monotonic() + seconds
        try:
            for link in there:
                if block is None:  # those that wait for memory see that there will be none
                    link.channel.close()
                else:
                    link.work_queue.ask(QUIT)
            for link in there:
                link.process.join(max(0.0, end - time.monotonic()))
            return [] if block is None else [one for link in there for one in _closing(block, link)]
        finally:
            for link in there:
                link.let_go()
            if block is not None:
                block.release()


def _closing(block: SharedBlock, link: WorkerLink) -> list[Failure]:
    """The failures that a worker has left on its way out."""
    try:
        message = None if link.process.exitcode is None else block.mailboxes.take(link.box, link.channel)
    except EOFError:  # half of an answer that nobody waited for
        return []
    return cast(list[Failure], message[1]) if is_list(message) and message[0] == "closing" else []
