"""`PoolWork`: what is asked of workers, what comes of it, and what is done about lanes that fail."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import Info, Outcome
from ludus.core.options import Options
from ludus.vector.block import ALL, DONE, MASKED, REQUEST, SharedBlock
from ludus.vector.columns import Rest
from ludus.vector.failure import Failure, error_of, line_of, outcome_of
from ludus.vector.lane import Broken
from ludus.vector.link import WorkerLink
from ludus.vector.worker_options import WorkerOptions
from ludus.vector.worker_pool import WorkerPool

__all__ = ["LaneRequests", "PoolWork"]

Found = tuple[list[tuple[int, list[Rest]]], list[tuple[int, Info]], list[Failure]]
"""What lanes that made a step left for the batch: what shared memory does not hold, their infos, and failures."""
LaneRequests = dict[int, list[int]]
"""For each worker, by its number, what it is to do: lanes, `ALL` of them, or those of the block's mask (`MASKED`)."""


class PoolWork:
    """The work of one pool. Infos are given by lane; observations, rewards and flags are in the block."""

    def __init__(self, pool: WorkerPool, block: SharedBlock, worker_options: WorkerOptions) -> None:
        self._pool, self._block, self._worker_options = pool, block, worker_options
        self._owner = [number for number, span in enumerate(pool.spans) for _ in range(*span)]
        self.everything: LaneRequests = {number: [ALL] for number in range(len(pool.spans))}
        self.flying: set[int] = set()
        """The lanes that were sent and have not yet been gathered."""
        self.restarts = 0
        self.undrained = False
        """Whether something was asked and nobody has looked at the outcome, because a call was interrupted."""
        self.seeds: list[int | None] = [None] * len(self._owner)
        """The last seed that each lane was reset with."""
        self._sent: dict[int, object] = {}

    @property
    def lost_lanes(self) -> list[int]:
        """The lanes whose worker is gone."""
        return [lane for link in self._pool.links if link.lost is not None for lane in link.lanes]

    def by_worker(self, lanes: Iterable[int]) -> LaneRequests:
        """Lanes, under the number of the worker that has them."""
        found: LaneRequests = {}
        for lane in lanes:
            found.setdefault(self._owner[lane], []).append(lane)
        return found

    # --- actions ---

    def hand_out(self, actions: dict[int, object], *, singly: bool = False) -> None:
        """Leave actions that shared memory does not hold as they are in mailboxes, of each lane or of workers."""
        encode, mailboxes = self._block.action_codec.encode, self._block.mailboxes
        self._sent.update(actions)
        for number, lanes in self.by_worker(actions).items():
            link = self._pool.links[number]
            if link.lost is None:
                for box, some in [(lane, [lane]) for lane in lanes] if singly else [(link.box, lanes)]:
                    mailboxes.put(box, [encode(actions[lane]) for lane in some], link.channel)

    def in_memory(self, lanes: Iterable[int]) -> None:
        """The actions of these lanes are in shared memory."""
        if self._sent:
            for lane in lanes:
                self._sent.pop(lane, None)

    # --- steps ---

    def some(self, mask: npt.NDArray[np.bool_]) -> LaneRequests:
        """The workers that have lanes of the mask, which is in the block."""
        return {number: [MASKED] for number, (start, stop) in enumerate(self._pool.spans) if mask[start:stop].any()}

    def step(self, requests: LaneRequests | None = None) -> dict[int, Info]:
        """Have every lane, or those asked, make its step; what fails is mended and done again, or raised."""
        infos: dict[int, Info] = {}
        requests = self.everything if requests is None else requests
        while requests:
            self.undrained = True
            links = self._ask(requests)
            self._pool.wait(self._block, links.values())
            failures: list[Failure] = []
            for number, link in links.items():
                if link.lost is None:
                    self._take(link, requests[number], infos, failures)
            self.undrained = False
            lost = {number: requests[number] for number, link in links.items() if link.lost is not None}
            if not failures and not lost:
                break
            requests = self._mended(failures, lost)
        return infos

    def _ask(self, requests: LaneRequests) -> dict[int, WorkerLink]:
        links = {number: self._pool.links[number] for number in requests}
        for number, link in links.items():
            if link.lost is None:
                for item in requests[number]:
                    link.work_queue.ask(item)
        return links

    def _take(self, link: WorkerLink, items: list[int], infos: dict[int, Info], failures: list[Failure]) -> None:
        """Look at what was done, and at what was left in the mailboxes for it."""
        mailboxes = self._block.mailboxes
        for item in items:
            box = link.box if item in (ALL, MASKED) else item
            if mailboxes.lengths[box]:
                self._receive(mailboxes.take(box, link.channel), infos, failures)
            link.taken += 1

    def _receive(self, found: Found, infos: dict[int, Info], failures: list[Failure]) -> None:
        rests, received, failed = found
        for lane, rest in rests:
            self._block.observations.accept(lane, iter(rest))
        infos.update(received)
        failures += failed

    # --- steps that are under way while the batch does something else ---

    def send(self, lanes: list[int]) -> None:
        """Have lanes make a step, some time."""
        requests = self.by_worker(lanes)
        gone: LaneRequests = {number: [] for number in requests if self._pool.links[number].lost is not None}
        if gone:
            self._mended([], gone)
        self.flying.update(lanes)
        self._ask(requests)

    def gather(self, ripe: dict[int, Info]) -> None:
        """Wait for some of the lanes under way, and add those that have made their step to `ripe`, in that order."""
        links = self._pool.links
        flying = {number: links[number] for number in self.by_worker(self.flying)}
        self._pool.wait_for_some(self._block, flying.values())
        done = [(when, lane, link) for link in flying.values() for when, lane in link.work_queue.finished(link.taken)]
        failures: list[Failure] = []
        for _, lane, link in sorted(done, key=lambda one: one[:2]):
            infos: dict[int, Info] = {lane: {}}
            known = len(failures)
            self._take(link, [lane], infos, failures)
            if len(failures) == known:
                ripe[lane] = infos[lane]
            self.flying.discard(lane)
        lost = {
            number: lanes for number, lanes in self.by_worker(self.flying).items() if links[number].lost is not None
        }
        if failures or lost:
            self.flying.difference_update(lane for lanes in lost.values() for lane in lanes)
            again = self._mended(failures, lost)
            self.flying.update(lane for lanes in again.values() for lane in lanes)
            self._ask(again)

    # --- requests ---

    def request(self, verb: str, arguments: Mapping[int, tuple[object, ...]]) -> list[Any]:
        """The answers of workers, by number; the first error is raised as it was in the worker."""
        gone: LaneRequests = {number: [] for number in arguments if self._pool.links[number].lost is not None}
        if gone:
            self._mended([], gone)
        found: list[Any] = []
        for link, answer in self._exchanged(verb, arguments):
            if answer is None:
                raise link.error(f"an answer to {verb!r}")
            if not answer[0]:
                raise error_of(answer[1], f"an answer to {verb!r}", as_it_was=True)
            found.append(answer[1])
        return found

    def _exchanged(self, verb: str, arguments: Mapping[int, tuple[object, ...]]) -> list[tuple[WorkerLink, Any]]:
        """The workers and their answers; None of one that was lost."""
        mailboxes, links = self._block.mailboxes, [self._pool.links[number] for number in arguments]
        self.undrained = True
        for link, one in zip(links, arguments.values(), strict=True):
            mailboxes.put(link.box, [verb, one], link.channel)
            link.work_queue.ask(REQUEST)
        self._pool.wait(self._block, links)
        answers: list[tuple[WorkerLink, Any]] = []
        for link in links:
            if link.lost is None:
                link.taken = link.work_queue.counters[DONE]
            answers.append((link, None if link.lost is not None else mailboxes.take(link.box, link.channel)))
        self.undrained = False
        return answers

    def reset(self, lanes: list[int], seeds: list[int | None], options: Options | None) -> dict[int, Info]:
        """Reset lanes; workers that were lost are started anew for it."""
        infos: dict[int, Info] = {}
        failures: list[Failure] = []
        requests = self.by_worker(lanes)
        while requests:
            for number in requests:
                if self._pool.links[number].lost is not None:
                    self._renew(number)
            arguments = {number: ({lane: seeds[lane] for lane in some}, options) for number, some in requests.items()}
            answers = dict(zip(requests, self._exchanged("reset", arguments), strict=True))
            for _, answer in answers.values():
                if answer is not None and not answer[0]:
                    raise error_of(answer[1], "a reset")
                if answer is not None:
                    self._receive(answer[1], infos, failures)
            requests = {number: requests[number] for number, (_, answer) in answers.items() if answer is None}
            if requests:
                self._count([], requests, "a reset")
        if failures:
            raise self._error(failures, {}, "a reset")
        return infos

    def begin(self, lanes: list[int]) -> dict[int, Info]:
        """Begin the next episode in lanes; one that fails is mended and begun again, or raised."""
        infos: dict[int, Info] = {}
        while lanes:
            failures: list[Failure] = []
            for answer in self.request("begin", {number: (some,) for number, some in self.by_worker(lanes).items()}):
                self._receive(answer, infos, failures)
            again = self._mended(failures, {}) if failures else {}
            lanes = [lane for some in again.values() for lane in some]
        return infos

    # --- what fails ---

    def _mended(self, failures: list[Failure], lost: LaneRequests) -> LaneRequests:
        """Make anew what failed, if that is wanted: the next step tells of broken episodes. Gives what to ask again."""
        self._count(failures, lost, "a step")
        again = dict(lost)
        for number in lost:
            gone = self._pool.links[number].lost
            why = "the worker process " + ("" if gone is None else gone.how)
            self._break_off(self._renew(number).lanes, why, Outcome.INFRASTRUCTURE_FAILED)
        for failure in failures:
            self._break_off([failure[0]], line_of(failure), outcome_of(failure), anew=True)
            lane: int = failure[0]
            again.setdefault(self._owner[lane], []).append(lane)
        return again

    def _count(self, failures: list[Failure], lost: LaneRequests, expected: str) -> None:
        """Count restarts, and raise where there are to be none or no more."""
        restarts = self.restarts + len(failures) + len(lost)
        if self._worker_options.on_failure == "raise" or restarts > self._worker_options.max_restarts:
            raise self._error(failures, lost, expected)
        self.restarts = restarts

    def _renew(self, number: int) -> WorkerLink:
        link = self._pool.renew(self._block, number)
        for box in (link.box, *link.lanes):
            self._block.mailboxes.lengths[box] = 0
        return link

    def _break_off(self, lanes: Iterable[int], reason: str, outcome: Outcome, *, anew: bool = False) -> None:
        """Have lanes tell that their episodes cannot go on, and begin the next ones from seeds of their own."""
        for number, some in self.by_worker(lanes).items():
            states = {lane: self._broken(lane, reason, outcome) for lane in some}
            self.request("mend", {number: (states, anew)})

    def _broken(self, lane: int, reason: str, outcome: Outcome) -> tuple[bool, int, int | None, Broken]:
        number, seed = int(self._block.numbers[lane]), self.seeds[lane]
        if seed is not None:  # the stream is gone with its environment: equal failures shall give equal histories
            seed = int(np.random.SeedSequence([seed, number, self.restarts]).generate_state(1, np.uint64)[0])
        return False, number, seed, (self._block.observations.read(lane), reason, outcome.value)

    def _error(self, failures: list[Failure], lost: LaneRequests, expected: str) -> BaseException:
        """The error of the first lane that failed, with a note of each other."""
        links = [self._pool.links[number] for number in lost]
        advice = "; its lanes are gone until reset()"
        if self._worker_options.on_failure == "restart":
            advice += f", after max_restarts={self._worker_options.max_restarts} restarts"
        errors = [(one[0], error_of(one, expected, self._action(one[0], expected))) for one in failures]
        for link in links:
            lane = link.span[0] if link.lost is None else link.lost.lane
            errors.append((lane, link.error(expected, self._action(lane, expected), advice)))
        (_, first), *others = sorted(errors, key=lambda one: one[0])
        for lane, error in others:
            first.add_note(f"lane {lane} too: {type(error).__name__}: {error}")
        return first

    def _action(self, lane: int, expected: str) -> object:
        if expected != "a step":
            return None
        return self._sent[lane] if lane in self._sent else self._block.actions.read(lane)

    # --- calls that were interrupted ---

    def drain(self) -> None:
        """Wait for what an interrupted call left under way, and forget it."""
        for link in self._pool.links:
            if link.lost is None:
                link.work_queue.semaphore.post()  # it may have been asked and not woken
        self._pool.wait(self._block, self._pool.links)
        for link in self._pool.links:
            if link.lost is None:
                link.taken = link.work_queue.counters[DONE]
                for box in (link.box, *link.lanes):
                    self._discard(box, link)
        self.flying.clear()
        self.undrained = False

    def _discard(self, box: int, link: WorkerLink) -> None:
        try:
            self._block.mailboxes.take(box, link.channel)
        except EOFError:  # it was being taken when the call was interrupted
            self._block.mailboxes.lengths[box] = 0
