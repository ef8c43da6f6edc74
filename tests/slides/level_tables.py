"""1,000 level tables for client and server alike: tests/data/level_tables.json.

`.venv/bin/python -m tests.slides.level_tables` writes the file anew, one table a line:
{"levels": [row, ...], "virtual_levels": [[name, source, factor, *row], ...]} with
row = [width, height, tile_width, tile_height, columns, rows, downsample, last_width, last_height];
`last_*` is the size of the tile at the far corner. The grids are geometry.py's; a test computes them
again in another way, the viewer's tests in a third.
"""

import json
import math
import random
from pathlib import Path

from medbench.slides import geometry

FILE = Path(__file__).parent.parent / "data/level_tables.json"
SEED, TABLES = 20_261_130, 1_000
ROUNDINGS = (math.floor, math.ceil, round)
TILES = ((256, 256), (240, 240), (512, 512), (1024, 1024), (64, 2048), (254, 258), (3968, 8), None)
# Tables known to trip viewers: heights floored by readers, ratios of 3 and 10, one pixel, threads, strips.
AWKWARD = [
    (20_000, 15_361, (256, 256), (1, 4, 16)),
    (139_835, 81_936, (256, 256), (1, 32)),
    (2_100, 1_500, (256, 256), (1, 3, 10)),
    (1_324, 768, (256, 256), (1, 2)),
    (2_220, 2_967, (240, 240), (1,)),
    (1, 1, (256, 256), (1,)),
    (1, 5_000, (256, 256), (1, 2)),
    (3_001, 257, (256, 256), (1, 2, 4)),
    (3_968, 4_864, (3_968, 8), (1, 2, 4, 8, 16, 32, 64)),
]


def table(width, height, tile, factors, rounding):
    """The levels of a file whose reduced sizes are rounded by `rounding`, as OpenSlide reports them."""
    levels = []
    for factor in factors:
        size = max(1, rounding(width / factor)), max(1, rounding(height / factor))
        downsample = (width / size[0] + height / size[1]) / 2
        levels.append(geometry.make_level(size, downsample, tile))
    return levels


def random_table(chance):
    width, height = (round(math.exp(chance.uniform(0, math.log(300_000)))) for _ in range(2))
    factors, factor = [1], 1
    while chance.random() < 0.7 and len(factors) < 8:
        factor *= chance.choice((2, 2, 4, 4, 3, 10, 1.5, 2.0005))
        factors.append(factor)
    return table(width, height, chance.choice(TILES), factors, chance.choice(ROUNDINGS))


def row(level):
    last = geometry.tile_rectangle(level, level.columns - 1, level.rows - 1)
    grid = (level.width, level.height, level.tile_width, level.tile_height, level.columns, level.rows)
    return [*grid, level.downsample, last.width_l_px, last.height_l_px]


def vectors():
    chance = random.Random(SEED)
    tables = [table(*each, math.floor) for each in AWKWARD]
    tables += [random_table(chance) for _ in range(TABLES - len(tables))]
    for levels in tables:
        virtual = geometry.virtual_levels(levels)
        yield {
            "levels": [row(each) for each in levels],
            "virtual_levels": [[each.name, each.source, each.factor, *row(each)] for each in virtual],
        }


def text():
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in vectors())


if __name__ == "__main__":
    FILE.write_text(text())
