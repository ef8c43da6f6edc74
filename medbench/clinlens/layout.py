"""Where the files of a suite are. Two trees under two roots: the public one alone is given away.

```
public/<suite>/suite.json                    which tasks, with their digests
public/<suite>/<task_id>/manifest.json       the contract
                         question.md DATA_CARD.md data/ assets/ CHECKSUMS.sha256
private/<suite>/<task_id>/evaluation.json    row counts, salted key hashes, predicates
                          reference/answer.json reference/artifacts/*.csv reference/workflow.py
                          spec.json mutants.json qc.json CANARY SALT
```
"""

from __future__ import annotations

from pathlib import Path

PUBLIC_ROOT = Path("var/clinlens/public")  # where a command looks that is told nothing else
PRIVATE_ROOT = Path("var/clinlens/private")

# Public
SUITE = "suite.json"
MANIFEST = "manifest.json"
QUESTION = "question.md"
DATA_CARD = "DATA_CARD.md"
CHECKSUMS = "CHECKSUMS.sha256"
DATA = "data"
ASSETS = "assets"

# Private
SPEC = "spec.json"
EVALUATION = "evaluation.json"
MUTANTS = "mutants.json"
QC = "qc.json"
CANARY = "CANARY"
SALT = "SALT"  # 32 bytes as 64 hexadecimal digits
WORKFLOW = "reference/workflow.py"
REFERENCE_ANSWER = "reference/answer.json"
REFERENCE_ARTIFACTS = "reference/artifacts"

# A submission
SUBMISSION = "submission.json"
TASKS = "tasks"
FINAL_ANSWER = "final_answer.json"
ARTIFACTS = "artifacts"
RUN = "run.json"

SCOPES = {"WHP": "whole_patient", "ADM": "admission", "ICU": "icu_stay", "EVT": "event_study"}
CAPABILITIES = {
    "PRF": "profiling",
    "ASC": "association",
    "CHG": "event_change",
    "PRD": "prediction",
    "PHN": "phenotyping",
}
SOURCE_KINDS = ("mimic_full", "mimic_demo", "synthetic")
CREDENTIALED = "mimic_full"  # the kind whose rows must not be given away
