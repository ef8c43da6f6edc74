"""The WSGI application for granian or any other server."""

import os
import sys

from django.core.checks import run_checks
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "medbench.settings")
django_application = get_wsgi_application()

from medbench.slides.wsgi import StoredTiles  # noqa: E402  # needs Django set up

application = StoredTiles(django_application)

if errors := run_checks(tags=["medbench"]):  # a server runs no checks of its own
    sys.exit("MedBench does not start:\n" + "\n".join(map(str, errors)))
