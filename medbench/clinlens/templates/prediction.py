"""What the four prediction templates share: the file of predictions, its checks, the usual wrong splits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.manifest import Artifact
from medbench.clinlens.templates import fragments as f
from medbench.clinlens.templates.core import SUBJECT, column, predicate

if TYPE_CHECKING:
    from medbench.clinlens.manifest import Column, Dtype
    from medbench.clinlens.private import Predicate

PREDICTION_MUTATIONS = (f.RANDOM_SPLIT,)


AUROC = """
(sum(place) FILTER (y_true = 1) - count(*) FILTER (y_true = 1) * (count(*) FILTER (y_true = 1) + 1) / 2)
  / (count(*) FILTER (y_true = 1) * count(*) FILTER (y_true = 0))
"""
SCORE = """
SELECT CASE '$measure' WHEN 'brier' THEN avg((y_score - y_true) ** 2) ELSE $auroc END FROM (
  SELECT *, rank() OVER (ORDER BY y_score) + (count(*) OVER (PARTITION BY y_score) - 1) / 2 AS place
  FROM predictions WHERE $rows)
"""


def naive(measure: str = "auroc") -> dict[str, str]:
    """Answers that need no split: the score over all patients, over those of train, and of a coin."""
    score = SCORE.replace("$measure", measure).replace("$auroc", AUROC)
    return {
        "all_patients": score.replace("$rows", "true"),
        "all_rows": score.replace("$rows", "split = 'train'"),
        "first_table_only": f"SELECT CASE '{measure}' WHEN 'brier' THEN 0.25 ELSE 0.5 END",
    }


def feature(name: str, dtype: Dtype = "float64", *, null: bool = True) -> Column:
    """A feature; one that may be empty is imputed by the recipe, not in the file."""
    return column(name, dtype, "feature, before imputation" if null else "feature", null=null)


def features(key: str, what: str, used: str, *columns: Column) -> Artifact:
    """features.csv: one row for each `what` of the population. `used` says of what the latest time is."""
    return Artifact(
        "features",
        f"one row for each {what} of the population",
        (key,),
        (
            column(key, "int64", f"the {what}"),
            SUBJECT,
            column("landmark", "timestamp", "the landmark"),
            column("max_feature_time", "timestamp", f"latest time of a {used} used", null=True),
            *columns,
        ),
    )


def predictions(key: str) -> Artifact:
    """predictions.csv: one row for each row of features.csv."""
    return Artifact(
        "predictions",
        "one row for each row of features.csv",
        (key,),
        (
            column(key, "int64", "as in features.csv"),
            SUBJECT,
            column("split", "string", "where the patient is", enum=("train", "test")),
            column("y_true", "int64", "the outcome", enum=(0, 1)),
            column("y_score", "float64", "predicted probability of the outcome"),
        ),
    )


def checks(measure: str = "auroc", tolerance: float = 0.01) -> tuple[Predicate, ...]:
    """P-SPLIT, P-LEAK, P-LABEL, P-SCORE, P-ANCHOR and P-OWNER."""
    return (
        predicate("P_ANCHOR", "anchor_equals", "features", columns=["landmark"]),
        predicate("P_OWNER", "ownership", "features", columns=["subject_id"]),
        predicate("P_LEAK", "feature_time_before", "features", column="max_feature_time", anchor="landmark"),
        predicate("P_SPLIT", "split_rule", "predictions", subject="subject_id", split="split"),
        predicate("P_LABEL", "label_match", "predictions", columns=["y_true"]),
        predicate("P_OWNER_PREDICTIONS", "ownership", "predictions", columns=["subject_id"]),
        predicate("P_DOMAIN", "domain", "predictions", column="y_score", min=0, max=1),
        predicate(
            "P_SCORE",
            "score_recompute",
            "predictions",
            measure=measure,
            label="y_true",
            score="y_score",
            abs=tolerance,
            where={"split": "test"},
        ),
    )
