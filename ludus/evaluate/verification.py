"""`verify`: a result executed again and confirmed, or what is wrong with it, to the episode and the step."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import msgspec
import numpy as np

from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import LudusError, TrajectoryError, shorten
from ludus.evaluate.agent_names import AGENTS, AgentLike, as_agent
from ludus.evaluate.agents import Agent
from ludus.evaluate.compiled import CompiledCheck
from ludus.evaluate.execution_target import ExecutionTarget, execution_target
from ludus.evaluate.reexecution import Reexecution, SegmentCheck
from ludus.evaluate.result import Result, open_result
from ludus.evaluate.result_file import RESULT, SIGNATURE, file_digest
from ludus.evaluate.segment import Segment, segments
from ludus.evaluate.signature import check_signature
from ludus.evaluate.suite import suite_findings
from ludus.trajectory.header import running_versions
from ludus.trajectory.replay import ReplayDifference
from ludus.vector.executor import Executor

if TYPE_CHECKING:
    from ludus.sandbox import Sandbox

__all__ = ["Verification", "VerificationFinding", "VerifyOptions", "verify"]

Make = Callable[[int], AnyVectorEnv]
LANES = 64
MAX_FINDINGS = 20
"""How many findings are listed; after so many it is clear that the file is another's."""
LOOKED_AHEAD = 4
"""Among how many times as many numbers the one is looked for that a seed belongs to."""


class VerificationFinding(NamedTuple):
    """One thing that is not as it should be.

    >>> print(VerificationFinding("length", "expected 9, got 8", episode=3, step=8))
    episode 3, step 8: length: expected 9, got 8
    """

    subject: str
    text: str
    episode: int | None = None
    step: int | None = None

    def __str__(self) -> str:
        where = "" if self.episode is None else f"episode {self.episode}"
        where += "" if self.step is None else f", step {self.step}"
        return f"{where}{': ' if where else ''}{self.subject}: {self.text}"


class Verification(NamedTuple):
    """What came of executing a result again; true where all of it is confirmed.

    >>> print(Verification("result.ludus", (), episodes=3, steps=60))
    result.ludus: confirmed: 3 episodes, 60 steps
    """

    path: str
    findings: tuple[VerificationFinding, ...]
    """What is wrong, what was found first in front; none where it is confirmed."""
    episodes: int = 0
    """How many were executed again."""
    steps: int = 0
    unconfirmed: int = 0
    """Masked episodes that failed for reasons outside of the environment, and so cannot be brought about again."""
    notes: tuple[str, ...] = ()
    """What a reader has to know beside the scores: seeds that were chosen, other versions, who signed."""
    compiled: bool = False
    """Whether it was executed by compiled rules."""

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        notes = "".join(f"\n  note: {one}" for one in self.notes)
        if self.unconfirmed:
            notes += f"\n  note: {self.unconfirmed} masked, which failed outside of the environment: not executed again"
        if not self.findings:
            return f"{self.path}: confirmed: {self.episodes:,} episodes, {self.steps:,} steps{notes}"
        return f"{self.path}: not confirmed" + "".join(f"\n  {one}" for one in self.findings) + notes


class VerifyOptions(TypedDict, total=False):
    """What `verify` takes beside the path, for those who call it for many.

    >>> VerifyOptions(num_envs=4)
    {'num_envs': 4}
    """

    env: object
    agent: AgentLike | None
    executor: str | Executor | None
    isolation: str | Sandbox | None
    num_envs: int | None
    signed_by: str | None


def verify(
    path: str | os.PathLike[str],
    env: object = None,
    *,
    agent: AgentLike | None = None,
    executor: str | Executor | None = None,
    isolation: str | Sandbox | None = None,
    num_envs: int | None = None,
    signed_by: str | None = None,
) -> Verification:
    """Execute a result again, compiled where it is made of rules, and compare all that its file says.

    What a file names is only imported if it is what this process knows under the same id; of anything else give `env`
    (a class, or a function that makes it) or an `isolation` to run it in. Built-in agents are asked again what they do;
    others if `agent` is given. `signed_by` is a public key that the result has to be signed with.

    >>> import tempfile
    >>> from ludus.evaluate import evaluate
    >>> path = tempfile.mkdtemp() + "/result.ludus"
    >>> _ = evaluate("FrozenLake-v1", "random", episodes=5, out=path)
    >>> bool(verify(path))
    True
    """
    name = os.fspath(path)
    try:
        result = open_result(path)
    except LudusError as error:
        return Verification(name, (VerificationFinding("file", str(error)),))
    work = _Verifier(result, signed_by)
    try:
        work.look()
        if work.runnable:
            target = execution_target(result, env, executor=executor, isolation=isolation)
            work.notes += target.notes
            work.execute(target, agent, num_envs)
    except TrajectoryError as error:
        work.findings.append(VerificationFinding("file", str(error)))
    finally:
        result.run.close()
    findings = tuple(work.findings[:MAX_FINDINGS])
    return Verification(name, findings, work.episodes, work.steps, work.unconfirmed, tuple(work.notes), work.compiled)


class _Verifier:
    def __init__(self, result: Result, signed_by: str | None) -> None:
        self.result, self.signed_by = result, signed_by
        self.findings: list[VerificationFinding] = []
        self.notes: list[str] = list(result.declaration.marks)
        self.episodes = self.steps = self.unconfirmed = 0
        self.runnable, self.compiled = True, False

    def find(self, subject: str, text: str, episode: int | None = None, step: int | None = None) -> None:
        self.findings.append(VerificationFinding(subject, text, episode, step))

    # --- without executing anything ---

    def look(self) -> None:
        """What can be said of a file by itself."""
        run = self.result.run
        if run.missing:
            self.find("file", f"expected a whole file, got one that is {run.missing}")
        else:
            self._digest()
            self._signature()
        self._range()
        self._versions()
        for text in suite_findings(self.result):
            self.find("suite", text)

    def _digest(self) -> None:
        archive = self.result.run.chunks.archive
        claimed, found = self.result.claimed().get("digest"), file_digest(archive, RESULT)
        if claimed != found:
            self.find("digest", f"{RESULT}: expected that of the file, {found[:12]}…, got {shorten(claimed)}")
        after = archive.names()[archive.names().index(RESULT) + 1 :]
        if after not in ([], [SIGNATURE]):
            self.find("file", f"expected nothing after {RESULT} but a signature, got {shorten(after)}")

    def _signature(self) -> None:
        archive = self.result.run.chunks.archive
        if SIGNATURE not in archive:
            if self.signed_by is not None:
                self.find("signature", f"expected one by {self.signed_by[:12]}…, got none")
            return None
        try:
            signature = msgspec.json.decode(archive.read(SIGNATURE))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            return self.find("signature", str(error))
        wrong = check_signature(signature, file_digest(archive, SIGNATURE))
        if wrong:
            return self.find("signature", wrong)
        if self.signed_by is not None and signature["public_key"] != self.signed_by:
            return self.find("signature", f"expected {self.signed_by[:12]}…, got {signature['public_key'][:12]}…")
        self.notes.append(f"signed by {signature['public_key']}")
        return None

    def _range(self) -> None:
        """All episodes of the range, each once, with its own seed."""
        declared, result = self.result.declaration, self.result
        if len(result) != declared.episodes:
            self.find("episodes", f"expected all {declared.episodes} that are declared, got {len(result)}")
        wrong = next((place for place, seed in enumerate(result.seeds) if not isinstance(seed, int) or seed < 0), None)
        if wrong is not None:
            self.runnable = False
            return self.find("seed", f"expected an integer of at least 0, got {shorten(result.seeds[wrong])}", wrong)
        self._finite()
        if declared.seeds == "chosen":
            if len(set(result.seeds)) != len(result.seeds):
                self.find("seed", "expected each seed once, got some again")
            return None
        seeds = np.array(result.seeds, object) if max(result.seeds, default=0) >> 64 else np.array(result.seeds, "u8")
        derived = declared.derived(0, len(seeds))
        different = np.flatnonzero(seeds != derived)
        if len(different):
            self._seed(int(different[0]), result.seeds)
        return None

    def _seed(self, place: int, seeds: list[int]) -> None:
        """What is to be said of the first seed that is not the derived one."""
        derived = self.result.declaration.derived(0, LOOKED_AHEAD * len(seeds) + 64).tolist()
        number = derived.index(seeds[place]) if seeds[place] in derived else None
        hint = "of no episode of this evaluation" if number is None else f"of episode {number}"
        if seeds[place] in seeds[:place]:
            hint += f", which is there already as episode {seeds.index(seeds[place])}"
        self.find("seed", f"expected {derived[place]}, derived from its number, got {seeds[place]}, {hint}", place)

    def _finite(self) -> None:
        returns = self.result.columns["return"]
        if returns.ndim != 1:
            return self.find("return", f"expected one for each episode, got the shape {returns.shape}")
        for place in np.flatnonzero(~np.isfinite(returns) & ~self.result.masked)[:MAX_FINDINGS].tolist():
            self.find("return", f"expected a finite number, got {returns[place]}", place)
        return None

    def _versions(self) -> None:
        recorded, here = self.result.run.header.versions, running_versions()
        if recorded.get("ludus") != here["ludus"]:
            self.find(
                "version",
                f"expected a result of Ludus {here['ludus']}, which this is, got {shorten(recorded.get('ludus'))}; "
                "check it with that one",
            )
        others = [
            f"{one} {recorded.get(one)} there, {here[one]} here" for one in here if recorded.get(one) != here[one]
        ]
        self.notes += [one for one in others if not one.startswith("ludus ")]

    # --- executing ---

    def execute(self, target: ExecutionTarget, agent: AgentLike | None, num_envs: int | None) -> None:
        """All episodes again."""
        for subject, text in target.findings:
            self.find(subject, text)
        if target.make is None:
            return
        named = self.result.declaration.agent
        known = as_agent(agent) if agent is not None else as_agent(named) if named in AGENTS else None
        again = _Again(self.result, target, target.make, known, LANES if num_envs is None else num_envs)
        self.compiled = again.compiled is not None
        threads = (os.cpu_count() or 1) if self.compiled else 1
        for segment, check in _side_by_side(again.checked, segments(self.result), threads):
            self._take(segment, check)
            if len(self.findings) >= MAX_FINDINGS:
                return
        self._statistics()

    def _take(self, segment: Segment, check: SegmentCheck) -> None:
        self.episodes += len(segment.starts) - len(check.differences)
        self.steps += segment.rows - len(segment.starts)
        self.unconfirmed += check.unconfirmed
        for one in check.differences[: MAX_FINDINGS - len(self.findings)]:
            self._differs(one)
        if not check.differences and check.wrong_digest is not None:
            place = int(np.searchsorted(segment.starts, check.wrong_digest, side="right"))
            episode = place - 1 + segment.episodes.start
            self.find("observation", "expected the digest of what is seen again, got another", episode)

    def _differs(self, one: ReplayDifference) -> None:
        text = f"recorded {shorten(one.recorded)}, executed again {shorten(one.replayed)}"
        self.find(one.field, text, one.episode, one.step)

    def _statistics(self) -> None:
        """What the file says its episodes come to, which by now are known to be right, or not."""
        if self.result.run.missing:
            return
        claimed, own = self.result.claimed(), self.result.summary()
        for name, value in own.items():
            if claimed.get(name) != value:
                self.find("statistics", f"{name}: expected {value}, as its episodes come to, got {claimed.get(name)}")


class _Again:
    """Executes segments of a result: compiled, where that can be, and otherwise by any batch."""

    def __init__(self, result: Result, target: ExecutionTarget, make: Make, agent: Agent | None, lanes: int) -> None:
        self.result, self.make, self.agent, self.lanes = result, make, agent, lanes
        self.compiled: CompiledCheck | None = None
        if target.make_compiled is not None:
            with target.make_compiled(1) as envs:
                if CompiledCheck.suits(envs, agent):
                    self.compiled = CompiledCheck(result, target.make_compiled, agent)

    def checked(self, segment: Segment) -> SegmentCheck:
        certain = None if self.compiled is None else self.compiled.certain(segment)
        work = Reexecution(self.result, segment, self.make, self.agent)
        return work.checked(self.lanes, certain)


def _side_by_side(
    checked: Callable[[Segment], SegmentCheck], parts: Iterator[Segment], threads: int
) -> Iterator[tuple[Segment, SegmentCheck]]:
    """Each segment with what came of it, in order; no more of them in memory than threads have use for."""
    if threads < 2:
        yield from ((one, checked(one)) for one in parts)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way: deque[tuple[Segment, Future[SegmentCheck]]] = deque()
        for one in parts:
            under_way.append((one, pool.submit(checked, one)))
            if len(under_way) > threads:
                first, done = under_way.popleft()
                yield first, done.result()
        yield from ((first, done.result()) for first, done in under_way)
