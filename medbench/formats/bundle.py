"""Benchmark bundles: a folder or zip archive with benchmark.json, cases.jsonl, reports/ and slides/.

`read_bundle` takes it in whole or refuses it with every problem; `write_bundle` writes the one
canonical form: reading and writing again gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medbench.formats.spans import Span

SCHEMA = "medbench.benchmark/1"
CATEGORIES = ("descriptive", "diagnostic", "predictive", "prescriptive", "evaluative", "exploratory")
SPLITS = ("open", "heldout")


@dataclass(frozen=True, slots=True)
class BenchmarkInfo:
    """What benchmark.json says."""

    name: str
    title: str
    version: str
    description: str = ""
    licence: str = ""
    citation: str = ""


@dataclass(frozen=True, slots=True)
class ReportText:
    """A report as text, exactly: spans count its code points. `path` is its file, "" = inline."""

    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Triplet:
    """A question, an insight and its evidence. `span` is None where the evidence is unanchored."""

    id: str
    category: str
    question: str
    insight: str
    evidence: str
    confidence: float | str | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `slide` is the path in the bundle that the case names, whether it is there or not."""

    case_id: str
    project: str
    site: str
    difficulty: int
    goal: str
    split: str
    slide: str | None
    report: ReportText
    triplets: tuple[Triplet, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A benchmark outside of the database. `slides` has the files that are there, by path in the
    bundle."""

    info: BenchmarkInfo
    cases: tuple[Case, ...]
    slides: Mapping[str, Path] = field(default_factory=dict)
