"""final_answer.json: read strictly, its numbers kept as the decimals that stand there.

Source of the rules: ClinLens design, sections 4.4 and 4.7.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any, NoReturn

from medbench.clinlens.evaluator.failure import Failed
from medbench.clinlens.labels import normalised
from medbench.clinlens.manifest import CategoricalAnswer, NumericAnswer

if TYPE_CHECKING:
    from medbench.clinlens.private import ReferenceAnswer

JSON_BYTES = 64 * 1024
BRACKETS_MOST = 2_000
NUMBER_CHARACTERS = 64
EXPONENT_MOST = 308
LABEL_CHARACTERS = 256
DIGITS = 1_000  # enough to subtract exactly whatever may come in

_PLAIN_DECIMAL = re.compile(r"-?[0-9]{1,60}(\.[0-9]{1,60})?")

Answer = Decimal | str


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """A parsed answer: a decimal, or a label as it was written. `warnings` are codes."""

    value: Answer
    trace: Any = None
    warnings: tuple[str, ...] = ()


def parse_json(data: bytes) -> Any:
    """The value of a small JSON file, numbers as Decimal; raises Failed."""
    if len(data) > JSON_BYTES:
        raise Failed("file_too_large", f"More than {JSON_BYTES:,} bytes.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failed("not_utf8", "The file is not UTF-8 text.") from error
    if text.count("[") + text.count("{") > BRACKETS_MOST:
        raise Failed("json_too_deep", f"More than {BRACKETS_MOST:,} brackets.")
    try:
        return json.loads(
            text,
            parse_constant=_no_constant,
            parse_int=_number,
            parse_float=_number,
            object_pairs_hook=_unique,
        )
    except RecursionError as error:
        raise Failed("json_too_deep", "Lists and objects are nested too deep.") from error
    except json.JSONDecodeError as error:
        message = f"Line {error.lineno}, column {error.colno}: {error.msg}."
        raise Failed("malformed_json", message) from error


def parse_answer(data: bytes, task_id: str, asked: NumericAnswer | CategoricalAnswer) -> FinalAnswer:
    """The answer of a final_answer.json to what the manifest asks; raises Failed."""
    found = parse_json(data)
    if not isinstance(found, dict):
        raise Failed("answer_not_object", 'It must be an object with the field "answer".')
    if "answer" not in found:
        raise Failed("answer_missing", 'The field "answer" is missing.')
    if found.get("task_id") is not None and found["task_id"] != task_id:
        raise Failed("task_id_mismatch", "The file names another task.")
    is_number = isinstance(asked, NumericAnswer)
    value, warnings = (_numeric if is_number else _label)(found["answer"])
    return FinalAnswer(value, found.get("trace"), warnings)


def judge(value: Answer, reference: ReferenceAnswer, asked: NumericAnswer | CategoricalAnswer) -> str:
    """The code of condition 5, "" where it is met."""
    if isinstance(asked, CategoricalAnswer):
        return _judge_label(str(value), reference.answer, asked)
    assert isinstance(value, Decimal)
    if asked.integer:
        if value != value.to_integral_value():
            return "not_integer"
        return "" if value == Decimal(reference.answer) else "outside_tolerance"
    is_near = within(value, Decimal(reference.answer), reference.abs_tol, reference.rel_tol)
    return "" if is_near else "outside_tolerance"


def within(value: Decimal, reference: Decimal, abs_tol: Decimal, rel_tol: Decimal = Decimal(0)) -> bool:
    """Whether |value - reference| <= max(abs_tol, rel_tol x |reference|), exactly."""
    with localcontext() as context:
        context.prec = DIGITS
        return abs(value - reference) <= max(abs_tol, rel_tol * abs(reference))


def _judge_label(label: str, right: str, asked: CategoricalAnswer) -> str:
    given = normalised(label)
    if given == normalised(right):
        return ""
    return "wrong_label" if given in map(normalised, asked.labels) else "label_outside_set"


def _numeric(value: Any) -> tuple[Decimal, tuple[str, ...]]:
    if isinstance(value, Decimal):
        return value, ()
    if isinstance(value, str) and _PLAIN_DECIMAL.fullmatch(value):
        return Decimal(value), ("answer_coerced",)
    raise Failed("answer_type", 'The field "answer" must be a plain number, without unit or separators.')


def _label(value: Any) -> tuple[str, tuple[str, ...]]:
    if isinstance(value, str) and value.strip() and len(value) <= LABEL_CHARACTERS:
        return value, ()
    raise Failed("answer_type", 'The field "answer" must be one of the labels, as text.')


def _no_constant(name: str) -> NoReturn:
    raise Failed("non_finite_number", f"{name} is not a number in JSON.")


def _number(text: str) -> Decimal:
    if len(text) > NUMBER_CHARACTERS:
        raise Failed("number_too_long", f"A number has more than {NUMBER_CHARACTERS} characters.")
    value = Decimal(text)
    if abs(value.adjusted()) > EXPONENT_MOST:
        raise Failed("number_out_of_range", "A number is too large or too small.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Failed("duplicate_json_key", "A key stands twice in one object.")
    return found
