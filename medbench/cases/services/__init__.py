"""What is done with benchmarks and cases. Every rule is in exactly one of these."""

from medbench.cases.services.editing import (
    Wording,
    add_triplet,
    edit_case,
    edit_goal,
    edit_triplet,
    retire_triplet,
)
from medbench.cases.services.freezing import freeze_release
from medbench.cases.services.importing import ImportOutcome, import_benchmark, refusal
from medbench.cases.services.kits import KIT_JOB, build_kit, keep_kit, request_kit
from medbench.cases.services.panes import remember_panes
from medbench.cases.services.uploads import UPLOAD_JOB, import_upload, take_upload, upload_for

__all__ = [
    "KIT_JOB",
    "UPLOAD_JOB",
    "ImportOutcome",
    "Wording",
    "add_triplet",
    "build_kit",
    "edit_case",
    "edit_goal",
    "edit_triplet",
    "freeze_release",
    "import_benchmark",
    "import_upload",
    "keep_kit",
    "refusal",
    "remember_panes",
    "request_kit",
    "retire_triplet",
    "take_upload",
    "upload_for",
]
