import pytest
from django.db import connection

from tests.jobs.processes import Processes
from tests.jobs.steps_app import tasks  # noqa: F401  # registers the work in this process
from tests.jobs.steps_app.models import Step


@pytest.fixture
def steps(transactional_db):
    """The table of steps."""
    with connection.schema_editor() as editor:
        editor.create_model(Step)
    yield Step.objects
    with connection.schema_editor() as editor:
        editor.delete_model(Step)


@pytest.fixture
def processes(steps, child_environment, tmp_path):
    """Starts real processes on the test database; no traceback may be in their logs."""
    started = Processes(child_environment, tmp_path)
    yield started
    started.kill_all()
    assert "Traceback" not in started.logs()
