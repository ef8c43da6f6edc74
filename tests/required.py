"""What a test cannot do without: skipped on a bare machine, a failure where it was promised."""

import os

import pytest


def absent(what, *required_by):
    """Skip because of `what`, or fail where one of the variables `required_by` is set."""
    for name in required_by:
        if os.environ.get(name, "0") not in ("", "0", "false"):
            pytest.fail(f"{what} ({name} is set, so this is a failure)", pytrace=False)
    pytest.skip(what)
