"""Operators' pages: people, teams and their roles. Invitations and tokens are read only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group

from medbench.accounts.models import AnnotatorProfile, ApiToken, Invitation, Membership, Team, User

if TYPE_CHECKING:
    from django.http import HttpRequest

admin.site.unregister(Group)  # roles are memberships


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # takes no type at run time
    """Rows that only services write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ProfileInline(admin.StackedInline):  # type: ignore[type-arg]  # takes no type at run time
    model = AnnotatorProfile


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # takes no type at run time
    list_display = ("username", "name", "email", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("username", "name", "email")
    filter_horizontal = ()
    inlines = (ProfileInline,)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("name", "email", "time_zone")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "name", "email", "password1", "password2")}),)
    readonly_fields = ("last_login", "date_joined")


@admin.register(Team)
class TeamAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # takes no type at run time
    list_display = ("name", "open_to_researchers")


@admin.register(Membership)
class MembershipAdmin(ReadOnly):
    list_display = ("user", "team", "role", "since", "ended_at")
    list_filter = ("role", "team")
    list_select_related = ("user", "team")


@admin.register(Invitation)
class InvitationAdmin(ReadOnly):
    list_display = ("team", "role", "note", "created_by", "expires_at", "accepted_by", "revoked_at")
    list_select_related = ("team", "created_by", "accepted_by")
    exclude = ("secret_sha256",)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    list_display = ("prefix", "user", "name", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    exclude = ("secret_sha256",)
