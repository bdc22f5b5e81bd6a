"""Environments of the open family are made and reset in threads at once."""

from concurrent.futures import ThreadPoolExecutor

from ludus.envs.open.coding.tasks import PROBLEMS, task


def test_solutions_are_read_by_many_threads_at_once():
    problems = [one for table in PROBLEMS.values() for one in table]
    task._source.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        sources = list(threads.map(lambda one: one.source, problems * 8))
    assert len(set(sources)) == len(problems) > 100
    assert sources == [one.source for one in problems] * 8
