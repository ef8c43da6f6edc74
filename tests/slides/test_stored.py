"""Open files of stored tiles: bounded, closed after their last reader, and safe from hostile directories."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from medbench.slides.splice import NotStored
from medbench.slides.stored import StoredSlides, identify
from medbench.slides.tiff import NotTiff, TiffFile
from tests.slides import mutations, tiffs


@pytest.fixture
def slides(tmp_path):
    """Four slides whose tiles differ, and where their tiles are stored."""
    made = []
    for number in range(4):
        path = tiffs.write(tmp_path / f"{number}.tif", [(200 + 64 * number, 150)])
        with TiffFile(path) as file:
            stored = {"directory": file.levels()[0].directory, "profile": None}
            made.append((identify(str(path)), stored, file.tiles(stored["directory"]).tile(1, 1)))
    return made


def open_files(folder):
    links = Path("/proc/self/fd").iterdir()
    return sum(str(folder) in str(each.readlink()) for each in links if each.is_symlink())


def test_only_so_many_files_stay_open(slides, tmp_path):
    files = StoredSlides(files=2)
    for _ in range(3):
        for file, stored, tile in slides:
            assert files.tile(file, stored, 1, 1) == tile
            assert open_files(tmp_path) == len(files) <= 2
    files.close()
    assert open_files(tmp_path) == 0


def test_readers_in_many_threads_get_the_tile_of_their_slide(slides, tmp_path):
    files, start = StoredSlides(files=1), threading.Barrier(8)

    def read(number):
        start.wait()
        for turn in range(200):
            file, stored, tile = slides[(number + turn) % len(slides)]
            assert files.tile(file, stored, 1, 1) == tile

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(read, range(8)))
    assert open_files(tmp_path) == 1
    files.close()
    assert open_files(tmp_path) == 0


def test_a_file_that_changed_is_another_file(slides):
    files = StoredSlides()
    (file, stored, tile), (other, *_) = slides[:2]
    assert files.tile(file, stored, 1, 1) == tile
    Path(file.path).write_bytes(Path(other.path).read_bytes())
    with pytest.raises(NotStored):
        files.tile(file, stored, 1, 1)
    Path(file.path).unlink()
    with pytest.raises(FileNotFoundError):
        files.tile(file, stored, 1, 1)
    files.close()


@pytest.mark.parametrize("directory", [0, 3, 1 << 20, (1 << 63) + 5])
def test_a_level_table_that_points_elsewhere_serves_nothing(slides, directory):
    file, *_ = slides[0]
    files = StoredSlides()
    with pytest.raises(NotStored):
        files.tile(file, {"directory": directory, "profile": None}, 0, 0)
    files.close()


class CountingTiff(TiffFile):
    """A TIFF that keeps count of what is read of it."""

    reads = largest = 0

    def read(self, at, count):
        content = super().read(at, count)
        self.reads += 1
        self.largest = max(self.largest, len(content))
        return content


def entries_of_big(path):
    """As mutations.entries_of, of a BigTIFF."""
    with TiffFile(path) as file:
        directories = [level.directory for level in file.levels()]
        counts = [file.unpack("Q", each)[0] for each in directories]
    entries = [at + 8 + 20 * n for at, count in zip(directories, counts, strict=True) for n in range(count)]
    links = [at + 8 + 20 * count for at, count in zip(directories, counts, strict=True)]
    return {"order": "<", "directories": directories, "entries": entries, "links": [*links, 8]}


@pytest.mark.parametrize("is_big", [False, True])
def test_hostile_directories_are_read_at_a_bounded_cost(tmp_path, is_big):
    """1,500 mutations: each yields levels and tiles or is refused, after few and small reads."""
    sound, path = tmp_path / "sound.tif", tmp_path / "x.tif"
    content = tiffs.write(sound, [(200, 150), (100, 75), (50, 37)], bigtiff=is_big).read_bytes()
    entries = entries_of_big(sound) if is_big else mutations.entries_of(sound)
    outcomes = {"levels": 0, "tiles": 0, "refused": 0}
    for number in range(1_500):
        path.write_bytes(mutations.mutated(content, entries, number))
        try:
            with CountingTiff(path) as file:
                walk(file, outcomes)
                assert file.reads < 5_000
                assert file.largest <= len(content)
        except NotTiff:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 100, outcomes


def walk(file, outcomes):
    """Every level, and the first hundred tiles of each; answers how many levels there are."""
    levels = file.levels()
    for level in levels:
        outcomes["levels"] += 1
        try:
            tiles = file.tiles(level.directory, level.directory)
            sizes = tiles.sizes()
        except NotStored:
            continue
        assert len(sizes) == level.columns * level.rows
        for number in range(min(100, len(sizes))):
            try:
                content = tiles.tile(number % level.columns, number // level.columns)
            except NotStored:
                continue
            assert content.startswith(b"\xff\xd8")
            outcomes["tiles"] += 1
    return len(levels)
