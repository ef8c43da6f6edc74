"""`make bench`: how fast is what people wait for, as JSON {name: {value, unit, peer, ratio, target, ok}}.

`peer` is the same work by the library that the field uses, measured here and now; `ratio` is how
many times better we are.
"""

from __future__ import annotations

import json
import sys

import bench_agreement
import bench_annotation
import bench_board
import bench_clinlens
import bench_compare
import bench_import
import bench_render
import bench_scoring
import bench_slides
from node import ROOT


def main() -> None:
    sys.path.insert(0, str(ROOT))
    results = {
        **bench_agreement.results(),
        **bench_annotation.results(),
        **bench_board.results(),
        **bench_clinlens.results(),
        **bench_compare.results(),
        **bench_import.results(),
        **bench_render.results(),
        **bench_scoring.results(),
        **bench_slides.results(),
    }
    print(json.dumps(results, indent=2))
    sys.exit(not all(each["ok"] for each in results.values()))


if __name__ == "__main__":
    main()
