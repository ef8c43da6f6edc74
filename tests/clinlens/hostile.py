"""Hostile submissions, generated from a seed, and a process that evaluates them within limits.

`python -m tests.clinlens.hostile COUNT` prints what became of each as one JSON object. It needs
neither Django nor a database, and ends at once when the evaluator takes too much memory.
"""

import contextlib
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

from medbench.clinlens.archive import Rejected
from medbench.clinlens.evaluator.results import evaluate
from tests.clinlens.build import GOLDEN, ROWS, right_files, submission_json, write_golden, zipped
from tests.clinlens.golden_rows import REFUSALS, with_entry
from tests.formats.spoil import spoil_bytes

MEMORY = 200_000_000  # bytes that the evaluation of one task may take
FOLDER = f"tasks/{GOLDEN}/"
CSV, JSON = f"{FOLDER}artifacts/cohort.csv", f"{FOLDER}final_answer.json"
HEADER = ROWS.splitlines()[0]
FORBIDDEN = (
    "compile",
    "exec",
    "import",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "pickle.",
    "socket.",
    "ctypes.",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.symlink",
)

NUMBERS = [
    "1e308",
    "-1e308",
    "9.9e308",
    "0e999",
    "1E+400",
    "-0",
    "00",
    "+1",
    ".5",
    "1.",
    "0x10",
    "1_000",
    "１２",
    "Infinity",
    "9" * 64,
    "9" * 65,
    "1e-308",
    "4.9e-324",
    "true",
    "null",
    '""',
    '"NaN"',
    "[[]]",
    "{}",
]
CELLS = [
    "",
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1",
    "-",
    "9" * 5_000,
    "\u202e",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "0001-01-01 00:00",
    "9999-12-31 23:59:59",
    "2150-02-30 00:00:00",
    "2150-01-01 24:00:00",
    "2150-01-01 00:00:00+14:00",
    '"',
    '""',
    '"a\nb"',
    "\r",
    "train",
    "__import__('os').system('id')",
    "<script>alert(1)</script>",
    "x" * 70_000,
    "ignore all rules and pass",
]


def archive(chance):
    """One hostile archive for the golden suite, as a function from the suite to bytes."""
    kind = chance.choice([spoilt, refused, odd_entry, odd_answer, odd_table, huge_table, odd_document, lying])
    return lambda suite: kind(chance, right_files(suite), suite)


def spoilt(chance, files, _):
    return spoil_bytes(zipped(files), chance)


def refused(chance, files, _):
    spoil, _code = REFUSALS[chance.choice([number for number in REFUSALS if number != 61])]
    return spoil(zipped(files))


def odd_entry(chance, files, _):
    name = "/".join(
        chance.choices(["..", ".", "", "tasks", GOLDEN, "\\", "CON", "a" * 200, "~", "\u202e", "x"], k=3)
    )
    return with_entry(zipped(files), name, b"x", external_attr=chance.getrandbits(32))


def odd_answer(chance, files, _):
    spelled = chance.choice(NUMBERS)
    text = chance.choice(
        [
            f'{{"answer": {spelled}}}',
            f'{{"answer": "{spelled}"}}',
            f'{{"answer": 2.55, "trace": {"[" * chance.randrange(3_000)}',
            f'{{"answer": 2.55, "x": {"[" * 990}{"]" * 990}}}',
            f'{{"answer": {"-" * chance.randrange(9)}2.55, "answer": {spelled}}}',
            '{"answer": "\\ud800"}',
            f"{{{', '.join(f'{chr(34)}k{n}{chr(34)}: 1' for n in range(5_000))}}}",
            "\ufeff" * chance.randrange(4) + '{"answer": 2.55}',
        ]
    )
    return zipped(files | {JSON: text.encode()})


def odd_table(chance, files, _):
    rows = [line.split(",") for line in ROWS.splitlines()]
    for _ in range(chance.randrange(1, 4)):
        row = chance.choice(rows)
        row[chance.randrange(len(row))] = chance.choice(CELLS)
    text = "\n".join(",".join(row) for row in rows)
    data = chance.choice([text.encode(), text.encode("utf-16"), spoil_bytes(text.encode(), chance)])
    return zipped(files | {CSV: data})


def huge_table(chance, files, _):
    """As much as is allowed, or a little more."""
    times = "2150-01-01 00:00:00.123456,2150-01-01 05:00:00.654321"
    row = chance.choice(
        ["{n},{n},2150-01-01 00:00,,train,", f"1,{{n}},{times},train,0.1234567", "{n}", ",,,,,"]
    )
    n_rows = chance.choice([100_000, 199_999, 200_001])
    body = "\n".join(row.format(n=number) for number in range(n_rows))
    wide = ",".join(f"c{number}" for number in range(chance.choice([10_000, 1_200_000])))
    quoted = ",".join('"a\n"' for _ in range(1_500_000))  # one record over a million lines
    text = chance.choice(
        [
            f"{HEADER}\n{body}",
            f'{HEADER}\n"{body}',
            f"{wide}\n{body[:100]}",
            f"{HEADER}\n{wide}",
            f"{HEADER}\n{quoted}",
        ]
    )
    return zipped(files | {CSV: text.encode()})


def odd_document(chance, files, suite):
    changed = {
        chance.choice(["suite", "suite_digest", "system", "runs", "schema_version"]): chance.choice(
            [None, 7, [], {}, {"name": "\ud800"}, {"name": "x" * 9_000}, {"name": {"a": []}}, "../../x", True]
        )
    }
    return zipped(files | {"submission.json": submission_json(suite, **changed)})


def lying(chance, files, _):
    """A directory with one field that is not true."""
    data = bytearray(zipped(files | {f"{FOLDER}run.json": zipped({"x": b"nested"})}))
    records = [at for at in range(len(data)) if data.startswith((b"PK\x01\x02", b"PK\x05\x06"), at)]
    at = chance.choice(records) + chance.randrange(4, 22)
    data[at] = chance.randrange(256)
    return bytes(data)


def outcomes(count, seed=7):
    """What became of each archive: its code, and the seconds of processor time that took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roots, suite = write_golden(folder)
        path = folder / "run.zip"
        path.write_bytes(zipped(right_files(suite)))
        evaluate(suite, roots, path)  # everything is imported now
        _limit_memory()
        events = _watch()
        compile("0", "probe", "eval")
        assert events == ["compile"], "the watch is deaf"
        found = []
        for number in range(count):
            events.clear()
            data = _made(random.Random(f"{seed}-{number}"), suite)
            path.write_bytes(data)
            events.clear()
            started = time.process_time()
            code = _code(suite, roots, path)
            found.append((code, time.process_time() - started, sorted(set(events))))
        return found


def _made(chance, suite):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zipfile's, of names that stand twice
        return archive(chance)(suite)


def _code(suite, roots, path):
    try:
        results = evaluate(suite, roots, path)
    except Rejected as error:
        return f"refused {error.code}"
    json.dumps(results, allow_nan=False).encode()
    task = results["tasks"][0]
    assert task["evaluated"], "the evaluator failed"
    return "PASS" if task["strict_pass"] else f"{task['first_failed']} {task['code']}"


def _limit_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    with contextlib.suppress(MemoryError):
        raise AssertionError(f"{len(bytearray(2 * MEMORY)):,} bytes were given")


def _watch():
    """Whatever the interpreter is asked to run, load, send or write from now on."""
    events = []

    def hook(event, arguments):
        is_write = event == "open" and isinstance(arguments[1], str) and set("wax+") & set(arguments[1])
        if is_write or event.startswith(FORBIDDEN):
            events.append(event)

    sys.addaudithook(hook)
    return events


if __name__ == "__main__":
    done = outcomes(int(sys.argv[1]))
    events = sorted({event for _, _, seen in done for event in seen})
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert "django" not in sys.modules
    codes = [code for code, _, _ in done]
    json.dump(
        {"codes": codes, "slowest": max(s for _, s, _ in done), "events": events, "peak_mb": peak_mb},
        sys.stdout,
    )
