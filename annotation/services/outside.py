"""Ratings that were made elsewhere, by people or models, taken into a study beside its annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from annotation.models import OutsideRater, OutsideRating
from annotation.protocols import Definition
from annotation.services import agreement, log
from annotation.services.log import What
from medbench.errors import InvalidInput
from medbench.formats.csv_text import plain, read_rows
from medbench.formats.json_text import Unreadable
from medbench.formats.problems import Findings, Refused
from medbench.formats.ratings import numbered_ratings
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from annotation.models import Study, StudyItem
    from annotation.protocols import Question
    from medbench.accounts.models import User
    from medbench.formats.csv_text import Numbered

NAME_LONGEST = 120
VERDICTS = ("item_id", "case_id", "annotator")  # columns of our own export of verdicts


class Given(NamedTuple):
    """One answer in a file. `item` is what may name the item there, the surest first."""

    line: int
    item: tuple[str, ...]
    rater: str
    question: str
    value: str


class Imported(NamedTuple):
    """What an import came to: `known` ratings were there already, with the same value."""

    raters: int
    ratings: int
    known: int


@transaction.atomic
def import_ratings(
    study: Study, data: bytes, *, kind: str, question: str = "", file: str = "", by: User | None
) -> Imported:
    """Take the ratings of a CSV file into a study: all of them, or none.

    A ratings table (wide or long) answers one `question`; the file of verdicts that we export brings
    its own. The same file again changes nothing. Raises Refused with every problem by its line.
    """
    if kind not in OutsideRater.Kind.values:
        raise InvalidInput("Say whether people or a model rated.")
    findings = Findings(file)
    new, known = list[OutsideRating](), 0
    try:
        given = _given(study, read_rows(data, findings), question, findings)
        new, known = _checked(study, given, kind, findings)
    except Unreadable:
        pass
    if not findings.problems and not new and not known:
        findings.problem("empty_file", "The file has no rating.")
    if findings.problems:
        raise Refused("The file", findings)
    _store(new)
    raters = len({rating.rater.name for rating in new})
    if new:
        words = f"{len(new):,} ratings of {raters} outside rater{'s' * (raters != 1)} ({kind})"
        log.record(study, What.IMPORTED, f"{words}. {file}".strip(), by=by)
        agreement.verdicts_changed(study)
    return Imported(raters, len(new), known)


def _store(new: list[OutsideRating]) -> None:
    raters = {rating.rater.name: rating.rater for rating in new}
    for rater in raters.values():
        if rater.pk is None:
            rater.save()
    for rating in new:
        rating.rater = raters[rating.rater.name]
    OutsideRating.objects.bulk_create(new, batch_size=500)


# --- What the file says ------------------------------------------------------------------


def _given(study: Study, rows: list[Numbered], question: str, findings: Findings) -> list[Given]:
    """The answers of a file in any of its forms; empty cells are left out."""
    header = [name.casefold() for name in rows[0][1]]
    if set(VERDICTS) <= set(header):
        return _verdicts(study, header, rows[1:], findings)
    known = [each.key for each in Definition.read(study.protocol.definition).questions]
    if question not in known:
        message = f"Say which question the ratings answer: {', '.join(known)}."
        findings.problem("no_question", message)
        raise Unreadable
    return [
        Given(line, (plain(rated.item),), plain(rated.annotator), question, plain(rated.rating))
        for line, rated in numbered_ratings(rows, findings)
        if rated.rating
    ]


def _verdicts(study: Study, header: list[str], rows: list[Numbered], findings: Findings) -> list[Given]:
    questions = [each.key for each in Definition.read(study.protocol.definition).questions]
    answered = [key for key in questions if key in header]
    if not answered:
        message = f"No column is a question of this study: {', '.join(questions)}."
        findings.problem("no_question", message)
        raise Unreadable
    given = []
    for line, row in rows:
        findings.line = line
        if len(row) != len(header):
            message = f"The row has {len(row)} cells, the first row {len(header)}."
            findings.problem("wrong_length", message)
            continue
        cells = dict(zip(header, map(plain, row), strict=True))
        case_id, number = cells["case_id"], cells.get("triplet", "")
        item = (cells["item_id"], f"{case_id}/{number}" if number else case_id)
        given += [Given(line, item, cells["annotator"], key, cells[key]) for key in answered if cells[key]]
    findings.line = None
    return given


# --- Whether it fits the study -----------------------------------------------------------


def _checked(
    study: Study, given: Iterable[Given], kind: str, findings: Findings
) -> tuple[list[OutsideRating], int]:
    """The ratings that are new, unsaved, and how many were known; problems go into `findings`."""
    items = _items(study)
    questions = {each.key: each for each in Definition.read(study.protocol.definition).questions}
    raters = {rater.name: rater for rater in study.outside_raters.all()}
    stored = {
        (rater, item, question): value
        for rater, item, question, value in OutsideRating.objects.filter(rater__study=study).values_list(
            "rater__name", "study_item", "question", "value"
        )
    }
    new: list[OutsideRating] = []
    n_known = 0
    for each in given:
        findings.line = each.line
        item = _item(items, each, findings)
        value = _value(questions[each.question], each.value, findings)
        rater = _rater(study, raters, each.rater, kind, findings)
        if item is None or value is None or rater is None:
            continue
        place = (rater.name, item.pk, each.question)
        if place not in stored:
            stored[place] = value
            new.append(OutsideRating(rater=rater, study_item=item, question=each.question, value=value))
        elif stored[place] == value:
            n_known += 1
        else:
            message = f"“{rater.name}” said “{stored[place]}” of this item already. A rating never changes."
            findings.problem("changed_rating", message, (each.question,))
    findings.line = None
    return new, n_known


def _items(study: Study) -> dict[str, list[StudyItem]]:
    """The items of a study by everything that may name them in a file: the position, the id, the id of
    the case, and for a triplet `case/number`."""
    items: dict[str, list[StudyItem]] = {}
    for each in study.items.select_related("item__case"):
        case_id = each.item.case.case_id if each.item.case else ""
        number = each.item.payload.get("number", "")
        for name in {str(each.position), str(each.item_id), case_id, f"{case_id}/{number}"}:
            items.setdefault(name, []).append(each)
    return items


def _item(items: Mapping[str, list[StudyItem]], given: Given, findings: Findings) -> StudyItem | None:
    for name in given.item:
        found = items.get(name, []) if name else []
        if len(found) == 1:
            return found[0]
        if found:
            message = f"“{name}” can be {len(found)} items of this study. Name the item by its number in it."
            findings.problem("ambiguous_item", message, ("item",))
            return None
    message = f"The study has no item “{given.item[-1]}”. Items are named by number, id, or case/triplet."
    findings.problem("unknown_item", message, ("item",))
    return None


def _value(question: Question, given: str, findings: Findings) -> str | None:
    """The option that is meant, by its value or its words."""
    for option in question.options:
        if given.casefold() in (option.value.casefold(), option.label.casefold()):
            return option.value
    options = ", ".join(option.value for option in question.options)
    findings.problem("not_an_option", f"“{given}” is none of {options}.", (question.key,))
    return None


def _rater(
    study: Study, raters: dict[str, OutsideRater], name: str, kind: str, findings: Findings
) -> OutsideRater | None:
    if not name or len(name) > NAME_LONGEST or not is_storable(name):
        message = f"A rater has a name of at most {NAME_LONGEST} characters."
        findings.problem("missing_field", message, ("annotator",))
        return None
    rater = raters.setdefault(name, OutsideRater(study=study, name=name, kind=kind))
    if rater.kind != kind:
        message = f"“{name}” is in this study as a {rater.get_kind_display().lower()}. Give another name."
        findings.problem("other_kind", message, ("annotator",))
        return None
    return rater
