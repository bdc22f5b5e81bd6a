"""The text of a batch kernel: one loop over lanes, written for a set of rules and compiled by Numba.

Text, not closures: what was compiled is kept on disk under the digest of its text. The loop reads a lane's state
into the rules' NamedTuple, calls the rule and writes the result back. All that lasts from step to step lies in one
block of memory, column by column: an array handed to compiled code costs as much as stepping ten lanes. Arrays are
written by loops, so that the text grows with what is observed, and not with how many numbers it has.
"""

from collections.abc import Callable
from typing import NamedTuple

from ludus.kernels.block import BlockColumn
from ludus.kernels.loose_parameters import Form, loose_text, records_in
from ludus.kernels.tree import Branch, Leaf, Tree, leaves, record_kinds, written

__all__ = ["RulesLayout", "ParameterField", "InfoField", "kernel_source"]

NEXT_STEP, SAME_STEP, DISABLED, RESET = range(4)
"""The modes of autoreset, and the one that begins the chosen lanes."""
CUT_LANE = 1 << 32
"""What a lane that is cut adds to the count of those that end: so one number says whether any was."""
MODE, LIMIT, LANES, BLOCK, _, VALUES, _ = range(7)
"""What the words of a call are: addresses of the block and of the parameters' numbers are followed by their sizes."""
ACTIONS = 7
"""The addresses of actions, observations, rewards and flags, which are filled in by each call."""
LOOSE = 11
"""Where the words of loose parameters begin."""
DEEP = "    "
PLAYED = ("reset", "step", "observe", "renew")
"""The rules that several players make something of."""


class ParameterField(NamedTuple):
    """A field of the rules' parameters."""

    name: str
    kind: str
    """`float`, `int` or `bool` lie in the row of values; `loose` ones are handed over by themselves."""
    varies: bool
    """Whether each lane has its own."""
    form: Form | None = None
    """How a loose one is handed over."""


class InfoField(NamedTuple):
    """An entry of `info`."""

    key: str
    rule: str
    """The rule whose value it is, or is a part of."""
    place: int | None
    """Which part; None for the whole."""
    leaf: Leaf
    sizes: tuple[int, ...] = ()
    """Of how many numbers each part is, where a row is made of several arrays or tuples."""


class RulesLayout(NamedTuple):
    """What the loop has to know of a set of rules beyond its functions."""

    columns: tuple[BlockColumn, ...]
    """All that lies in the block, in its order."""
    kept: tuple[BlockColumn, ...]
    """What follows only where the last observations are kept: there is no memory for it otherwise, and no use of it."""
    state: Branch
    params: tuple[ParameterField, ...]
    seen: Tree
    """Observations."""
    action: Tree
    information: tuple[InfoField, ...]
    """The info of a state: by `inform`, `legal`, `turn`."""
    facts: tuple[InfoField, ...]
    """What `step` tells of itself."""
    options: Branch | None
    returns: int
    """How many values `step` gives: state, reward, terminated; then truncated; then its facts."""
    choices: tuple[int, int] | None
    """The first and the last action, where it is one of several integers: then the loop checks it."""
    renews: bool
    """Whether the next episode depends on the last one."""
    adapter: str = ""
    """The text of what several players make of the rules: `play_step` and others instead of `rule_step`."""

    @property
    def loose(self) -> tuple[ParameterField, ...]:
        """The parameters that are handed over by themselves."""
        return tuple(one for one in self.params if one.kind == "loose")

    @property
    def varied(self) -> bool:
        """Whether any parameter differs from lane to lane."""
        return any(one.varies for one in self.params)

    @property
    def records(self) -> dict[type[NamedTuple], str]:
        """The classes of NamedTuples that the text makes, and what it calls them."""
        found = record_names(self.state, self.action, self.options)
        for one in self.loose:
            for kind in () if one.form is None else records_in(one.form):
                found.setdefault(kind, f"Record{len(found)}")
        return found


def record_names(state: Branch, *trees: Tree | None) -> dict[type[NamedTuple], str]:
    """What the text calls the classes of a state, and of other trees."""
    found: dict[type[NamedTuple], str] = {state.kind: "State"}
    for tree in (state, *trees):
        for kind in () if tree is None else record_kinds(tree):
            found.setdefault(kind, f"Record{len(found)}")
    return found


def kernel_source(layout: RulesLayout) -> str:
    """The module's text; `Params`, `Stream`, `rule_…`, `bare`, the records and all it calls have to be there before."""
    params = f"params = Params({', '.join(_parameter(layout, place) for place in range(len(layout.params)))})"
    state = written(layout.state, layout.records, _row)
    known = {
        "MEMORY": _block(_memory_of(layout), 1),
        "VIEWS": _block(_views(layout), 1),
        "CHECK": _block(_check(layout), 1),
        "PARAMS_ONCE": "" if layout.varied else params,
        "PARAMS_EACH": params if layout.varied else "",
        "ACTION": _action(layout),
        "GIVEN": ", ".join(("after", "gain", "ends", "cuts", "facts")[: layout.returns]),
        "CUTS": "bool(cuts) or " if layout.returns > 3 else "",
        "STATE": state,
        "WRITE_AFTER": _block(_writes(layout, "after", views=True), 3),
        "WRITE_BEGUN": _block(_writes(layout, "begun", views=layout.renews), 3),
        "STEPPED": _state_of(layout, "after"),
        "STARTED": _state_of(layout, "begun"),
        "SHOW": _block(_shown(layout, "now"), 2),
        "SHOW_LAST": _block(_shown(layout, "last"), 5),
        "FACTS": _block([line for one in layout.facts for line in _field_lines(one, "facts")], 3),
        "KEEP": _block(_kept(layout), 5),
        "BEGIN": _block(_begin(layout, state), 3),
    }
    text = TEMPLATE
    for name, value in known.items():
        text = text.replace(f"<{name}>", value)
    for name in PLAYED:
        if f"def play_{name}(" in layout.adapter:
            text = text.replace(f"rule_{name}(", f"play_{name}(")
    return layout.adapter + text


def _block(lines: list[str], depth: int) -> str:
    return ("\n" + DEEP * depth).join(lines)


def _row(leaf: Leaf) -> str:
    return f"{leaf.column.name}[i]"


def _given(leaf: Leaf) -> str:
    return f"given({leaf.column.name}[i])" if leaf.column.shape else _row(leaf)


def _memory_of(layout: RulesLayout) -> list[str]:
    """What the words of a call point at."""
    lines = [f"block = pointed(words, {BLOCK}, (words[{BLOCK + 1}],), np.uint8)"]
    lines.append(f"values = pointed(words, {VALUES}, (words[{VALUES + 1}],), np.uint8)")
    for place, (name, tree) in enumerate((("actions", layout.action), ("out", layout.seen))):
        column = tree.column if isinstance(tree, Leaf) else BlockColumn("", "uint8")
        shape = "".join(f"{one}, " for one in ("n", *column.shape))
        lines.append(f"{name} = pointed(words, {ACTIONS + place}, ({shape}), np.{column.dtype})")
    lines.append(f"rewards = pointed(words, {ACTIONS + 2}, (n,), np.float64)")
    lines.append(f"flags = pointed(words, {ACTIONS + 3}, (2, n), np.bool_)")
    at = LOOSE
    for one in layout.loose:
        if one.form is not None:
            lines.append(f"q_{one.name} = {loose_text(one.form, at, layout.records)}")
            at += one.form.size
    return lines


def _views(layout: RulesLayout) -> list[str]:
    lines = _parts("block", (*layout.columns, *layout.kept))
    for memory, tree in (("out", layout.seen), ("actions", layout.action)):
        if isinstance(tree, Branch):
            lines += ["at = 0", *_parts(memory, tuple(leaf.column for leaf, _ in leaves(tree, "")))]
    return lines


def _parts(memory: str, columns: tuple[BlockColumn, ...]) -> list[str]:
    lines: list[str] = []
    for column in columns:
        shape = "".join(f"{one}, " for one in column.shape)
        view = f"rows_at({memory}, at, n, ({shape})," if shape else f"values_at({memory}, at, n,"
        lines.append(f"{column.name} = {view} np.{column.dtype})")
        lines.append(f"at = after_column(at, n, {column.size})")
    return lines


def _action(layout: RulesLayout) -> str:
    if isinstance(layout.action, Leaf):
        return "given(actions[i])" if layout.action.column.shape else "actions[i]"
    return written(layout.action, layout.records, _given)


def _check(layout: RulesLayout) -> list[str]:
    if layout.choices is None:
        return []
    least, most = layout.choices
    return [
        f"if mode != {RESET} and (stop == 0 or stop - first == n):",  # of pieces somebody has asked before
        "    wrong = 0",  # counted, not left at the first: then several are looked at in one instruction
        "    for lane in range(n):",
        f"        wrong += (actions[unsigned(lane)] < {least}) | (actions[unsigned(lane)] > {most})",
        "    if wrong > 0:",
        "        return -1",
    ]


def _parameter(layout: RulesLayout, place: int) -> str:
    """How the loop gets a parameter: from the row of values of the lane, or of all lanes, or by itself."""
    one = layout.params[place]
    if one.kind == "loose":
        return f"q_{one.name}[i]" if one.varies else f"q_{one.name}"
    slot = sum(other.kind != "loose" for other in layout.params[:place])
    count = sum(other.kind != "loose" for other in layout.params)
    where = f"i * unsigned({count}) + unsigned({slot})" if layout.varied else str(slot)
    return {
        "float": f"floats[{where}]",
        "int": f"integers[{where}]",
        "bool": f"integers[{where}] != 0",
    }[one.kind]


def _writes(layout: RulesLayout, name: str, *, views: bool) -> list[str]:
    """A new state into its columns; `views` says that its arrays may be the lane's own memory."""
    lines: list[str] = []
    found = list(leaves(layout.state, name))
    arrays = [(leaf, value) for leaf, value in found if leaf.form == "array"]
    if views:  # all of them before the first is written: rules may swap two
        for leaf, value in arrays:
            lines.append(f"{name}_{leaf.column.name} = apart({value}, block, {leaf.column.name}[i])")
    for leaf, value in found:
        column = leaf.column.name
        if leaf.form != "array" or not views:
            lines += _entered(leaf, column, value, "put_state")
        else:
            own = f"{name}_{column}"
            lines.append(f"if not is_row({own}, {column}[i]):")
            lines += [f"{DEEP}{line}" for line in _entered(leaf, column, own, "put_state")]
    return lines


def _entered(leaf: Leaf, memory: str, value: str, put: str) -> list[str]:
    """A value into memory, an array number by number: a slice would bring in all of NumPy's messages to compile."""
    if leaf.form != "array":
        return [f"{put}({memory}, i, {value}, {leaf.name!r})"]
    shape = leaf.column.shape
    lengths = "".join(f"{one}, " for one in shape)
    text = f"{leaf.name}: expected shape {shape} from the rules, got another"
    lines = [f"if {value}.shape != ({lengths}):", f"    raise ContractViolation({text!r})"]
    return lines + _looped(shape, lambda place: f"{put}({memory}, (i, {place}), {value}[{place}], {leaf.name!r})")


def _looped(shape: tuple[int, ...], line: Callable[[str], str]) -> list[str]:
    """A line for every element of a shape, which gets the text of its indices."""
    indices = [f"e{depth}" for depth in range(len(shape))]
    lines = [f"{DEEP * depth}for {one} in range({shape[depth]}):" for depth, one in enumerate(indices)]
    place = ", ".join(f"unsigned({one})" for one in indices)
    return [*lines, f"{DEEP * len(shape)}{line(place)}"]


def _state_of(layout: RulesLayout, name: str) -> str:
    """The new state, of the numbers that the rules gave and of the lane's own arrays.

    Numbers are of their column's type: a rule that gives 0 for a float needs no second form of all that is called.
    """
    values = {leaf.column.name: value for leaf, value in leaves(layout.state, name)}

    def number(leaf: Leaf) -> str:
        given, dtype = values[leaf.column.name], leaf.column.dtype
        return f"np.{dtype}({given})" if dtype in ("float64", "int64") else given

    return written(layout.state, layout.records, lambda leaf: _row(leaf) if leaf.form == "array" else number(leaf))


def _shown(layout: RulesLayout, state: str) -> list[str]:
    """Variables of their own for each place: what they hold may differ in type."""
    lines = [f"seen_{state} = rule_observe({state}, params)"]
    for leaf, value in leaves(layout.seen, f"seen_{state}"):
        lines += _entered(leaf, _memory(layout, leaf), value, "put_seen")
    for rule in dict.fromkeys(one.rule for one in layout.information):
        lines.append(f"{rule}_{state} = rule_{rule}({state}, params)")
        for one in layout.information:
            lines += _field_lines(one, f"{rule}_{state}") if one.rule == rule else []
    return lines


def _field_lines(one: InfoField, value: str) -> list[str]:
    whole = value if one.place is None else f"{value}[{one.place}]"
    if one.sizes and one.leaf.form == "array":
        return _joined(one, whole)
    return _entered(one.leaf, one.leaf.column.name, whole, "put_seen")


def _joined(one: InfoField, value: str) -> list[str]:
    """Several arrays into one row, one after another."""
    lines: list[str] = []
    for place, size in enumerate(one.sizes):
        memory, begin, part = one.leaf.column.name, sum(one.sizes[:place]), f"{value}[{place}]"
        text = f"{one.leaf.name}[{place}]: expected shape ({size},) from the rules, got another"
        lines += [f"if {part}.shape != ({size},):", f"    raise ContractViolation({text!r})"]
        put = f"put_seen({memory}, (i, unsigned({begin}) + unsigned(e0)), {part}[unsigned(e0)], {one.leaf.name!r})"
        lines += [f"for e0 in range({size}):", f"    {put}"]
    return lines


def _memory(layout: RulesLayout, leaf: Leaf) -> str:
    """Where an observation goes: to an array of its own, or to its part of one."""
    return "out" if layout.seen is leaf else leaf.column.name


def _kept(layout: RulesLayout) -> list[str]:
    lines: list[str] = []
    sources = [(leaf.column, _memory(layout, leaf)) for leaf, _ in leaves(layout.seen, "")]
    sources += [(one.leaf.column, one.leaf.column.name) for one in (*layout.information, *layout.facts)]
    for column, memory in sources:
        lines += _copied(column, memory)
    return [*lines, "last_returns[i] = returns[i]", "last_lengths[i] = elapsed[i]"]


def _copied(column: BlockColumn, memory: str) -> list[str]:
    if not column.shape:
        return [f"l{column.name}[i] = {memory}[i]"]
    return _looped(column.shape, lambda place: f"l{column.name}[i, {place}] = {memory}[i, {place}]")


def _begin(layout: RulesLayout, state: str) -> list[str]:
    options = "" if layout.options is None else f", {written(layout.options, layout.records, _given)}"
    if not layout.renews:
        return [f"begun = rule_reset(Stream(words, i), params{options})"]
    return [
        "if fresh[i]:",
        f"    begun = rule_reset(Stream(words, i), params{options})",
        "else:",
        f"    begun = rule_renew({state}, Stream(words, i), params{options})",
        "fresh[i] = False",
    ]


TEMPLATE = f"""
@bare
def run_lanes(first, stop, words):
    mode, limit, n = words[{MODE}], words[{LIMIT}], words[{LANES}]
    <MEMORY>
    at = 0
    <VIEWS>
    floats = values_at(values, 0, len(values) // 8, np.float64)
    integers = values_at(values, 0, len(values) // 8, np.int64)
    <CHECK>
    <PARAMS_ONCE>
    count = 0
    for lane in range(first, stop):
        i = unsigned(lane)
        <PARAMS_EACH>
        now = <STATE>
        starts = chosen[i] if mode == {RESET} else ended[i]
        reward, over, cut = 0.0, False, False
        if not starts and mode != {RESET}:
            <GIVEN> = rule_step(now, <ACTION>, Stream(words, i), params)
            <WRITE_AFTER>
            now = <STEPPED>
            <FACTS>
            reward, over = np.float64(gain), bool(ends)
            elapsed[i] += 1
            returns[i] += reward
            cut = <CUTS>(limit > 0 and elapsed[i] >= limit)
            if over or cut:
                count += 1
                if mode == {SAME_STEP}:
                    last = now
                    <SHOW_LAST>
                    <KEEP>
                    starts = True
                else:
                    ended[i] = True
        if starts:
            <BEGIN>
            <WRITE_BEGUN>
            now = <STARTED>
            elapsed[i] = 0
            returns[i] = 0.0
            ended[i] = False
        <SHOW>
        if mode != {RESET}:
            rewards[i] = reward
            flags[0, i] = over
            flags[1, i] = cut
    if count > 0:  # beside the loop above, which is slower by a twentieth if it counts both
        cuts = 0
        for lane in range(first, stop):
            cuts += flags[1, unsigned(lane)]
        count += cuts * {CUT_LANE}
    return count
"""
