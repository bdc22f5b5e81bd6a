"""`Attack`: what is tried, by which program, what must happen, and how the host tells; `Outcome`: what did happen."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from ludus.sandbox import Sandbox, SandboxedProcess, Usage
from tests.attacks.scene import Scene

__all__ = ["Account", "Attack", "Judge", "Look", "Moment", "Outcome"]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the isolation held against one attack, and how that is known.

    >>> Outcome(attack="mount", held=True, evidence="PermissionError: every way failed: EPERM×4").held
    True
    """

    attack: str
    held: bool
    evidence: str
    seconds: float = 0.0
    mistake: bool = False
    """Whether the attack failed by itself, so that nothing is known; it counts as not held."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of an attack once it is over.

    >>> Account(did="read the key").did
    'read the key'
    """

    did: str = ""
    """What it managed, by its own account."""
    error: str = ""
    """What kept it from more."""
    kind: str = ""
    """The class of that: `OSError` is isolation; anything else but a signal is a mistake of the attack."""
    ready: Any = None
    """What it said when all was in place."""
    seen: str = ""
    """What the host saw at that moment; empty where all was well."""
    code: int | None = None
    """The exit code; None where it had to be ended."""
    output: int = 0
    """Bytes of output that were kept."""
    usage: Usage = Usage()
    seconds: float = 0.0
    left: bool = False
    """Whether something of it was still there after the end."""
    own_kernel: bool = False
    """Whether it ran on a kernel of its own, and not on the host's."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """An attack that has said that all is in place, and waits while the host looks."""

    scene: Scene
    sandbox: Sandbox
    process: SandboxedProcess
    ready: Any
    """What it said."""
    mark: str
    """Part of the command of its processes."""


Look = Callable[[Moment], str]
"""What the host sees that must not be; empty where all is well."""
Judge = Callable[[Any, Account], str]
"""What got through, as far as the host can tell, given the scene; empty where nothing did."""


class Attack(msgspec.Struct, frozen=True, kw_only=True):
    """An attack on a sandbox: a program that runs inside, and a judge that looks from outside.

    >>> from tests.attacks import attacks
    >>> [attack.title for attack in attacks() if attack.name == "read-keys"]
    ['read private keys']
    """

    name: str
    title: str
    expects: str
    """What must happen."""
    guarantee: str
    """The field of `Guarantees` that stands against it."""
    program: str
    """`module:function` of `tests.attacks.inside`, or `/path/of/file.py:function`; of a hostile environment,
    its deed."""
    judge: Judge
    kind: Literal["probe", "alone", "command", "terminal", "step", "moment"] = "probe"
    """A `probe` may share its start with others, all others have their own; a `command` is run to its end by
    `Sandbox.run`; a `terminal` has one as its input. A `step` and a `moment` are deeds of a hostile environment: in a
    step, or when it is made, reset or closed."""
    look: Look | None = None
    """What the host does when the program says that all is in place."""
    limits: dict[str, Any] = {}
    """Limits that it is run with, beside those of the policy."""
    mounts: tuple[str, ...] = ()
    """Names in its shared folder that are mounted too."""
    network: str | None = None
    """The network that it is run with; `proxy`: one service of the scene alone; None: that of the policy."""
    patience: float = 60.0
    """Seconds after which it has to be over."""
    root: bool = False
    """Whether it can succeed only where root starts it."""
    open_on: dict[str, str] = {}
    """Backends that are known not to hold against it, and the words with which their guarantee says so."""
    excepted: str = ""
    """What a guarantee says where it leaves this attack out: then only a boundary has to withstand it."""
    bare: str = ""
    """Why it cannot succeed even without isolation on the machines that this was tried on; empty: it does."""
