"""Runs a reference workflow: tables in, artifacts and answer out.

This text is stored as it is in every reference/workflow.py, followed by the specification of its
task. So it imports nothing of MedBench, reads nothing but its package, and gives the same bytes
each time: one thread, declared types, a total order of all rows.
"""

from __future__ import annotations

import csv
import json
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

DECIMALS = 9  # of numbers in artifacts and of the answer
NEWTON_STEPS = 60
CONVERGED = 1e-10

Rows = list[tuple[Any, ...]]


def load(
    spec: dict[str, Any], package: Path, threads: int = 1, *, shuffle: bool = False
) -> duckdb.DuckDBPyConnection:
    """A database with the tables of a package, its rows in another order when `shuffle`."""
    db = duckdb.connect(config={"threads": threads})
    db.execute("SET enable_progress_bar = false")  # it would go to stdout
    for name, table in spec["tables"].items():
        types = ", ".join(f"'{column}': '{kind}'" for column, kind in table["columns"].items())
        path = str(package / table["path"]).replace("'", "''")
        read = (
            f"read_csv('{path}', columns={{{types}}}, header=true, auto_detect=false, delim=',', quote='\"', "
            "escape='\"', nullstr='', strict_mode=true)"
        )
        order = " ORDER BY hash(t)" if shuffle else ""
        db.execute(f"CREATE TABLE {name} AS SELECT * FROM {read} t{order}")
    if spec["headers"]:
        _read_headers(db, package / spec["headers"])
    return db


def _read_headers(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """What the first line of each WFDB header says: record, number of leads, rate, samples."""
    db.execute(
        "CREATE TABLE wfdb_headers (study_id BIGINT, n_leads BIGINT, rate_hz BIGINT, n_samples BIGINT)"
    )
    for path in sorted(folder.glob("*.hea")):
        record, leads, rate, samples = path.read_text().splitlines()[0].split()[:4]
        db.execute(
            "INSERT INTO wfdb_headers VALUES (?, ?, ?, ?)", [int(record), int(leads), int(rate), int(samples)]
        )


def compute(db: duckdb.DuckDBPyConnection, spec: dict[str, Any]) -> tuple[dict[str, Rows], str | None]:
    """The rows of every artifact, sorted by key, and the answer (None where there is none)."""
    db.execute(spec["sql"])
    answer = _model(db, spec["model"]) if spec["model"] else None
    found = {}
    for name, artifact in spec["artifacts"].items():
        columns, key = ", ".join(artifact["columns"]), ", ".join(artifact["key"])
        found[name] = db.execute(f"SELECT {columns} FROM {name} ORDER BY {key}").fetchall()
    if spec["answer"]:
        row = db.execute(spec["answer"]).fetchone()
        answer = row[0] if row else None
    return found, None if answer is None else _answer(answer)


def _answer(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if not np.isfinite(float(value)):
        return None
    text = f"{Decimal(repr(float(value))):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _model(db: duckdb.DuckDBPyConnection, model: dict[str, Any]) -> float | None:
    """Fit on train, score all, write the table predictions; AUROC or Brier score of test.

    `features` and `labelled` (key, subject_id, split, y_true) are the tables of the SQL before.
    """
    key, names = model["key"], model["features"]
    wanted = ", ".join(f"f.{name}::DOUBLE" for name in names)
    rows = db.execute(
        f"SELECT l.{key}, l.subject_id, l.split, l.y_true, {wanted} FROM labelled l JOIN features f USING ({key}) "
        f"ORDER BY l.{key}"
    ).fetchall()
    is_train = np.array([row[2] == "train" for row in rows])
    y = np.array([float(row[3]) for row in rows])
    x = np.array([[np.nan if v is None else v for v in row[4:]] for row in rows], dtype=float).reshape(
        len(rows), -1
    )
    if not rows or len(set(y[is_train])) < 2 or len(set(y[~is_train])) < 2:
        raise ValueError("train and test need both outcomes")
    scores = _fit_and_score(x, y, is_train)
    db.execute(
        f"CREATE OR REPLACE TABLE predictions ({key} BIGINT, subject_id BIGINT, split VARCHAR, y_true BIGINT, y_score DOUBLE)"
    )
    predicted = [
        *(list(column) for column in zip(*(row[:4] for row in rows), strict=True)),
        np.round(scores, DECIMALS).tolist(),
    ]
    db.execute(
        "INSERT INTO predictions SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)", predicted
    )
    test_y, test_scores = y[~is_train], np.round(scores[~is_train], DECIMALS)
    return (
        auroc(test_y, test_scores)
        if model["score"] == "auroc"
        else float(np.mean((test_scores - test_y) ** 2))
    )


def _fit_and_score(x: np.ndarray, y: np.ndarray, is_train: np.ndarray) -> np.ndarray:
    """Median imputation, standard scaling, logistic regression with L2 (C = 1), fitted on train alone."""
    medians = np.array([np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in x[is_train].T])
    filled = np.where(np.isnan(x), medians, x)
    spread = filled[is_train].std(axis=0)
    scaled = (filled - filled[is_train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(scaled)), scaled])
    penalty = np.diag([0.0] + [1.0] * scaled.shape[1])
    weights = np.zeros(design.shape[1])
    train, labels = design[is_train], y[is_train]
    for _ in range(NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-train @ weights))
        gradient = train.T @ (chance - labels) + penalty @ weights
        step = np.linalg.solve((train * (chance * (1 - chance))[:, None]).T @ train + penalty, gradient)
        weights -= step
        if np.abs(step).max() < CONVERGED:
            break
    scores: np.ndarray = 1 / (1 + np.exp(-design @ weights))
    return scores


def auroc(y: np.ndarray, scores: np.ndarray) -> float:
    """The chance that a positive scores above a negative, ties counted half."""
    positive, negative = np.sort(scores[y == 1]), np.sort(scores[y == 0])
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(negative, positive, "right")
    return float(below.sum() / 2 / (len(positive) * len(negative)))


def cell(value: Any) -> str:
    """A value as artifacts write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(round(value, DECIMALS) + 0.0)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{value:%Y-%m-%d}" if isinstance(value, date) else str(value)


def write(spec: dict[str, Any], artifacts: dict[str, Rows], answer: str | None, out: Path) -> None:
    """Write artifacts/*.csv and answer.txt."""
    (out / "artifacts").mkdir(parents=True, exist_ok=True)
    for name, rows in artifacts.items():
        with (out / "artifacts" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(spec["artifacts"][name]["columns"])
            writer.writerows([cell(value) for value in row] for row in rows)
    (out / "answer.txt").write_text(f"{answer}\n")


def main(spec_text: str) -> None:
    """`python workflow.py PACKAGE OUT [THREADS] [shuffle]`."""
    spec = json.loads(spec_text)
    package, out, *rest = sys.argv[1:]
    with load(spec, Path(package), int(rest[0]) if rest else 1, shuffle="shuffle" in rest) as db:
        write(spec, *compute(db, spec), Path(out))
