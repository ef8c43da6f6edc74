"""The page of people beside machines, from what the job stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.agreement.charts import bar_of
from annotation.agreement.page import outside_of, status_of
from medbench.accounts.permissions import may
from medbench.review.outputs import METRICS
from medbench.scoring.correlation import KINDS

if TYPE_CHECKING:
    from annotation.agreement.charts import Bar
    from annotation.agreement.machine import Result
    from annotation.models import Agreement, Study
    from medbench.accounts.models import User

METRIC_WORDS = {"recall": "Recall", "precision": "Precision", "f1": "F1", "novelty": "Novelty"}
KIND_WORDS = {"pearson": "Pearson r", "spearman": "Spearman ρ", "kendall": "Kendall τ-b"}
SCOPES = {"corpus": "all texts", "within_case": "within cases"}
MEASURE_WORDS = {"tfidf_cosine": "TF-IDF cosine", "self_bleu": "Self-BLEU", "distinct_2": "Distinct-2"}

Drawn = tuple["Result", "Bar | None"]


def context_of(study: Study, person: User) -> dict[str, Any]:
    """Only the parts that the study has; `is_empty` where it has none."""
    status = status_of(study)
    found = status["found"]
    compared: Result = (found.result.get("machine") or {}) if found else {}
    correlation = compared.get("correlation")
    may_manage = may(person, "study.manage", study.benchmark.team)
    quality = _quality_rows(found, compared, may_manage=may_manage)
    return {
        "study": study,
        "tab": "machine",
        "may_manage": may_manage,
        "correlation": correlation,
        "correlation_rows": _correlation_rows(correlation) if correlation else [],
        "metrics": [METRIC_WORDS[metric] for metric in METRICS],
        "systems": [
            (row, [row[metric] for metric in METRICS])
            for row in (correlation["systems"] if correlation else ())
        ],
        "f1_less_recall": [
            (KIND_WORDS[kind], each)
            for kind, each in (correlation["f1_less_recall"] if correlation else {}).items()
        ],
        "audit": compared.get("audit"),
        "audit_rows": [
            (row, _drawn(row["approval"])) for row in compared.get("audit", {}).get("systems", ())
        ],
        "audit_kinds": [
            (KIND_WORDS[kind], compared["audit"][kind]) for kind in KINDS if compared.get("audit")
        ],
        "quality": quality,
        "redundancy": _redundancy_rows(compared.get("redundancy", {})),
        "is_empty": not any(compared.values()) and not quality,
        **status,
    }


def _correlation_rows(correlation: Result) -> list[tuple[str, Result, list[tuple[str, Drawn]]]]:
    """Each metric that was scored, at each level, with the three kinds of correlation."""
    return [
        (
            METRIC_WORDS[row["metric"]],
            row,
            [(KIND_WORDS[kind], (row[kind], _drawn(row[kind]))) for kind in KINDS],
        )
        for row in correlation["rows"]
        if row["n_systems"]
    ]


def _quality_rows(found: Agreement | None, compared: Result, *, may_manage: bool) -> list[tuple[str, Result]]:
    """Scores by people beside those that came with the items, and beside those of imported models."""
    rows = [("", row) for row in compared.get("quality") or ()]
    imported = outside_of(found, may_manage=may_manage)
    return rows + [(name, row) for name, row, _ in imported if row["kind"] == "model" and "human" in row]


def _drawn(estimate: Result) -> Bar | None:
    ci = estimate["ci"]
    return bar_of(estimate["value"], (ci[0], ci[1]) if ci else None)


def _redundancy_rows(redundancy: Result) -> list[tuple[str, str, list[tuple[str, Result]]]]:
    return [
        (
            name.capitalize() + "s",
            SCOPES[scope],
            [(MEASURE_WORDS[each], measures[each]) for each in MEASURE_WORDS],
        )
        for name, scopes in redundancy.items()
        for scope, measures in scopes.items()
    ]
