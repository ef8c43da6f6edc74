"""What a benchmark bundle holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medbench.formats.problems import Problems

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medbench.formats.spans import Span

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
    """A report as text, exactly: spans count its code points. `path` is its file, "" = inline.

    A PDF's text is its text layer; it is written as a text file.
    """

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
    """One case. `slide` is the path that the case names, whether the file is there or not."""

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
    """A benchmark outside of the database.

    `slides` are the slide files at hand, by the path that cases name. An archive's slides are at
    hand only when it was unpacked (see `read_bundle`).
    """

    info: BenchmarkInfo
    cases: tuple[Case, ...]
    slides: Mapping[str, Path] = field(default_factory=dict)
    warnings: Problems = field(default_factory=Problems, compare=False)

    def references(self) -> dict[str, list[str]]:
        """The reference insights of every case, by case id, in the bundle's order."""
        return {case.case_id: [triplet.insight for triplet in case.triplets] for case in self.cases}
