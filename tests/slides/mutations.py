"""Hostile slides by the thousand: sound files cut, flipped, and made to claim what is not so. Seeded."""

import random
import struct

import tifffile

EXTREMES = (0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFF0, 0x8000_0000, 65_535)


def mutated(content, entries, number):
    """Mutation `number` of a file: always the same one."""
    chance = random.Random(number)
    kind = chance.choice(KINDS if entries else KINDS[:3])
    data = bytearray(content)
    kind(data, entries, chance)
    return bytes(data)


def cut(data, _entries, chance):
    del data[chance.randrange(1, len(data)) :]


def flip(data, _entries, chance):
    for _ in range(chance.choice((1, 4, 16, 64))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def flip_start(data, _entries, chance):
    """Headers and directories are short: bytes there are hit too seldom by chance."""
    for _ in range(chance.choice((1, 3, 9))):
        data[chance.randrange(min(len(data), 512))] = chance.randrange(256)


def claim(data, entries, chance):
    """An absurd count, offset or value in an entry of a directory."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.choice(entries["entries"]) + chance.choice((4, 8))
        value = chance.choice((*EXTREMES, len(data), len(data) - 1, at, chance.randrange(2**32)))
        _write(data, at, value, entries["order"])


def retype(data, entries, chance):
    at = chance.choice(entries["entries"])
    struct.pack_into(entries["order"] + "H", data, at + chance.choice((0, 2)), chance.randrange(65_536))


def loop(data, entries, chance):
    """A chain of directories that comes back to where it was, or leads into the pixels."""
    target = chance.choice([*entries["directories"], chance.randrange(len(data))])
    _write(data, chance.choice(entries["links"]), target, entries["order"])


KINDS = (cut, flip, flip_start, claim, claim, claim, retype, loop)


def _write(data, at, value, order):
    if at + 4 <= len(data):
        struct.pack_into(order + "I", data, at, value & 0xFFFF_FFFF)


def entries_of(path):
    """Where the directories of a TIFF, their entries and their links to the next one stand; {} for
    other files, and for BigTIFF, whose entries are longer."""
    try:
        with tifffile.TiffFile(path) as tiff:
            if tiff.is_bigtiff:
                return {}
            pages = list(tiff.pages)
            return {
                "order": tiff.byteorder,
                "directories": [page.offset for page in pages],
                "entries": [tag.offset for page in pages for tag in page.tags],
                "links": [page.offset + 2 + 12 * len(page.tags) for page in pages] + [4],
            }
    except tifffile.TiffFileError:
        return {}
