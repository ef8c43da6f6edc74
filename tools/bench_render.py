"""A slide of 1.2 gigapixels as one picture of 4,096 px: processor time and memory, ours and OpenSlide's.

Its levels are 1, 1/4 and 1/16, as scanners write them: the picture lies just above the smallest, so
that whoever reads the next one whole pays for 75 megapixels. Called by bench.py; by itself it prints
its results: `.venv/bin/python tools/bench_render.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tifffile
from measure import result

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SIDE_PX = 4_096
ROUNDS = 3
POOL = 64  # different tiles; the slide repeats them

# Each runs in a process of its own, so that its memory is its own.
MEASURE = """
import json, resource, sys, time
from pathlib import Path
path, side = Path(sys.argv[1]), int(sys.argv[2])
{imports}
started = time.process_time()
picture = {call}
seconds = time.process_time() - started
assert max(picture.size) == side
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
OURS = "from medbench.slides import overview", "overview.thumbnail(path, side)"
THEIRS = "import openslide", "openslide.OpenSlide(path).get_thumbnail((side, side))"


def write_slide(path: Path, width_px: int = 40_000, height_px: int = 30_000) -> None:
    """An H&E-like slide out of a pool of stored tiles."""
    from medbench.demo.slides import TILE_PX, Tissue, jpeg

    tissue = Tissue(7, 8 * TILE_PX, POOL // 8 * TILE_PX)
    places = [(x, y) for y in range(0, POOL // 8 * TILE_PX, TILE_PX) for x in range(0, 8 * TILE_PX, TILE_PX)]
    pool = [jpeg(tissue.pixels(x, y, TILE_PX, TILE_PX)) for x, y in places]
    with tifffile.TiffWriter(path, bigtiff=True) as tiff:
        for factor in (1, 4, 16):
            width, height = width_px // factor, height_px // factor
            count = -(-width // TILE_PX) * -(-height // TILE_PX)
            tiff.write(
                repeated(pool, count),
                shape=(height, width, 3),
                dtype=np.uint8,
                tile=(TILE_PX, TILE_PX),
                photometric="ycbcr",
                subsampling=(2, 2),
                compression="jpeg",
                metadata=None,
                description=f"Aperio Image Library\n{width}x{height}|AppMag = 20|MPP = 0.499",
            )


def repeated(pool: list[bytes], count: int) -> Iterator[bytes]:
    return islice(cycle(pool), count)


def measure(kind: tuple[str, str], path: Path) -> tuple[float, float]:
    """Seconds and megabytes of the best of some rounds, each a process."""
    code = MEASURE.format(imports=kind[0], call=kind[1])
    command = [sys.executable, "-c", code, str(path), str(SIDE_PX)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    rounds = [
        json.loads(subprocess.run(command, check=True, capture_output=True, env=environment, cwd=ROOT).stdout)
        for _ in range(ROUNDS)
    ]
    return min(seconds for seconds, _ in rounds), min(megabytes for _, megabytes in rounds)


def measures() -> tuple[tuple[float, float], tuple[float, float]]:
    """Seconds and megabytes: ours, OpenSlide's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slide.svs"
        write_slide(path)
        return measure(OURS, path), measure(THEIRS, path)


def results() -> dict[str, dict[str, float | str | bool | None]]:
    ours, theirs = measures()
    return {
        "render_4096_px": result(ours[0], "s", 1.5, peer=theirs[0]),
        "render_4096_px_memory": result(ours[1], "MB", 300, peer=theirs[1]),
    }


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    print(json.dumps(dict(zip(("ours", "openslide"), measures(), strict=True))))
