"""`python -m medbench.clinlens COMMAND`: ClinLens without a site."""

import sys

from medbench.clinlens.commands import main

sys.exit(main())
