"""Check a result file before it is submitted: the same answer as the page and the API give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leaderboard.management.results_command import ResultsCommand, counted

if TYPE_CHECKING:
    from pathlib import Path


class Command(ResultsCommand):
    help = "Say everything that is wrong with a result file, or that it can be scored."

    def handle(self, *_: Any, file: Path, benchmark: str, json: bool, **__: Any) -> None:
        references, answer = self.checked(file, benchmark, as_json=json)
        if json:
            self.print_json(answer.as_dict())
            return
        self.tell(answer.warnings)
        found = answer.results.insights() if answer.results else {}
        cases = f"{len(found):,} of {counted(len(references.insights), 'case')}"
        insights = counted(sum(map(len, found.values())), "insight")
        warnings = counted(answer.warnings.total, "warning")
        self.stdout.write(f"Can be scored: {cases}, {insights}, {warnings}.")
