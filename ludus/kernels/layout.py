"""From an environment of rules to the layout of its batch: what lies in the block, and what the loop has to know."""

from collections.abc import Sized
from traceback import walk_tb
from types import CodeType
from typing import cast

import numpy as np
import numpy.typing as npt

from ludus.errors import ContractViolation, KernelError, LudusError, shorten
from ludus.kernels.action import as_rules_take
from ludus.kernels.block import BlockColumn
from ludus.kernels.displays import dict_places
from ludus.kernels.exact.contract import Sample, sample_of
from ludus.kernels.exact.place import place_of
from ludus.kernels.exact.reach import reached
from ludus.kernels.forms import action_tree, observation_tree
from ludus.kernels.legal_actions import Legal, check_mask, choices_of
from ludus.kernels.players import adapter_text, play_of
from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.rules import Rules
from ludus.kernels.source import InfoField, RulesLayout, record_names
from ludus.kernels.stream import WORDS
from ludus.kernels.tree import Branch, Leaf, Tree, is_record, leaves, tree_of, written
from ludus.kernels.values import ParameterTable
from ludus.spaces import Discrete, Space
from ludus.spaces.kinds import is_dict, is_tuple

__all__ = ["layout_of"]

OWN = (
    BlockColumn("words", "uint64", (WORDS,)),
    BlockColumn("elapsed", "int64"),
    BlockColumn("returns", "float64"),
    BlockColumn("ended", "bool_"),
    BlockColumn("chosen", "bool_"),
    BlockColumn("fresh", "bool_"),
)
"""What every lane has beside its state."""


def layout_of(env: RuleEnv, parameters: ParameterTable) -> RulesLayout:
    """The layout for an environment: the same for every mode, so that it is compiled once.

    KernelError with its line where a rule raises what its author did not expect in the trial that this takes.
    """
    try:
        return _layout(env, parameters)
    except LudusError:
        raise
    except Exception as error:
        place = _line_of(env.rules, error)
        if place is None:
            raise
        tried = f"a reset by seed 0 and the action {shorten(env.action_space.default())}"
        raise KernelError(
            f"{place}: expected rules that can be tried, by {tried}, got {type(error).__name__}: {error}; mend the "
            "rule, or say in `legal` where the action may be taken"
        ) from error


def _line_of(rules: Rules, error: Exception) -> str | None:
    """The innermost line of a file of the rules that an error went through; None where it is no rule's doing."""
    files = {rule.__code__.co_filename for rule in rules.functions.values()}
    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    mine = [place_of(file, line) for file, line in lines if file in files]
    return mine[-1] if mine else None


def _seen(env: RuleEnv, given: object) -> Tree:
    """The tree of an observation; what has none is told with the line of `observe`."""
    try:
        return observation_tree(env.observation_space, given, reached(list(env.rules.functions.values())))
    except KernelError as error:
        code: CodeType | None = getattr(env.rules.observe, "__code__", None)
        if code is None or not str(error).startswith("observation"):
            raise
        raise KernelError(f"{place_of(code.co_filename, code.co_firstlineno)}: {error}") from error


def _layout(env: RuleEnv, parameters: ParameterTable) -> RulesLayout:
    rules, acts, params = env.rules, env.action_space, parameters.params
    sample = sample_of(rules, params, as_rules_take(acts, acts.default()))
    state = _state_of(sample, rules.state.__name__)
    seen = _seen(env, play_of(rules).observe(sample.state, params))
    information, facts = _information(rules, acts, sample, params), _facts(rules, sample)
    _check_keys((*information, *facts))
    options = None if sample.options is None else tree_of("o", "options", sample.options)
    told = [one.leaf.column for one in (*information, *facts)]
    kept = [one._replace(name=f"l{one.name}") for one in (*_columns(seen), *told)]
    kept += [BlockColumn("last_returns", "float64"), BlockColumn("last_lengths", "int64")]
    begun = [] if options is None else _columns(options)
    return RulesLayout(
        columns=(*_columns(state), *OWN, *told, *begun),
        kept=tuple(kept),
        state=state,
        params=parameters.fields,
        seen=seen,
        action=action_tree(acts),
        information=information,
        facts=facts,
        options=options,  # pyright: ignore[reportArgumentType]
        returns=len(sample.given) if rules.players == 1 or rules.opponent is not None else 5,
        adapter="" if rules.players == 1 else _adapter(rules, state, sample),
        choices=(int(acts.start), int(acts.start + acts.n - 1)) if isinstance(acts, Discrete) else None,
        renews=rules.renew is not None,
    )


def _adapter(rules: Rules, state: Branch, sample: Sample) -> str:
    """The text of what several players make of the rules."""
    rewards = sample.given[1]
    if not is_tuple(rewards) or len(rewards) != rules.players:
        raise ContractViolation(
            f"step: expected a tuple of {rules.players} rewards, one for each player, got {shorten(rewards)}"
        )
    values = {leaf.column.name: value for leaf, value in leaves(state, "after")}
    names = record_names(state)
    made = written(state, names, lambda leaf: values[leaf.column.name])
    own = written(state, names, lambda leaf: values[leaf.column.name] + (".copy()" if leaf.column.shape else ""))
    info = sample.given[4] if len(sample.given) == 5 else ()
    return adapter_text(rules, len(sample.given), len(info) if isinstance(info, Sized) else 0, made, own)


def _columns(tree: Tree) -> list[BlockColumn]:
    return [leaf.column for leaf, _ in leaves(tree, "")]


def _state_of(sample: Sample, name: str) -> Branch:
    """The tree of a state, which a step gives as a reset does: a column of integers would cut a float in silence."""
    state, after = tree_of("s", name, sample.state), sample.given[0]
    if not isinstance(state, Branch) or not is_tuple(after) or len(after) != len(state.keys):
        raise KernelError(f"step: expected a state of {len(sample.state)} fields, as from reset, got {shorten(after)}")
    for leaf, value in _values(state, after):
        dtype = np.asarray(value).dtype
        if leaf.column.dtype[:5] != "float" and dtype.kind == "f":
            raise KernelError(
                f"{leaf.name}: expected {leaf.column.dtype} from step, as from reset, got {shorten(value)}; "
                f"annotate it as float, or return int({leaf.name.rpartition('.')[2]})"
            )
        if np.shape(value) != leaf.column.shape:
            raise KernelError(
                f"{leaf.name}: expected shape {leaf.column.shape} from step, as from reset, got shape {np.shape(value)}"
            )
    return state


def _values(tree: Tree, value: object) -> list[tuple[Leaf, npt.ArrayLike]]:
    if isinstance(tree, Leaf):
        return [(tree, cast(npt.ArrayLike, value))]
    parts = cast(tuple[object, ...], value)
    return [found for part, one in zip(tree.parts, parts, strict=True) for found in _values(part, one)]


# --- what is told ---


def _information(rules: Rules, acts: Space[object], sample: Sample, params: object) -> tuple[InfoField, ...]:
    found: list[InfoField] = []
    if rules.inform is not None:
        found += _entries(rules, "inform", rules.inform(sample.state, params), "i")
    if rules.legal is not None:
        found.append(_mask(acts, rules.legal(sample.state, params)))
    if rules.tells_turn:
        found.append(InfoField("turn", "turn", None, Leaf(BlockColumn("i_turn", "int64"), "number", "turn")))
    return tuple(found)


def _mask(acts: Space[object], legal: Legal) -> InfoField:
    choices = choices_of(acts)
    check_mask(choices, legal)
    form = "array" if isinstance(legal[0] if choices.several else legal, np.ndarray) else "tuple"
    leaf = Leaf(BlockColumn("i_mask", "int8", (sum(choices.sizes),)), form, "action_mask")
    return InfoField("action_mask", "legal", None, leaf, choices.sizes if choices.several else ())


def _facts(rules: Rules, sample: Sample) -> tuple[InfoField, ...]:
    own = _entries(rules, "step", sample.given[4], "f") if len(sample.given) == 5 else []
    if rules.players == 1 or rules.opponent is not None:
        return tuple(own)
    # What several players make of a step begins its info with the rewards.
    rewards = InfoField(
        "rewards", "step", 0, Leaf(BlockColumn("f_rewards", "float64", (rules.players,)), "tuple", "rewards")
    )
    return rewards, *(one._replace(place=place + 1) for place, one in enumerate(own))


def _entries(rules: Rules, rule: str, told: object, prefix: str) -> list[InfoField]:
    """The entries that a NamedTuple, or a dictionary that is written out, makes in `info`."""
    given: object = told._asdict() if is_record(told) else told
    if not is_dict(given):
        raise KernelError(f"info from {rule}: expected a NamedTuple or a dictionary, got {shorten(told)}")
    tree = cast(Branch, tree_of(prefix, f"{rule} info", told if is_record(told) else tuple(given.values())))
    keys: tuple[str, ...] = tuple(given)
    places = (
        dict(zip(keys, tree.places, strict=True))
        if is_record(told)
        else dict_places(rule, given, reached(list(rules.functions.values())))
    )
    found: list[InfoField] = []
    for key, part in zip(keys, tree.parts, strict=True):
        if isinstance(part, Branch):
            raise KernelError(f"info[{key!r}] from {rule}: expected a number or an array, got a tuple")
        found.append(InfoField(key, rule, places[key], part))
    return found


def _check_keys(entries: tuple[InfoField, ...]) -> None:
    keys = [one.key for one in entries]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise KernelError(f"info: expected each key from one rule, got {twice} from two")
