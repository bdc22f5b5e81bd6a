"""Rules about calls: what can be called, in which order, and the shape of what comes back."""

import numpy as np

from ludus.core import EnvSpec
from ludus.core.env import is_env
from ludus.core.legacy import accepts
from ludus.core.options import TrackedOptions
from ludus.errors import ContractViolation, LudusError, shorten
from ludus.spaces.kinds import class_of, is_array, is_dict, is_list_or_tuple, is_tuple
from ludus.testing.history import Interrupted, Player, as_pair, as_step
from ludus.testing.report import ReportNote, error, warning
from ludus.testing.rule import Found, raised
from ludus.testing.subject import Subject

__all__ = [
    "episodes_run",
    "flags_are_bool",
    "makes_an_env",
    "metadata_lists_render_modes",
    "options_are_handled",
    "reset_returns_a_pair",
    "reset_takes_seed_and_options",
    "spec_is_an_env_spec",
    "step_before_reset_fails",
    "step_returns_five",
]

SIGNATURE = "def reset(self, *, seed=None, options=None)"


def makes_an_env(subject: Subject) -> Found:
    """What is checked is, or makes, a `ludus.Env`."""
    try:
        env = subject.env()
    except Exception as failure:
        message = f"{subject.name}: expected an environment made without arguments, got {raised(failure)}"
        yield error(message, "give every argument a default, or check a function: `lambda: MyEnv(…)`")
        return
    if not is_env(env):
        fix = "derive it from ludus.Env; adapt an environment of the old API with ludus.core.from_legacy"
        yield error(f"{subject.name}: expected a ludus.Env, got {shorten(env)} ({type(env).__module__})", fix)


def reset_takes_seed_and_options(subject: Subject) -> Found:
    """`reset` takes the keywords `seed` and `options`."""
    env = subject.env()
    missing = [name for name in ("seed", "options") if not accepts(env.reset, name)]
    if missing:
        yield error(
            f"reset: expected the keywords seed and options, got no {' and no '.join(missing)}",
            f"declare it as `{SIGNATURE}`",
        )


def reset_returns_a_pair(subject: Subject) -> Found:
    """`reset` returns a pair of an observation and an info dictionary."""
    try:
        result: object = subject.env().reset(seed=subject.seed)
    except Exception as failure:
        yield error(
            f"reset(seed={subject.seed}): expected (observation, info), got {raised(failure)}",
            "let reset run to its end",
        )
        return
    try:
        as_pair(result, f"reset(seed={subject.seed})")
    except ContractViolation as broken:
        yield error(str(broken), "end it with `return observation, {}`")


def step_returns_five(subject: Subject) -> Found:
    """`step` returns observation, reward, terminated, truncated and an info dictionary."""
    player = Player(subject.env(), 0)
    player.reset(subject.seed)
    action = player.choose()
    try:
        result: object = player.env.step(action)
    except Exception as failure:
        message = f"step({shorten(action, 40)}) after reset: expected five values, got {raised(failure)}"
        yield error(message, "let step accept every action of action_space")
        return
    try:
        as_step(result, "step 1")
    except ContractViolation as broken:
        yield error(str(broken), _five(result))


def _five(result: object) -> str:
    if is_tuple(result) and len(result) == 4:
        return "split `done` into terminated and truncated, or adapt the environment with ludus.core.from_legacy"
    return "end it with `return Step(observation, reward, terminated, truncated, info)`"


def episodes_run(subject: Subject) -> Found:
    """Episodes run, end and start anew, for every sampled action and without an exception."""
    try:
        _ = subject.history
    except (Interrupted, ContractViolation) as failure:
        yield error(
            f"expected {subject.steps} steps with actions out of action_space, got: {failure}",
            "let every step run to its end",
        )
    if subject.steps < subject.asked_steps:
        yield ReportNote(
            f"steps are slow: histories have {subject.steps} of them, not {subject.asked_steps}; --full has all"
        )


def flags_are_bool(subject: Subject) -> Found:
    """`terminated` and `truncated` are bool, or bool arrays for a batch."""
    shape = subject.env().batch_shape
    for event in subject.history:
        for name in ("terminated", "truncated"):
            flag = getattr(event, name)
            if flag is None and event.label.startswith("reset"):
                continue
            if not _is_flag(flag, shape):
                expected = f"a bool array of shape {shape}" if shape else "a bool"
                message = f"{event.label} {name}: expected {expected}, got {shorten(flag)} ({type(flag).__name__})"
                yield error(message, f"return `bool({name})`" if not shape else f"return {name} as a bool array")
                return


def _is_flag(flag: object, shape: tuple[int, ...]) -> bool:
    if not shape:
        return isinstance(flag, bool | np.bool_)
    return is_array(flag) and flag.dtype == np.bool_ and flag.shape == shape


def metadata_lists_render_modes(subject: Subject) -> Found:
    """`metadata["render_modes"]` lists names, and `render_mode` is one of them or None."""
    env: object = subject.env()
    metadata, fix = (
        env.metadata,
        'set `metadata = {"render_modes": ["rgb_array"]}` on the class, with the modes it draws',
    )
    if not is_dict(metadata):
        yield error(f"metadata: expected a dictionary, got {shorten(metadata)}", fix)
        return
    modes: object = metadata.get("render_modes", [])
    if not is_list_or_tuple(modes) or not all(isinstance(mode, str) for mode in modes):
        yield error(f'metadata["render_modes"]: expected a list of names, got {shorten(modes)}', fix)
    elif env.render_mode is not None and env.render_mode not in modes:
        yield error(f"render_mode: expected None or one of {list(modes)}, got {env.render_mode!r}", fix)


def spec_is_an_env_spec(subject: Subject) -> Found:
    """`spec` is an `EnvSpec`, or None for an environment that was not made by the registry."""
    spec = subject.env().spec
    if spec is not None and not issubclass(class_of(spec), EnvSpec):
        yield error(
            f"spec: expected a ludus EnvSpec or None, got {shorten(spec)}", "leave `spec` to ludus.make, which sets it"
        )


def step_before_reset_fails(subject: Subject) -> Found:
    """`step` before the first `reset` raises, rather than answering with undefined results."""
    env = subject.fresh()
    action = Player(env, 0).choose()
    try:
        result: object = env.step(action)
    except Exception:  # whichever: the caller was stopped
        return
    fix = (
        "raise ludus.errors.ResetNeeded from step until reset was called, or register it: ludus.make enforces the order"
    )
    yield error(f"step before reset: expected an exception, got {shorten(result)}", fix)


def options_are_handled(subject: Subject) -> Found:
    """`reset` takes empty options as none, and takes or clearly refuses unknown ones; one that it drops is told."""
    env = subject.env()
    empty: dict[str, object] = {}
    unknown = TrackedOptions({"unknown": 1})  # which is tracked already, so that nobody warns of it
    fix = "read them by `(options or {}).get(name)`, and refuse unknown ones by InvalidArgument"
    unknown.lend()
    for options, expected in ((empty, "an episode"), (unknown, "an episode or a ValueError")):
        try:
            env.reset(seed=subject.seed, options=options)
        except Exception as failure:
            if not options or not isinstance(failure, LudusError | ValueError):
                yield warning(f"reset(options={dict(options)}): expected {expected}, got {raised(failure)}", fix)
            return
    del options  # whoever still has them may look at them later
    if unknown.dropped():
        yield ReportNote(
            "reset drops options that it does not know without a look: ludus.make warns whoever gives one, a server "
            f"refuses it; {fix}"
        )
