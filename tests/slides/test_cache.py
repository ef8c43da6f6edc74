"""The cache of decoded tiles: what was put in comes out, and it never grows beyond its bound."""

import os
from concurrent.futures import ThreadPoolExecutor

from medbench.slides.cache import DiskCache


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_what_was_put_in_comes_out_under_its_own_key_alone(tmp_path):
    cache = DiskCache(tmp_path, 1_000_000)
    cache.put("a-0-1-2", b"one")
    cache.put("../../etc/passwd", b"two")
    assert cache.get("a-0-1-2") == b"one"
    assert cache.get("../../etc/passwd") == b"two"
    assert cache.get("a-0-1-3") is None
    assert all(path.parent.parent == tmp_path for path in tmp_path.rglob("*") if path.is_file())


def test_it_never_holds_more_than_its_bound_and_forgets_the_least_used_first(tmp_path):
    cache = DiskCache(tmp_path, 100_000)
    cache.put("used again and again", bytes(1_000))
    for number in range(300):
        cache.put(str(number), bytes(1_000))
        # Times of files are as coarse as the clock of the kernel: make each use a second apart.
        for path in tmp_path.rglob("*"):
            if path.is_file():
                os.utime(path, (path.stat().st_mtime - 1,) * 2)
        assert cache.get("used again and again") is not None
        assert size_of(tmp_path) <= 105_000
    assert cache.get("299") is not None
    assert cache.get("0") is None


def test_many_may_write_and_prune_at_once(tmp_path):
    def work(number):
        cache = DiskCache(tmp_path, 50_000)
        for each in range(100):
            cache.put(f"{number}-{each}", bytes(1_000))
            cache.get(f"{number}-{each - 1}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    DiskCache(tmp_path, 50_000).prune()
    assert 0 < size_of(tmp_path) <= 50_000


def test_a_disk_that_cannot_be_written_costs_nothing_but_the_cache(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    cache = DiskCache(tmp_path / "file", 1_000)
    cache.put("a", b"one")
    assert cache.get("a") is None
