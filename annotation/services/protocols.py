"""Protocols of a team: copied from a built-in one, then changed.

A version with which a study has started never changes: a change of it opens the next version, and
studies go on with theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction

from annotation.drafting import Tree, definition_of, problems_of, tree_of
from annotation.models import Protocol, ProtocolAction, Study
from annotation.protocols import Definition
from medbench.errors import Conflict, InvalidInput
from medbench.review.services import payload_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medbench.accounts.models import Team, User

What = ProtocolAction.What


def digest(protocol: Protocol) -> str:
    """Names the words of a version: whoever saves says which ones they began with."""
    return payload_digest({"title": protocol.title, "definition": protocol.definition})


def is_fixed(protocol: Protocol) -> bool:
    """Whether a study has started with this version."""
    return protocol.studies.exclude(state=Study.State.DRAFT).exists()


def has_newer(protocol: Protocol) -> bool:
    return Protocol.objects.filter(key=protocol.key, version__gt=protocol.version).exists()


@transaction.atomic
def copy_protocol(protocol: Protocol, team: Team, *, title: str, by: User) -> Protocol:
    """Version 1 of a protocol of the team's own, with the words of `protocol`."""
    if not title.strip():
        raise InvalidInput("Give the copy a title of its own.")
    number = Protocol.objects.filter(source__isnull=False).count() + 2
    while Protocol.objects.filter(key=f"{protocol.kind}-{number}").exists():
        number += 1
    tree = tree_of(title.strip(), Definition.read(protocol.definition))
    _refuse_problems(tree)
    try:
        with transaction.atomic():
            copied = Protocol.objects.create(
                key=f"{protocol.kind}-{number}",
                version=1,
                title=tree["title"],
                kind=protocol.kind,
                definition=definition_of(tree),
                team=team,
                source=protocol,
            )
    except IntegrityError:
        raise Conflict("Somebody else copied a protocol at this moment. Copy again.") from None
    _log(copied, What.COPIED, f"from {protocol}", by)
    return copied


@transaction.atomic
def change_protocol(protocol: Protocol, tree: Tree, *, seen: str, by: User) -> Protocol:
    """Give a protocol of a team the words of `tree`; answers the version that has them.

    `seen` is the digest that the change began with. Raises Conflict where somebody changed it
    meanwhile, InvalidInput where the tree has problems.
    """
    # start_study takes the same lock, so no study begins with words that change under it.
    now = Protocol.objects.select_for_update(of=("self",)).get(pk=protocol.pk)
    if now.team_id is None:
        raise Conflict("A built-in protocol stays as it is. Copy it, then change the copy.")
    if has_newer(now) or digest(now) != seen:
        raise Conflict(
            "Somebody else changed this protocol meanwhile. Open it anew and compare.", code="stale"
        )
    _refuse_problems(tree)
    before = tree_of(now.title, Definition.read(now.definition))
    definition = definition_of(tree)
    changes = list(_changes(before, tree))
    if not changes:
        return now
    fixed = is_fixed(now)
    if fixed:
        now = Protocol(key=now.key, version=now.version + 1, kind=now.kind, team=now.team, source=now.source)
    now.title, now.definition = tree["title"], definition
    now.save()
    _log(now, What.VERSION if fixed else What.CHANGED, "\n".join(changes), by)
    return now


def _refuse_problems(tree: Tree) -> None:
    if problems := problems_of(tree):
        raise InvalidInput(f"The protocol cannot be saved yet. {problems[0].message}")


def _log(protocol: Protocol, what: ProtocolAction.What, note: str, by: User) -> None:
    ProtocolAction.objects.create(protocol=protocol, what=what, note=note, person=by)


def _changes(before: Tree, after: Tree) -> Iterator[str]:
    """What differs, one line each: “Faithful, title: Faithful → True to the report”."""
    yield from _fields("", before, after)
    yield from _rows("question", "key", "title", before["questions"], after["questions"])
    for old in before["questions"]:
        new = next((each for each in after["questions"] if each["key"] == old["key"]), None)
        if new is not None:
            yield from _rows(f"{old['title']}, answer", "value", "label", old["options"], new["options"])
    if before["sections"] != after["sections"]:
        yield f"guidelines: {', '.join(each['heading'] for each in after['sections']) or 'none'}"


def _rows(what: str, key: str, name: str, before: list[Tree], after: list[Tree]) -> Iterator[str]:
    old, new = ({each[key]: each for each in rows} for rows in (before, after))
    yield from (f"{what} added: {each[name]}" for each in after if each[key] not in old)
    yield from (f"{what} removed: {each[name]}" for each in before if each[key] not in new)
    kept = [each[key] for each in before if each[key] in new]
    if kept != [each[key] for each in after if each[key] in old]:
        yield f"{what}: order changed"
    for each in kept:
        yield from _fields(f"{what} {old[each][name]}, ", old[each], new[each])


def _fields(where: str, before: Tree, after: Tree) -> Iterator[str]:
    for name, value in before.items():
        if not isinstance(value, list) and value != after[name]:
            yield f"{where}{name}: {_words(value)} → {_words(after[name])}"


def _words(value: Any) -> str:
    return {"": "none", True: "yes", False: "no"}.get(value, str(value))
