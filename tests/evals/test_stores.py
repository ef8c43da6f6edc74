"""Where verdicts are kept."""

import threading

import pytest

from medbench.evals.questions import Verdict
from medbench.evals.stores import FileStore, MemoryStore


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else FileStore(tmp_path / "verdicts.sqlite3")


def verdict(key, score=7):
    return Verdict(key, "scored", answer={"score": score, "rationale": "β ≥ 2"}, sent={"seed": 1})


def test_what_is_put_is_found(store):
    store.put(verdict("a"))
    assert store.get(["a", "b"]) == {"a": verdict("a")}
    assert store.get([]) == {}


def test_the_first_verdict_of_a_key_stands(store):
    assert store.put(verdict("a", 7)).answer["score"] == 7
    assert store.put(verdict("a", 2)).answer["score"] == 7
    assert store.get(["a"])["a"].answer["score"] == 7


def test_thousands_of_keys_are_asked_for_at_once(store):
    for i in range(60):
        store.put(verdict(str(i)))
    assert len(store.get([str(i) for i in range(3_000)])) == 60


def test_a_file_is_shared_by_workers_and_outlives_them(tmp_path):
    def work(own):
        store = FileStore(tmp_path / "verdicts")
        for i in range(20):
            store.put(verdict(str(i), own))

    threads = [threading.Thread(target=work, args=(own,)) for own in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = FileStore(tmp_path / "verdicts").get([str(i) for i in range(20)])
    assert len(found) == 20
