"""A benchmark of four triplets and a running study of Bruno and Chen."""

import pytest

from tests.annotation.build import make_cases, make_study


@pytest.fixture
def benchmark(team):
    return make_cases(team, n_cases=2, n_triplets=2)


@pytest.fixture
def study(benchmark, bruno, chen, ada):
    return make_study(benchmark, [bruno, chen], ada)
