"""What workers do for annotation."""

from __future__ import annotations

from annotation.services import agreement
from medbench import jobs

jobs.register(agreement.KIND)(agreement.compute)
