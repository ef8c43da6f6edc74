from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard import home, tasks  # noqa: F401  # tasks registers itself

        home.register()
