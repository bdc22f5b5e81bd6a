"""The doors: `ludus.registry` is the mapping, and the room is still there behind it."""

import importlib
import pickle
import threading

import ludus
from ludus.registry import Registry, make, registry
from ludus.registry.plugins import Findings


def test_the_mapping_answers_to_the_name_of_its_room():
    assert ludus.registry is registry
    assert isinstance(ludus.registry, Registry)
    assert ludus.registry["GridWorld-v0"].id in ludus.registry.keys()  # noqa: SIM118  (what users of others type)


def test_the_room_can_still_be_imported_from():
    room = importlib.import_module("ludus.registry")
    assert room.make is make is ludus.make
    assert room.registry is ludus.registry
    assert importlib.import_module("ludus.registry.table").Registry is Registry
    assert ludus.registry is registry


def test_every_name_of_the_door_is_there():
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
