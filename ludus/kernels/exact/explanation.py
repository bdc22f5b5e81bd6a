"""Explanations: what Numba says about rules it cannot compile, as the user's line, the reason and the cure."""

import re

from ludus.errors import KernelError
from ludus.kernels.exact.place import place_of
from ludus.kernels.rules import Rules

__all__ = ["NOT_THE_USERS", "explain"]

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACES = (
    re.compile(r"typing of [\w ]+ at (?P<file>[^\n]+?) \((?P<line>\d+)\)"),
    re.compile(r"Raised from (?P<file>[^\n]+?) \((?P<line>\d+)\)"),
    re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)'),
)
NOT_THE_USERS = re.compile(r"/numba/|/ludus/kernels/|<string>|<kernel>|_[0-9a-f]{24}\.py$")
"""Files of the compiler, and the text of loops, kept on disk under a digest."""
DRAWS = "random, uniform, integers, normal, standard_normal, exponential, choice, permutation or shuffle"
REASONS: tuple[tuple[str, str, str], ...] = (
    (r"opcode \(IMPORT_NAME\)", "an import inside a rule", "import it at the top of the module"),
    (r"opcode \((?:STORE|DELETE)_GLOBAL\)", "a global that is set", "keep it in the State"),
    (r"opcode \(UNPACK_EX\)", "a starred name in an assignment", "take the parts by their places: row[2]"),
    (r"Illegal IR, del found", "del", "leave it out: a variable costs nothing"),
    (r"opcode \((\w+)\)", "a statement that has no compiled form, {0}", "write it as ifs and loops over numbers"),
    (r"yield in a closure", "a generator expression", "write a loop"),
    (r"Can't unify return type", "returns of different types", "return the same types in every branch: 0.0 for 0"),
    (r"Cannot unify (.+?) for '([\w.$]+)'", "{1}, which has two types ({0})", "give it one type in every branch"),
    (
        r"attribute '_replace'",
        "_replace, which has no compiled form",
        "build the State anew: State(state.x + 1.0, state.y)",
    ),
    (r"_?float\((?:unicode_type|Literal\[str\])", "float of text", "write the number: math.inf for float('inf')"),
    (r"getitem\([^)]*\)?[^)]*Literal\[str\]\((\w+)\)", "an index that is text", "use a NamedTuple: it.{0}"),
    (
        r"OptionalType\(|Optional\(|\bnone\b.*\bfloat64|float64.*\bnone\b",
        "a value that may be None",
        "use a number and a flag",
    ),
    (r"Unknown attribute '(\w+)' of type Stream", "rng.{0}", f"draw by {DRAWS}"),
    (r"Unknown attribute '(\w+)' of type (.+)", "the attribute {0} of {1}", "use a field that there is"),
    (
        r"No implementation of function .*<function power at",
        "** of such values",
        "write x * x, np.square(x) or np.power(x, y), or float(x) ** y of a number",
    ),
    (
        r"<function _(sum|mean|prod|max|min) at",
        "the {0} of such an array",
        "take it of a copy that lies row by row: np.{0}(x.copy()), the mean of floats",
    ),
    (r"(?s)_integers.*endpoint", "integers with an endpoint", "draw below the next one: rng.integers(low, high + 1)"),
    (
        r"Invalid use of .*Stream|_random|_integers|_uniform|_choice|_normal|_exponential",
        "a draw of many numbers, or an integer below a float",
        "draw them one by one, and below int(x)",
    ),
    (r"(?:readonly|read-only|immutable) array|Cannot modify", "a write into an array that was given", "copy it first"),
    (r"No implementation of function .*?<(?:function|ufunc|built-in function) '?(\w+)", "{0} of such values", ""),
    (r"Invalid use of|No match|No conversion", "an operation on values it does not take", ""),
)
GENERAL = "write it with numbers, tuples and small arrays (docs/rules.md has the list), or run with executor='serial'"


def explain(rules: Rules, error: BaseException) -> KernelError:
    """The error to raise for what Numba said, which stays behind it as its cause."""
    if isinstance(error, KernelError):
        return error
    text = COLOURS.sub("", str(error))
    reason, cure = _reason(text, error)
    place = _place(rules, text)
    if ":=" in place and not cure:  # Numba loses the type of what is named on the way
        reason, cure = "a name that is given inside an expression (:=)", "give it on a line before"
    return KernelError(f"{place}: expected what can be compiled, got {reason}; {cure or GENERAL}")


def _reason(text: str, error: BaseException) -> tuple[str, str]:
    for pattern, reason, cure in REASONS:
        found = re.search(pattern, text)
        if found:
            parts = [str(one).strip("_") for one in found.groups()]
            return reason.format(*parts), cure.format(*parts)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    return (lines[0] if lines else type(error).__name__), ""


def _place(rules: Rules, text: str) -> str:
    for pattern in PLACES:
        for found in pattern.finditer(text):
            if not NOT_THE_USERS.search(found["file"]):
                return place_of(found["file"], int(found["line"]))
    code = rules.step.__code__
    return f"rules of {rules.step.__module__} ({place_of(code.co_filename, code.co_firstlineno)})"
