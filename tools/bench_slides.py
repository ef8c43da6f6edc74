"""What a tile of a slide costs: in the process, over HTTP, on opening, in memory; ours and OpenSlide's.

The peers are OpenSlide's DeepZoomGenerator as its documentation uses it (254 px, overlap 1, JPEG quality
75), and over HTTP the deep-zoom application of its examples (tile_servers.py).
Called by bench.py; by itself it prints its results: `.venv/bin/python tools/bench_slides.py`.
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from measure import result
from node import ROOT
from tile_servers import requests_us

if TYPE_CHECKING:
    from collections.abc import Callable

    Place = tuple[int, int]

TILE_PX = 256
SMALL, LARGE = (84, 60), (800, 500)  # tiles of level 0: 5 thousand and 400 thousand
POOL = 256  # different tiles; the slides repeat them
TILES, ROUNDS = 200, 5  # in the process
REQUESTS = 3_000  # over HTTP
OPEN_SLIDES = 64


def write_slides(folder: Path) -> tuple[Path, Path]:
    """Two H&E-like slides as scanners write them, of few and of very many tiles."""
    from medbench.demo.slides import Tissue, jpeg
    from tests.slides import tiffs

    side = int(POOL**0.5)
    tissue = Tissue(7, side * TILE_PX, side * TILE_PX)
    corners = [(x * TILE_PX, y * TILE_PX) for y in range(side) for x in range(side)]
    jpegs = [jpeg(tissue.pixels(x, y, TILE_PX, TILE_PX)) for x, y in corners]
    small, large = folder / "small.svs", folder / "large.svs"
    tiffs.synthesise(small, *SMALL, factors=(1, 4, 16), jpegs=jpegs, words="Aperio Image Library")
    tiffs.synthesise(large, *LARGE, factors=(1, 4, 16, 64), jpegs=jpegs, words="Aperio Image Library")
    return small, large


def places(count: int) -> list[Place]:
    """Columns and rows of some tiles of level 0 of the small slide, none at its far edges."""
    chance = random.Random(7)
    return [(chance.randrange(SMALL[0] - 1), chance.randrange(SMALL[1] - 1)) for _ in range(count)]


def processor_us(work: Callable[[Place], object], repeat: int = 1) -> float:
    """Microseconds of processor time for a tile, the best of some rounds."""
    asked = places(TILES) * repeat
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for place in asked:
            work(place)
        rounds.append((time.process_time() - started) / len(asked))
    return 1e6 * min(rounds)


def tile_us(path: Path) -> tuple[float, float]:
    """One tile in the process: ours as the server reads it, DeepZoomGenerator's."""
    import openslide
    from openslide.deepzoom import DeepZoomGenerator

    from medbench.slides.tiff import TiffFile

    with TiffFile(path) as file, openslide.OpenSlide(path) as slide:
        tiles = file.tiles(file.levels()[0].directory)
        generator = DeepZoomGenerator(slide, tile_size=254, overlap=1)

        def theirs(place: Place) -> None:
            generator.get_tile(generator.level_count - 1, place).save(io.BytesIO(), "JPEG", quality=75)

        return processor_us(lambda place: tiles.tile(*place), repeat=20), processor_us(theirs)


def opening_ms(path: Path, grid: Place) -> tuple[float, float]:
    """To open the file and have a tile of level 0: ours with what the slide's row says, OpenSlide's."""
    import openslide

    from medbench.slides.stored import StoredSlides, identify
    from medbench.slides.tiff import TiffFile

    with TiffFile(path) as file:
        stored = {"directory": file.levels()[0].directory, "profile": None}
    column, row = grid[0] // 2, grid[1] // 2

    def ours() -> None:
        files = StoredSlides()
        files.tile(identify(str(path)), stored, column, row)
        files.close()

    def theirs() -> None:
        with openslide.OpenSlide(path) as slide:
            region = slide.read_region((column * TILE_PX, row * TILE_PX), 0, (TILE_PX, TILE_PX))
            region.convert("RGB").save(io.BytesIO(), "JPEG", quality=75)

    return tuple(1e3 * _seconds(work) for work in (ours, theirs))  # type: ignore[return-value]  # two of them


def _seconds(work: Callable[[], object], times: int = 15) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return median(taken)


# Each runs in a process of its own, so that its memory is its own.
MEMORY = """
import os, sys
from pathlib import Path
import psutil
paths = [str(path) for path in sorted(Path(sys.argv[1]).iterdir())]
{imports}
before = psutil.Process().memory_info().rss
{work}
print((psutil.Process().memory_info().rss - before) / 1e6)
"""
OURS = (
    """
import json
from medbench.slides.stored import StoredSlides, identify
files, stored = StoredSlides(), json.loads(sys.argv[2])
""",
    """
for path in paths:
    for n in range(50):
        files.tile(identify(path), stored, n, n)
""",
)
THEIRS = (
    "import openslide",
    """
slides = [openslide.OpenSlide(path) for path in paths]
for slide in slides:
    for n in range(50):
        slide.read_region((n * 256, n * 256), 0, (256, 256))
""",
)


def memory_mb(path: Path) -> tuple[float, float]:
    """What 64 open slides of which 50 tiles were read add to a process: ours, OpenSlide's."""
    from medbench.slides.tiff import TiffFile

    with TiffFile(path) as file:
        stored = {"directory": file.levels()[0].directory, "profile": None}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(OPEN_SLIDES):
            (Path(folder) / f"{number}.svs").hardlink_to(path)
        answers = []
        for imports, work in (OURS, THEIRS):
            code = MEMORY.format(imports=imports, work=work)
            command = [sys.executable, "-c", code, folder, json.dumps(stored)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
            answers.append(float(done.stdout))
    return answers[0], answers[1]


def measures() -> dict[str, tuple[float, str, float, float]]:
    """Name -> (ours, unit, target, the peer's); the targets of tiles are shares of the peer's time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = write_slides(folder)
        tile, deep_zoom = tile_us(small)
        opening = opening_ms(small, SMALL), opening_ms(large, LARGE)
        memory = memory_mb(small)
        requests = requests_us(folder, small, places(REQUESTS), SMALL[0] * TILE_PX)
    app = requests["deep zoom"]
    return {
        "tile_in_process": (tile, "us", deep_zoom / 300, deep_zoom),
        "tile_request_wrapper": (requests["wrapper"], "us", app / 40, app),
        "tile_request_django": (requests["django"], "us", app / 10, app),
        "open_5_thousand_tiles": (opening[0][0], "ms", 1.0, opening[0][1]),
        "open_400_thousand_tiles": (opening[1][0], "ms", 1.0, opening[1][1]),
        "memory_of_64_open_slides": (memory[0], "MB", OPEN_SLIDES * 0.05, memory[1]),
    }


def results() -> dict[str, dict[str, Any]]:
    return {
        name: result(ours, unit, target, peer=peer) for name, (ours, unit, target, peer) in measures().items()
    }


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    print(json.dumps(measures(), indent=2))
