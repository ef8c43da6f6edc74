"""What workers do for annotation."""

from __future__ import annotations

from annotation.services import agreement, mail
from medbench import jobs

jobs.register(agreement.KIND)(agreement.compute)
jobs.register(mail.KIND, back_off_s=60)(mail.send)
