"""Seeded ways to spoil a file: bytes knocked about, and values replaced by hostile ones."""

import json
from copy import deepcopy

SNIPPETS = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\xe2\x80\xa8",
    b"NaN",
    b"1e999",
    b"9" * 5_000,
    b"[" * 2_000,
    b'{"a":' * 2_000,
    b'"\\ud800"',
    b'"\\u0000"',
    b'","case_id":"x',
    b"\\",
    b'"',
    b"}",
    b"]",
    b",",
]
VALUES = [
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "\0",
    "\ud800",
    "x" * 3_000,
    "../../etc/passwd",
    "slides/none.svs",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    [{}] * 50,
    "TCGA-CR-7395",
]


def spoil_bytes(data, rng):
    """`data` after one to three knocks."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        upto = min(len(data), at + rng.choice([1, 2, 50, 5_000]))
        knock = rng.choice(["cut", "end", "twice", "put", "flip"])
        if knock == "cut":
            data = data[:at] + data[upto:]
        elif knock == "end":
            data = data[:at]
        elif knock == "twice":
            data = data[:upto] + data[at:]
        elif knock == "put":
            data = data[:at] + rng.choice(SNIPPETS) + data[at:]
        else:
            data = data[:at] + bytes(255 - byte for byte in data[at:upto]) + data[upto:]
    return data


def spoil_value(document, rng):
    """A JSON document with one to three values replaced, removed or repeated, at any depth."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 3)):
        inside = document
        while True:
            keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(inside[key], dict | list) and rng.random() < 0.8:
                inside = inside[key]
                continue
            if rng.random() < 0.2:
                del inside[key]
            else:
                inside[key] = deepcopy(rng.choice(VALUES))
            break
    return document
