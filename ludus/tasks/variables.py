"""Settings from environment variables: each of ours beside the names that MLGym's users know, read when asked for."""

import os
from collections.abc import Mapping

import msgspec

from ludus.errors import InvalidArgument
from ludus.tasks.quantity import seconds_of
from ludus.tasks.spec import TaskSpec

__all__ = ["SETTINGS", "Setting", "applied", "setting", "settings"]

# The first name that is set counts: ours, that of MLGym's documentation, that of its code.
SETTINGS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "config_root": (
        ("LUDUS_CONFIG_ROOT", "MLGYM_CONFIG_ROOT"),
        "",
        "Folder of configurations; its `tasks` folder is searched.",
    ),
    "task_config_dir": (
        ("LUDUS_TASK_CONFIG_DIR", "MLGYM_TASK_CONFIG_DIR"),
        "",
        "Folder that is searched for tasks.",
    ),
    "workspace_path": (
        ("LUDUS_WORKSPACE_PATH", "MLGYM_WORKSPACE_PATH"),
        "",
        "Folder in which workspaces are made; empty: a temporary one.",
    ),
    "env_timeout": (
        ("LUDUS_ENV_TIMEOUT", "MLGYM_ENV_TIMEOUT"),
        "",
        "Seconds of an episode, in place of the task's.",
    ),
    "action_short_timeout": (
        ("LUDUS_ACTION_SHORT_TIMEOUT", "MLGYM_ACTION_SHORT_TIMEOUT", "MLGYM_AGENT_SHORT_TIMEOUT"),
        "",
        "Seconds of a command, in place of the task's.",
    ),
    "action_long_timeout": (
        ("LUDUS_ACTION_LONG_TIMEOUT", "MLGYM_ACTION_LONG_TIMEOUT", "MLGYM_AGENT_LONG_TIMEOUT"),
        "",
        "Seconds that a command may ask for, in place of the task's.",
    ),
    "action_no_output_timeout": (
        ("LUDUS_ACTION_NO_OUTPUT_TIMEOUT", "MLGYM_ACTION_NO_OUTPUT_TIMEOUT", "MLGYM_AGENT_ACTION_NO_OUTPUT_TIMEOUT"),
        "",
        "Seconds that a command may be silent, in place of the task's.",
    ),
    "model_max_retries": (
        ("LUDUS_MODEL_MAX_RETRIES", "MLGYM_MODEL_MAX_RETRIES"),
        "5",
        "How often a failed call of a model is tried again.",
    ),
}
TIMEOUTS = {
    "env_timeout": "total",
    "action_short_timeout": "short",
    "action_long_timeout": "long",
    "action_no_output_timeout": "no_output",
}


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting in force, and where it comes from.

    >>> setting("model_max_retries", {"MLGYM_MODEL_MAX_RETRIES": "3"}).origin
    'MLGYM_MODEL_MAX_RETRIES'
    """

    name: str
    value: str
    origin: str
    """The variable that set it, or `default`."""
    variables: tuple[str, ...]
    description: str


def setting(name: str, environment: Mapping[str, str] | None = None) -> Setting:
    """One setting; the variables of the process unless others are given."""
    given = os.environ if environment is None else environment
    variables, default, description = SETTINGS[name]
    origin = next((one for one in variables if given.get(one, "").strip()), None)
    value = default if origin is None else given[origin].strip()
    return Setting(name=name, value=value, origin=origin or "default", variables=variables, description=description)


def settings(environment: Mapping[str, str] | None = None) -> list[Setting]:
    """All of them.

    >>> [one.value for one in settings({}) if one.name == "model_max_retries"]
    ['5']
    """
    return [setting(name, environment) for name in SETTINGS]


def applied(spec: TaskSpec, environment: Mapping[str, str] | None = None) -> TaskSpec:
    """A task with the timeouts that the variables ask for.

    >>> from ludus.tasks.spec import EvaluationSpec
    >>> spec = TaskSpec(id="Guess", name="", description="", evaluation=EvaluationSpec(metric="accuracy"))
    >>> applied(spec, {"MLGYM_ENV_TIMEOUT": "90"}).timeouts.of("total")
    90.0
    """
    changes: dict[str, float] = {}
    for name, field in TIMEOUTS.items():
        found = setting(name, environment)
        if found.value:
            changes[field] = seconds_of(found.value, found.origin)
    if not changes:
        return spec
    return msgspec.structs.replace(spec, timeout=None, timeouts=msgspec.structs.replace(spec.timeouts_known, **changes))


def whole_number(name: str, environment: Mapping[str, str] | None = None) -> int:
    """A setting that is a number."""
    found = setting(name, environment)
    if not found.value.isdigit():
        raise InvalidArgument(f"{found.origin}: expected a whole number, got {found.value!r}")
    return int(found.value)
