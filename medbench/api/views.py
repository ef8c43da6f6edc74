"""Routes of the API that belong to no application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import api_view, authentication_classes, permission_classes, throttle_classes
from rest_framework.permissions import AllowAny
from rest_framework.response import Response

from medbench.accounts.queries import teams_of
from medbench.errors import NotFound

if TYPE_CHECKING:
    from rest_framework.request import Request


class TeamSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    roles = serializers.SerializerMethodField()

    def get_roles(self, team: Any) -> list[str]:
        return [membership.role for membership in team.held]


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    name = serializers.CharField()
    email = serializers.CharField()
    is_site_curator = serializers.BooleanField(source="is_superuser")
    teams = serializers.SerializerMethodField()

    @extend_schema_field(TeamSerializer(many=True))
    def get_teams(self, person: Any) -> Any:
        return TeamSerializer(teams_of(person), many=True).data


@extend_schema(responses=MeSerializer, summary="Who the token or session belongs to")
@api_view(["GET"])
def me(request: Request) -> Response:
    return Response(MeSerializer(request.user).data)


@extend_schema(exclude=True)
@api_view(["GET", "POST", "PUT", "PATCH", "DELETE"])
@authentication_classes([])
@permission_classes([AllowAny])
@throttle_classes([])
def nothing_here(request: Request) -> NoReturn:  # noqa: ARG001  # as REST framework calls it
    """Every address below /api/ that nobody else answers: a problem body, not a page."""
    raise NotFound
