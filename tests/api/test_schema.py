"""The OpenAPI description of the API."""

import yaml
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema


def test_the_schema_is_valid_and_complete_without_warnings():
    GENERATOR_STATS.reset()
    schema = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(schema)
    assert {**GENERATOR_STATS._warn_cache, **GENERATOR_STATS._error_cache} == {}


def test_anyone_may_read_the_schema(db):
    answer = Client().get("/api/v1/schema/")
    schema = yaml.safe_load(answer.content)
    assert answer.status_code == 200
    assert schema["paths"]["/api/v1/me/"]["get"]["responses"]["4XX"]["content"]["application/json"] == {
        "schema": {"$ref": "#/components/schemas/Problem"}
    }
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
