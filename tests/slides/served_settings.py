"""Settings of the server processes in these tests: whoever is signed in sees every slide."""

from medbench.settings import *  # noqa: F403  # all but what follows

DEBUG = True  # its error pages need no collected static files
SLIDE_ACCESS = "tests.slides.served_settings.anyone"


def anyone(person, slide):
    return person.is_authenticated
