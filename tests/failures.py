"""A failure is told when it happens: with several workers, pytest itself keeps it to the end of the run."""

import pytest


class Failures:
    """The plugin: one line for each failure, at once; the whole of it comes at the end, as always."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Say which test it was, and the first line of what it said."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None and self._config.option.verbose < 1:
            terminal.write_line("")
            terminal.write_line(f"FAILED {report.nodeid} ({report.when}): {reason(report)}", red=True)


def reason(report: pytest.TestReport) -> str:
    """The first line of the error itself, wherever in the code it was raised."""
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash is not None else report.longreprtext
    return next(iter(said.splitlines()), "")
