"""The golden verdicts of the ClinLens design, section 7.1: what is handed in, and what comes of it.

`ROWS` has, by the number of the row, what is changed in a right submission and the verdict: PASS, or
condition and code; then whether it counts as executed, and its warnings.
"""

import io
import zipfile
from typing import NamedTuple

from tests.clinlens.build import COUNT, LABELS, ROWS, answer_json

CSV = "artifacts/cohort.csv"
JSON = "final_answer.json"
HEADER, FIRST, SECOND, THIRD = ROWS.splitlines(keepends=True)


class Row(NamedTuple):
    files: dict  # by name under the task; None takes the file away
    verdict: str
    executed: bool
    warnings: tuple = ()
    asked: object = None  # another kind of answer than the golden task's
    right: str = "2.55"


def answered(value, verdict, *, executed, warnings=(), asked=None, right="2.55"):
    return Row({JSON: answer_json(value)}, verdict, executed, warnings, asked, right)


def written(text, verdict):
    data = text if isinstance(text, bytes) else text.encode()
    return Row({JSON: data}, f"C2 {verdict}", executed=False)


def table(text, verdict, *, executed, warnings=()):
    return Row({CSV: text if isinstance(text, bytes) else text.encode()}, verdict, executed, warnings)


def replaced(old, new, verdict, *, executed):
    assert ROWS.count(old) >= 1, old
    return table(ROWS.replace(old, new, 1), verdict, executed=executed)


def reordered():
    return "".join(f"{','.join(reversed(line.split(',')))}\n" for line in ROWS.splitlines())


def extra_column():
    lines = [f"{line},{'note' if number == 0 else '=cmd()'}" for number, line in enumerate(ROWS.splitlines())]
    return "\n".join(lines) + "\n"


def dropped(column):
    place = HEADER.strip().split(",").index(column)
    lines = [line.split(",") for line in ROWS.splitlines()]
    return "".join(f"{','.join(cells[:place] + cells[place + 1 :])}\n" for cells in lines)


def doubled():
    """The column lact twice."""
    lines = [f"{line},{line.split(',')[-1]}" for line in ROWS.splitlines()]
    return "\n".join(lines) + "\n"


def labelled(label, verdict, *, executed):
    return answered(label, verdict, executed=executed, asked=LABELS, right="Mildly reduced")


VERDICTS = {
    1: Row({}, "PASS", executed=True),
    2: Row({JSON: b'{"answer": 2.555}'}, "PASS", executed=True),
    3: Row({JSON: b'{"answer": 2.5551}'}, "C5 outside_tolerance", executed=True),
    4: answered("2.55", "PASS", executed=True, warnings=("answer_coerced",)),
    5: answered("2.55 mmol/L", "C2 answer_type", executed=False),
    6: answered("255%", "C2 answer_type", executed=False),
    7: answered("2,55", "C2 answer_type", executed=False),
    8: written('{"answer": NaN}', "non_finite_number"),
    9: written('{"answer": -Infinity}', "non_finite_number"),
    10: written('{"answer": 1e999}', "number_out_of_range"),
    11: written('{"answer": 1e-5000}', "number_out_of_range"),
    12: written(f'{{"answer": {"9" * 5000}}}', "number_too_long"),
    13: answered(None, "C2 answer_type", executed=False),
    14: answered(True, "C2 answer_type", executed=False),
    15: answered([2.55], "C2 answer_type", executed=False),
    16: written('{"answer": 9, "answer": 2.55}', "duplicate_json_key"),
    17: written('{"answer": 2.5', "malformed_json"),
    18: written('```json\n{"answer": 2.55}\n```', "malformed_json"),
    19: Row({JSON: b'\xef\xbb\xbf{"answer": 2.55}'}, "PASS", executed=True),
    20: written('{"answer": 2.55}'.encode("utf-16"), "not_utf8"),
    21: written("[" * 200_000, "file_too_large"),
    22: written(f'{{"answer": 2.55, "x": {"[" * 3000}{"]" * 3000}}}', "json_too_deep"),
    23: written('{"value": 2.55}', "answer_missing"),
    24: written('{"answer": 2.55, "task_id": "ICU-PRD-005"}', "task_id_mismatch"),
    25: Row({JSON: None}, "C1 missing_file", executed=False),
    26: Row({CSV: None}, "C1 missing_file", executed=False),
    27: Row({CSV: b""}, "C1 empty_file", executed=False),
    28: table(HEADER, "C3 no_rows", executed=True),
    29: table(HEADER + FIRST + SECOND, "C3 row_count", executed=True),
    30: table(ROWS + FIRST, "C3 duplicate_keys", executed=True),
    31: replaced(",303,", ",304,", "C4 P1_keys", executed=True),
    32: replaced("2151-03-02 09:59:00", "2151-03-02 10:00:00", "C4 P2_window", executed=True),
    33: replaced("2150-01-01 05:00:00", "2149-12-31 23:59:00", "C4 P2_window", executed=True),
    34: replaced(",test,", ",train,", "C4 P3_split", executed=True),
    35: replaced(",3.1", ",4.1", "C4 P4_recompute", executed=True),
    36: table(extra_column(), "PASS", executed=True, warnings=("extra_columns",)),
    37: table(reordered(), "PASS", executed=True),
    38: table(dropped("last_obs"), "C2 missing_column", executed=False),
    39: table(doubled(), "C2 duplicate_column", executed=False),
    40: table(ROWS.rstrip("\n").rpartition(",")[0] + "\n", "C2 ragged_row", executed=False),
    41: replaced(",301,", ",301.0,", "PASS", executed=True),
    42: replaced(",301,", ",3.01e2,", "C2 dtype", executed=False),
    43: replaced(",301,", ",=1+1,", "C2 dtype", executed=False),
    44: replaced("2150-01-01 00:00:00", "2150-01-01 00:00:00Z", "C2 timezone_forbidden", executed=False),
    45: replaced("2150-01-01 00:00:00", "2150-01-01T00:00:00", "PASS", executed=True),
    46: replaced("2150-01-01 00:00:00", "01/01/2150 00:00", "C2 dtype", executed=False),
    47: table(ROWS.rstrip("\n") + "NaN\n", "PASS", executed=True),
    48: replaced(",3.1", ",inf", "C2 dtype", executed=False),
    49: replaced("10000001,", ",", "C2 null_not_allowed", executed=False),
    50: replaced(",test,", ",valid,", "C2 enum", executed=False),
    51: replaced("301", "30\x001", "C2 nul_byte", executed=False),
    52: table(ROWS.replace("\n", "\r\n"), "PASS", executed=True),
    53: table(ROWS.encode().replace(b"train", b"tr\xe4in", 1), "C2 not_utf8", executed=False),
    54: replaced(",train,", f",{'x' * 70_000},", "C2 malformed_csv", executed=False),
    63: labelled('"  mildly  REDUCED. "', "PASS", executed=True),
    64: labelled("Mildly_reduced", "PASS", executed=True),
    65: labelled("Preserved", "C5 wrong_label", executed=True),
    66: labelled("HFmrEF", "C5 label_outside_set", executed=True),
    67: labelled("Mildly reduced or Preserved", "C5 label_outside_set", executed=True),
    68: labelled(2, "C2 answer_type", executed=False),
    69: Row({JSON: b'{"answer": 3.0}'}, "PASS", executed=True, asked=COUNT, right="3"),
    70: Row({JSON: b'{"answer": 3.0000001}'}, "C5 not_integer", executed=True, asked=COUNT, right="3"),
    71: Row({JSON: b'{"answer": -0.0}'}, "PASS", executed=True, asked=COUNT, right="0"),
}


def with_entry(data, name, content, **attributes):
    """The archive with one more entry; attributes are set on its ZipInfo."""
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        for attribute, value in attributes.items():
            setattr(entry, attribute, value)
        archive.writestr(entry, content)
    return stream.getvalue()


# By the number of the row: what is done to a right archive, and the code that refuses it.
REFUSALS = {
    56: (lambda data: with_entry(data, "../../x", b"x"), "unsafe_path"),
    57: (lambda data: with_entry(data, "/etc/x", b"x"), "unsafe_path"),
    58: (lambda data: with_entry(data, "tasks\\x", b"x"), "unsafe_path"),
    59: (
        lambda data: with_entry(data, "tasks/x", b"/etc/passwd", external_attr=0o120777 << 16),
        "special_file",
    ),
    60: (lambda data: with_entry(data, "tasks/ICU-PRD-004/Final_Answer.json", b"{}"), "duplicate_entry"),
    61: (lambda data: with_entry(data, "tasks/zeros", bytes(100 * 1024 * 1024)), "compression_ratio"),
    62: (lambda _: b"not a zip", "archive_unreadable"),
}
