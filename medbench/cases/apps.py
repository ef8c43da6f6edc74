from django.apps import AppConfig


class CasesConfig(AppConfig):
    name = "medbench.cases"

    def ready(self) -> None:
        from medbench.cases import home, tasks  # noqa: F401  # registers the jobs
        from medbench.web.navigation import Block, Link, add_home_block, add_link

        add_link(Link("Cases", "cases:list", 10, home.shows_cases))
        add_home_block(Block("cases/_home_start.html", 60, home.first_steps))
        add_home_block(Block("cases/_home_release.html", 50, home.latest_release))
