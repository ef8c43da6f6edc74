"""No file takes the server down: each is registered or refused with a reason, at a bounded cost.

200 mutations of sound files here, and 2,000 in `make test-long`; the same ones every time.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from medbench.slides import child, services
from medbench.slides.child import Child, ChildEnded, ChildPool
from tests.slide_files import CMU
from tests.slides import damage, mutations

SEEDS = (
    "openslide_fixtures/small.svs",
    "openslide_fixtures/boxes.tiff",
    "openslide_fixtures/boxes.png",
    "openslide_fixtures/boxes_0.dcm",
    "small_HE_levels.tiff",
    "small_la.tiff",
    "test_orient6.tif",
    "sm_image.dcm",
    "sm_image_jpegls.dcm",
    "cells.ome.tif",
    "cells-2c.ome.tif",
    "smalltif.tif",
    CMU,
)
CPU_SECONDS, RSS_MB = 2.0, 300


class Cost:
    """What a decoder process has used so far."""

    def __init__(self, pid):
        process = Path("/proc") / str(pid)
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        self.cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        status = (process / "status").read_text().splitlines()
        peak = next((line for line in status if line.startswith("VmHWM")), "VmHWM: 0 kB")
        self.peak_mb = int(peak.split()[1]) / 1024


class Registrar:
    """Looks at files in one decoder after the other, each used until it ends."""

    def __init__(self):
        self.decoder, self.ended, self.registered, self.refused = Child(), 0, 0, {}

    def look(self, path):
        """The answer of registration, and what it cost."""
        before = Cost(self.decoder.pid)
        request = {"do": "look", "path": str(path), "pyramid": None}
        try:
            answer, _ = self.decoder.ask(request, seconds=60)
        except ChildEnded as error:
            self.decoder.close()
            self.decoder, self.ended = Child(), self.ended + 1
            return {"code": error.code, "message": error.message}, None
        after = Cost(self.decoder.pid)
        after.cpu_s -= before.cpu_s
        return answer["refused"], after


@pytest.fixture
def registrar():
    made = Registrar()
    yield made
    made.decoder.close()


def fuzz(real, folder, registrar, count):
    sources = [(name, (real / name).read_bytes(), mutations.entries_of(real / name)) for name in SEEDS]
    warm = folder / "warm.svs"
    warm.write_bytes((real / "openslide_fixtures/small.svs").read_bytes())
    registrar.look(warm)  # the first one pays for the libraries
    for number in range(count):
        name, content, entries = sources[number % len(sources)]
        path = folder / f"CANARY.{name.rpartition('.')[2]}"
        path.write_bytes(mutations.mutated(content, entries, number))
        refused, cost = registrar.look(path)
        label = f"mutation {number} of {name}: {refused}"
        if refused is None:
            registrar.registered += 1
        else:
            registrar.refused[refused["code"]] = registrar.refused.get(refused["code"], 0) + 1
            assert refused["message"].endswith("."), label
            assert "CANARY" not in refused["message"], label
        if cost:
            assert cost.cpu_s <= CPU_SECONDS, f"{label}: {cost.cpu_s} s"
            assert cost.peak_mb <= RSS_MB, f"{label}: {cost.peak_mb} MB"
    # A decoder that ended was refused as well, but each is a surprise: they stay the exception.
    assert registrar.ended <= max(1, count // 100), registrar.refused
    assert registrar.registered > count // 10
    assert len(registrar.refused) > 4


def test_200_hostile_files_are_registered_or_refused(real, tmp_path, registrar):
    fuzz(real, tmp_path, registrar, 200)


@pytest.mark.long
def test_2000_hostile_files_are_registered_or_refused(real, tmp_path, registrar):
    fuzz(real, tmp_path, registrar, 2_000)


def test_others_are_served_while_a_file_breaks_its_decoder(real, tmp_path):
    boxes = real / "openslide_fixtures/boxes.tiff"
    bad = damage.claim(boxes, tmp_path / "x.tiff", TileWidth=32_768, TileLength=32_768)
    pool = ChildPool(2)

    def tile(path):
        request = {"do": "tile", "path": str(path), "level": 0, "column": 0, "row": 0, "stored": {}}
        try:
            return pool.ask(request)[0].get("error")
        except ChildEnded as error:
            return error.code

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(tile, [bad, real / CMU, bad, real / CMU, bad, real / CMU]))
    pool.close()
    assert answers[1::2] == [None] * 3
    assert all(answers[::2])


def test_a_decoder_that_was_killed_is_replaced(real):
    pool = ChildPool(1)
    request = {"do": "tile", "path": str(real / CMU), "level": 0, "column": 0, "row": 0, "stored": {}}
    _, first = pool.ask(request)
    os.kill(pool._idle[0].pid, 9)
    with pytest.raises(ChildEnded):
        pool.ask(request)
    assert pool.ask(request)[1] == first
    pool.close()


def test_a_decoder_is_replaced_after_many_requests(real, monkeypatch):
    monkeypatch.setattr(child, "REQUESTS", 2)
    pool = ChildPool(1)
    request = {"do": "tile", "path": str(real / CMU), "level": 0, "column": 0, "row": 0, "stored": {}}
    pids = set()
    for _ in range(4):
        pool.ask(request)
        pids |= {each.pid for each in pool._idle}
    pool.close()
    assert len(pids) == 2


def test_the_decoder_knows_none_of_our_secrets(real, monkeypatch):
    monkeypatch.setenv("MEDBENCH_SECRET_KEY", "CANARY")
    with Child() as decoder:
        decoder.ask({"do": "look", "path": str(real / CMU), "pyramid": None}, seconds=60)
        assert b"CANARY" not in Path(f"/proc/{decoder.pid}/environ").read_bytes()


def test_a_decoder_ends_with_its_parent(real):
    with Child() as decoder:
        decoder._process.stdin.close()
        assert decoder._process.wait(30) == 0


def test_decoded_tiles_come_from_the_cache_the_second_time(registered, real, slide_dir, monkeypatch):
    slide = registered(real / "openslide_fixtures/boxes.tiff")
    first = services.tile_jpeg(slide, 0, 0, 0)
    monkeypatch.setattr(services, "decoders", None)  # nobody is there to decode
    assert services.tile_jpeg(slide, 0, 0, 0) == first
