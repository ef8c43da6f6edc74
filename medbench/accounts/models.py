"""Who is here: users, the teams around benchmarks, invitations and API tokens."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Value
from django.db.models.functions import Lower
from django.db.models.lookups import Exact
from django.utils import timezone
from django.utils.functional import cached_property

from medbench.accounts.permissions import Role


class People(UserManager["User"]):
    """Finds whoever signs in, by name or e-mail, in any case of letters."""

    use_in_migrations = False

    def get_by_natural_key(self, username: str | None) -> User:
        field = "email" if "@" in (username or "") else "username"
        # By LOWER, as the constraints: iexact compares by UPPER, where ı and i are one letter.
        return self.get(Exact(Lower(field), Lower(Value(username))))


class User(AbstractUser):
    """A person who signs in. Superusers are site curators: curator of every team."""

    class Theme(models.TextChoices):
        SYSTEM = "system", "As the system"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    first_name = None  # type: ignore[assignment]  # one full name, as the person writes it
    last_name = None  # type: ignore[assignment]  # likewise
    username = models.CharField(
        "sign-in name",
        max_length=150,
        unique=True,
        error_messages={"unique": "This sign-in name is taken."},
        help_text="Letters, digits, dot, hyphen and underscore.",
        # No @: a sign-in name must never be somebody else's e-mail address.
        validators=[RegexValidator(r"^[\w.-]+\Z", "Use only letters, digits, dot, hyphen and underscore.")],
    )
    name = models.CharField("full name", max_length=150)
    email = models.EmailField("e-mail", blank=True)
    theme = models.CharField(max_length=8, choices=Theme, default=Theme.SYSTEM)
    compact_tables = models.BooleanField(default=False)
    single_key_shortcuts = models.BooleanField(default=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    mail_about_work = models.BooleanField(default=True)  # where the site can send mail
    panes = models.JSONField(default=dict, blank=True)  # pane sizes by page, in px

    objects: ClassVar[People] = People()

    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        constraints = (
            models.UniqueConstraint(
                Lower("username"),
                name="username_unique",
                violation_error_message="This sign-in name is taken.",
            ),
            models.UniqueConstraint(
                Lower("email"),
                condition=~models.Q(email=""),
                name="user_email_unique",
                violation_error_message="Someone with this e-mail address is registered already.",
            ),
        )

    def __str__(self) -> str:
        return self.name or self.username

    @cached_property
    def roles_by_team(self) -> dict[int, frozenset[str]]:
        """Team id -> roles held now; read once for each user object, that is once a request."""
        held: dict[int, set[str]] = {}
        for team, role in self.memberships.filter(ended_at=None).values_list("team_id", "role"):
            held.setdefault(team, set()).add(role)
        return {team: frozenset(roles) for team, roles in held.items()}

    def get_full_name(self) -> str:
        return str(self)

    def get_short_name(self) -> str:
        return str(self)


class AnnotatorProfile(models.Model):
    """What an annotator brings: agreement can later be split by it."""

    class Background(models.TextChoices):
        STUDENT = "student", "Student with a background in pathology"
        PATHOLOGIST = "pathologist", "Pathologist"
        OTHER = "other", "Other"

    user = models.OneToOneField(User, models.CASCADE, related_name="annotator_profile")
    background = models.CharField(max_length=16, choices=Background)
    field = models.CharField("subspecialty or field", max_length=120, blank=True)
    years = models.PositiveSmallIntegerField("years of experience", null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.user}: {self.get_background_display()}"


class Team(models.Model):
    """The people around one benchmark or suite, with their roles."""

    name = models.CharField(max_length=200)
    # Any signed-in user counts as a researcher here, and visitors may read the boards.
    open_to_researchers = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One role of one person in one team. Rows are ended, not deleted: whoever once could see
    held-out references keeps that conflict of interest."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role)
    since = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("team", "user", "role"), name="membership_once"),)

    def __str__(self) -> str:
        return f"{self.user} is {self.role} in {self.team}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> InvitationQuerySet:
        """Those that can still be accepted."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


class Invitation(models.Model):
    """A link that makes whoever opens it first a member with a role. The secret is stored hashed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=16, choices=Role)
    note = models.CharField("for whom", max_length=120, blank=True)
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.role} in {self.team} for {self.note or 'anyone'}"


class Attempt(models.Model):
    """One recent attempt at something that can be guessed; `attempts` counts and forgets them."""

    key = models.CharField(max_length=64)  # keyed hash of what was tried, by whom, from where
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = (models.Index(fields=("key", "at"), name="attempt_key_at"),)

    def __str__(self) -> str:
        return f"{self.key[:8]} at {self.at}"


class ApiToken(models.Model):
    """A bearer token for scripts. Shown once when made; only its SHA-256 is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField("what it is for", max_length=80)
    prefix = models.CharField(max_length=12)  # its first characters, so that it can be told apart
    secret_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"
