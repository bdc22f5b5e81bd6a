"""What `ludus` and `ludus.registry` give: the package by its own name, the mapping inside it."""

import importlib
import pickle
import threading
from types import ModuleType

import ludus
from ludus.registry import Registry, make, registry
from ludus.registry.plugins import Findings


def test_the_registry_is_a_package_by_every_spelling():
    import ludus.registry as package

    assert isinstance(package, ModuleType)
    assert package is ludus.registry is importlib.import_module("ludus.registry")
    assert package.make_vec is ludus.make_vec
    assert package.make is make is ludus.make


def test_the_mapping_is_in_the_package():
    assert ludus.registry.registry is registry
    assert isinstance(registry, Registry)
    assert registry["GridWorld-v0"].id in registry.keys()  # noqa: SIM118  (what users of others type)


def test_every_name_of_the_package_is_there():
    assert ludus.__all__ == sorted(ludus.__all__, key=lambda name: (name.lower() == name, name))
    assert [name for name in ludus.__all__ if not hasattr(ludus, name)] == []


def test_make_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(ludus.make)) is ludus.make


def test_threads_that_ask_at_once_look_around_once():
    looks: list[int] = []

    def slow() -> Findings:
        barrier.wait()
        looks.append(1)
        return Findings()

    barrier = threading.Barrier(2)
    shared = Registry(slow)
    threads = [threading.Thread(target=lambda: len(shared)) for _ in range(4)]
    for thread in threads:
        thread.start()
    barrier.wait()
    for thread in threads:
        thread.join()
    assert looks == [1]
