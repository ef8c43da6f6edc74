"""The scripted server as a fixture, for every room that has something judged."""

import pytest

from tests.evals.server import ScriptedServer


@pytest.fixture
def served():
    """serve(script): a scripted server that lives as long as the test."""
    servers = []

    def serve(script):
        server = ScriptedServer(script)
        servers.append(server)
        return server.__enter__()

    yield serve
    for server in servers:
        server.__exit__()
