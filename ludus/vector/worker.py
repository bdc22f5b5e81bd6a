"""Workers: what runs in a process of its own, with some of the lanes, until the batch or its program is gone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from os import sched_yield
from socket import socket
from time import monotonic_ns
from typing import TypeVar

from ludus.core import AutoresetMode, EpisodePlan, Info
from ludus.core.options import Options
from ludus.errors import CodecError, InvalidAction, SnapshotError
from ludus.vector.block import ALL, ASKED, DONE, ISSUED, MASKED, PLACE, PROGRESS, QUIT, REQUEST, SharedBlock, WorkQueue
from ludus.vector.channel import WorkerChannel
from ludus.vector.columns import Rest
from ludus.vector.failure import Failure, failure_of
from ludus.vector.lane import Description, Lane, LaneState, Maker
from ludus.vector.parent_watch import ProgramGone, check_parent, watch_parent
from ludus.vector.payload import dumps, loads, pack, unpack
from ludus.vector.spin_policy import SpinPolicy
from ludus.vector.split import Span

__all__ = ["serve"]

Sent = TypeVar("Sent")
IDLE_S = 1.0
"""For how many seconds a worker sleeps before it looks whether its program is still there; a signal tells it sooner."""


def serve(end: socket, lanes: bytes | tuple[Sequence[Maker], EpisodePlan | None], start: int, mode: str) -> None:
    """All there is of a worker process: make lanes and run them. `lanes` is pickled where processes are not forked."""
    channel = WorkerChannel(end)
    try:
        watch_parent(channel)
        Worker(channel, start, AutoresetMode.of(mode)).run(lanes)
    except (ProgramGone, EOFError):
        pass


class Worker:
    """Some lanes, and what the batch asks of them."""

    def __init__(self, channel: WorkerChannel, start: int, mode: AutoresetMode) -> None:
        self._channel, self._start, self._mode = channel, start, mode
        self._makers: list[Maker] = []
        self._plan: EpisodePlan | None = None
        self._lanes: list[Lane] = []
        self._taken, self._spin_policy = 0, SpinPolicy()

    def run(self, lanes: bytes | tuple[Sequence[Maker], EpisodePlan | None]) -> None:
        """Make lanes, do what is asked of them until the end is, and close them, whatever ends this."""
        try:
            if self._make(lanes):
                self._attach()
                self._serve()
        finally:
            self._close()

    # --- beginning ---

    def _make(self, lanes: bytes | tuple[Sequence[Maker], EpisodePlan | None]) -> bool:
        """Make the lanes and tell the batch what they are, or why one could not be made."""
        try:
            makers, self._plan = loads(lanes) if isinstance(lanes, bytes) else lanes
            self._makers = list(makers)
            for make in self._makers:
                self._lanes.append(self._lane(make, self._start + len(self._lanes)))
            message = pack([True, self._description()])
        except ProgramGone:
            raise
        except BaseException as error:
            failed = min(len(self._lanes), len(self._makers) - 1)
            self._channel.send(pack([False, failure_of(error, self._start + max(0, failed))]))
            return False
        self._channel.send(message)
        return True

    def _lane(self, make: Maker, place: int) -> Lane:
        return Lane(make(), place, self._mode, self._plan)

    def _description(self) -> Description:
        """Metadata, render mode, and the spaces of the first lane and of every lane unlike it."""
        first = self._lanes[0].env
        spaces = [(lane.place, lane.env.observation_space, lane.env.action_space) for lane in self._lanes]
        unlike = [one for one in spaces if one[1:] != spaces[0][1:]]
        return first.metadata, first.render_mode, [spaces[0], *unlike]

    def _attach(self) -> None:
        """Share the memory whose layout and file the batch sends."""
        while (layout := self._channel.receive(IDLE_S)) is None:  # other workers may still be making their lanes
            check_parent()
        number: int
        spans: list[Span]
        number, spans = unpack(layout)
        file = self._channel.receive_file(60.0)
        if file is None:
            raise EOFError("no memory came")
        first = self._lanes[0].env
        self._block = SharedBlock(first.observation_space, first.action_space, spans, file)
        self._block.release()
        self._desk: WorkQueue = self._block.work_queues[number]
        self._box: int = spans[-1][1] + number
        self._taken: int = self._desk.counters[DONE]  # the batch may have asked already

    # --- the loop ---

    def _serve(self) -> None:
        while (item := self._next()) != QUIT:
            if item == REQUEST:
                self._answer()
            elif item == ALL:
                self._step(self._lanes, self._box)
            elif item == MASKED:
                self._step([lane for lane in self._lanes if self._block.mask[lane.place]], self._box)
            else:
                self._step([self._lanes[item - self._start]], item)
            self._desk.finish(item)
            self._block.semaphore.post()

    def _next(self) -> int:
        """What to do next: for a moment the core is yielded, then the worker sleeps until the semaphore rings."""
        counters, semaphore, number = self._desk.counters, self._desk.semaphore, self._taken
        if counters[ISSUED] == number:
            until, now = self._spin_policy.until(), 0
            while counters[ISSUED] == number:
                now = monotonic_ns()
                if now < until:
                    sched_yield()
                elif not semaphore.wait(IDLE_S):
                    check_parent()
            if now < until:
                self._spin_policy.learn(counters[ASKED])
        semaphore.try_wait()
        self._taken = number + 1
        return self._desk.item(number)

    def _close(self) -> None:
        failures = [one for one in map(self._closed, self._lanes) if one]
        if failures and hasattr(self, "_block"):
            with suppress(OSError):  # nobody may be there to hear it
                self._block.mailboxes.put(self._box, ["closing", failures], self._channel)

    def _closed(self, lane: Lane) -> Failure | None:
        try:
            lane.env.close()
        except Exception as error:
            return failure_of(error, lane.place)
        return None

    # --- steps ---

    def _step(self, lanes: list[Lane], box: int) -> None:
        """Step these lanes; what shared memory does not hold goes into the box."""
        block, counters = self._block, self._desk.counters
        read, write, whole = block.actions.read, block.observations.write, block.observations.whole
        rewards, terminated, truncated, numbers = block.rewards, block.terminated, block.truncated, block.numbers
        sent: list[Rest] | None = block.mailboxes.take(box, self._channel) if block.mailboxes.lengths[box] else None
        rests: list[tuple[int, list[Rest]]] = []
        infos: list[tuple[int, Info]] = []
        failures: list[Failure] = []
        for index, lane in enumerate(lanes):
            place = counters[PLACE] = lane.place
            counters[PROGRESS] += 1
            rest: list[Rest] = []
            try:
                action = read(place) if sent is None else self._action(sent[index])
                observation, rewards[place], terminated[place], truncated[place], info = lane.step(action)
                write(place, observation, rest)
            except ProgramGone:
                raise
            except BaseException as error:
                failures.append(failure_of(error, place))
                continue
            numbers[place] = lane.number
            if not whole:
                rests.append((place, rest))
            if info:
                infos.append((place, info))
        if rests or infos or failures:
            self._tell(box, rests, infos, failures)

    def _action(self, data: Rest) -> object:
        """The action that a box held; one that is not of its space comes to light here."""
        try:
            return self._block.action_codec.decode(data)
        except CodecError as error:
            raise InvalidAction(f"action: {error}") from error

    def _tell(
        self, box: int, rests: list[tuple[int, list[Rest]]], infos: list[tuple[int, Info]], failures: list[Failure]
    ) -> None:
        """Put results into a box; what cannot be sent is a failure of its lane."""
        try:
            self._block.mailboxes.put(box, [rests, infos, failures], self._channel)
        except TypeError:
            rests, infos = _sendable(rests, failures), _sendable(infos, failures)
            self._block.mailboxes.put(box, [rests, infos, failures], self._channel)

    # --- requests ---

    def _answer(self) -> None:
        box, mailboxes, channel = self._box, self._block.mailboxes, self._channel
        verb, arguments = mailboxes.take(box, channel)
        try:
            mailboxes.put(box, [True, getattr(self, f"_request_{verb}")(*arguments)], channel)
        except ProgramGone:
            raise
        except BaseException as error:
            mailboxes.put(box, [False, failure_of(error, self._desk.counters[PLACE])], channel)

    def _each(self, places: Sequence[int] | None = None) -> Iterator[Lane]:
        """Lanes, one after another; the batch can tell which it is."""
        for lane in self._lanes if places is None else [self._lanes[place - self._start] for place in places]:
            self._desk.counters[PLACE] = lane.place
            self._desk.counters[PROGRESS] += 1
            yield lane

    def _request_reset(self, seeds: dict[int, int | None], options: Options | None) -> list[object]:
        return self._first(list(seeds), lambda lane: lane.reset(seeds[lane.place], options))

    def _request_begin(self, places: list[int]) -> list[object]:
        return self._first(places, Lane.begin)

    def _first(self, places: list[int], begin: Callable[[Lane], tuple[object, Info]]) -> list[object]:
        """What the first observations of these lanes do not leave in shared memory, infos and failures."""
        rests: list[tuple[int, list[Rest]]] = []
        infos: list[tuple[int, Info]] = []
        failures: list[Failure] = []
        for lane in self._each(places):
            rest: list[Rest] = []
            try:
                observation, info = begin(lane)
                self._block.observations.write(lane.place, observation, rest)
            except ProgramGone:
                raise
            except BaseException as error:
                failures.append(failure_of(error, lane.place))
                continue
            self._block.terminated[lane.place] = self._block.truncated[lane.place] = False
            self._block.numbers[lane.place] = lane.number
            rests.append((lane.place, rest))
            infos.append((lane.place, info))
        try:
            pack([rests, infos])
        except TypeError:
            rests, infos = _sendable(rests, failures), _sendable(infos, failures)
        return [rests, infos, failures]

    def _request_call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> list[object]:
        found = [lane.env.get_wrapper_attr(name) for lane in self._each()]
        return [one(*args, **kwargs) if callable(one) else one for _, one in zip(self._each(), found, strict=True)]

    def _request_render(self) -> list[object]:
        return [lane.env.render() for lane in self._each()]

    def _request_set(self, name: str, values: list[object]) -> None:
        for lane, value in zip(self._each(), values, strict=True):
            lane.env.set_wrapper_attr(name, value)

    def _request_snapshot(self) -> list[bytes]:
        return [self._snapshot(lane) for lane in self._each()]

    def _snapshot(self, lane: Lane) -> bytes:
        try:
            return dumps((lane.env.snapshot(), lane.state()), "snapshot")
        except TypeError as error:
            raise SnapshotError(str(error)) from error

    def _request_restore(self, snapshots: dict[int, bytes]) -> None:
        for lane in self._each(list(snapshots)):
            snapshot, state = loads(snapshots[lane.place])
            lane.env.restore(snapshot)
            lane.take(state)
            self._block.numbers[lane.place] = lane.number

    def _request_mend(self, states: dict[int, LaneState], anew: bool) -> None:
        """Go on with episodes that were broken off: in environments made anew, where these are not."""
        for lane in self._each(list(states)):
            place: int = lane.place
            index = place - self._start
            if anew:
                self._closed(lane)
                self._lanes[index] = self._lane(self._makers[index], place)
            self._lanes[index].take(states[place])


def _sendable(each: list[tuple[int, Sent]], failures: list[Failure]) -> list[tuple[int, Sent]]:
    """What lanes give, as far as it can be sent; the others are added to the failures."""
    found: list[tuple[int, Sent]] = []
    for place, value in each:
        try:
            pack(value)
        except TypeError as error:
            error.add_note("observations and infos are sent from the worker process to yours")
            failures.append(failure_of(error, place))
        else:
            found.append((place, value))
    return found
