"""An edition is what one looks at: a release of a benchmark, or its working copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medbench.cases.models import Benchmark, Release

DRAFT = "draft"


@dataclass(frozen=True)
class Edition:
    """`release` None is the working copy, which only curators see."""

    benchmark: Benchmark
    release: Release | None

    @property
    def is_draft(self) -> bool:
        return self.release is None

    @property
    def token(self) -> str:
        """How addresses name the edition: ?release=2, ?release=draft."""
        return str(self.release.number) if self.release else DRAFT

    @property
    def label(self) -> str:
        return f"release {self.release.number}" if self.release else "working copy"

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.label}"
