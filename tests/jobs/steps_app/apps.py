from django.apps import AppConfig


class StepsConfig(AppConfig):
    name = "tests.jobs.steps_app"
    label = "steps"

    def ready(self):
        from tests.jobs.steps_app import tasks  # noqa: F401  # registers the work
