"""Entry points: what a name leads to, and that threads may ask for names at once."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import PathFinder

import pytest

from ludus.core.entry_point import import_named, load_entry_point
from ludus.errors import EntryPointError
from tests.patience import until


class Gate:
    """Holds whoever makes the package, which is not among the modules yet, until another thread is in line for it."""

    def __init__(self):
        self.entered, self.second = threading.Event(), []

    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name == "two_importers" else None
        if spec is not None:
            spec.loader.create_module = self.create_module
        return spec

    def create_module(self, spec):
        if self.entered.is_set():
            return
        self.entered.set()
        until(lambda: self.second and _waits_for_a_module(self.second[0]), "the other thread asks for it, too")


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """A package that imports a module of its own, and a gate before it."""
    (tmp_path / "two_importers").mkdir()
    (tmp_path / "two_importers" / "__init__.py").write_text("from two_importers.part import VALUE\n", encoding="utf8")
    (tmp_path / "two_importers" / "part.py").write_text("VALUE = 7\n", encoding="utf8")
    monkeypatch.syspath_prepend(str(tmp_path))
    gate = Gate()
    monkeypatch.setattr(sys, "meta_path", [gate, *sys.meta_path])
    yield gate
    for name in ("two_importers", "two_importers.part"):
        sys.modules.pop(name, None)


def _waits_for_a_module(ident):
    frame = sys._current_frames().get(ident)
    return frame is not None and frame.f_code.co_name == "acquire" and "importlib" in frame.f_code.co_filename


def test_a_package_and_a_module_in_it_are_imported_by_two_threads_at_once(gate):
    def import_part():
        assert gate.entered.wait(60)
        gate.second.append(threading.get_ident())
        return load_entry_point("two_importers.part:VALUE")

    with ThreadPoolExecutor(2) as threads:
        package = threads.submit(import_named, "two_importers", "entry_point")
        part = threads.submit(import_part)
        assert (package.result().VALUE, part.result()) == (7, 7)


@pytest.mark.parametrize("name", ["not_there", "not_there.part", "json.not_there", "json..decoder", "json.decoder."])
def test_a_module_that_is_not_there_is_named_whatever_of_it_is_missing(name):
    with pytest.raises(EntryPointError, match=r"expected a module .* that can be imported, got no module named"):
        import_named(name, "entry_point")
