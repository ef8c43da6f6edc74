"""What a model hands in that has seen no data: artifacts of the right form with invented rows."""

import json
import random
from datetime import datetime, timedelta

from medbench.clinlens import layout
from medbench.clinlens.build.reference import Memory
from medbench.clinlens.manifest import CategoricalAnswer

START = datetime(2150, 1, 1)


def invented(manifest, rows, chance):
    """A submission of one task: `rows` by artifact, drawn from what the contract tells."""
    files = {}
    for artifact in manifest.artifacts:
        lines = [",".join(column.name for column in artifact.columns)]
        n_rows = 1
        for column in artifact.columns:  # small closed sets of keys can be guessed
            if column.name in artifact.key:
                n_rows *= len(column.enum) or (2 if column.dtype == "bool" else rows)
        lines += [
            ",".join(cell(column, number, column.name in artifact.key, chance) for column in artifact.columns)
            for number in range(n_rows)
        ]
        files[f"{layout.ARTIFACTS}/{artifact.path}"] = "\n".join([*lines, ""]).encode()
    files[layout.FINAL_ANSWER] = json.dumps({"answer": answer(manifest.answer, chance)}).encode()
    return Memory(files)


def cell(column, number, is_key, chance):
    if column.enum:
        return str(column.enum[number % len(column.enum)] if is_key else chance.choice(column.enum))
    if column.dtype == "bool":
        return str(number % 2 if is_key else chance.randint(0, 1))
    if column.dtype == "timestamp":
        return str(START + timedelta(hours=chance.randint(0, 9000)))
    if column.dtype == "int64":
        return str(15_000_000 + number if is_key else chance.randint(0, 50))
    return f"{chance.uniform(0, 100):.3f}" if column.dtype == "float64" else "x"


def answer(asked, chance):
    if isinstance(asked, CategoricalAnswer):
        return chance.choice(asked.labels)
    return round(random.Random(chance.random()).choice([0, 0.5, 1, 0.75, 12, 50, 76, 4.2]), 3)
