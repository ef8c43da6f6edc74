"""What is let in of a stranger's archive or folder, and what refuses it before anything is read."""

import os
import stat
import struct
import zipfile

import pytest

from medbench.clinlens.archive import ENTRIES_MOST, Rejected, Unreadable, open_submission
from tests.clinlens.build import write_folder, write_zip, zipped
from tests.clinlens.golden_rows import with_entry

FILES = {"submission.json": b"{}", "tasks/ICU-PRD-004/final_answer.json": b'{"answer": 1}'}


def admitted(path):
    source = open_submission(path)
    names = set(source.sizes)
    source.close()
    return names


def refusal(tmp_path, data):
    path = tmp_path / "run.zip"
    path.write_bytes(data)
    with pytest.raises(Rejected) as refused:
        open_submission(path)
    return refused.value


def test_an_archive_and_a_folder_hold_the_same(tmp_path):
    for path in (write_zip(tmp_path / "run.zip", FILES), write_folder(tmp_path / "run", FILES)):
        source = open_submission(path)
        assert source.sizes == {name: len(data) for name, data in FILES.items()}
        assert {name: source.read(name, 100) for name in FILES} == FILES
        with pytest.raises(Unreadable, match="file_too_large"):
            source.read("tasks/ICU-PRD-004/final_answer.json", 5)
        source.close()


def test_what_a_file_manager_adds_is_ignored(tmp_path):
    litter = {"__MACOSX/run/._submission.json": b"x", ".DS_Store": b"x", "tasks/.DS_Store": b"x"}
    assert admitted(write_zip(tmp_path / "run.zip", FILES | litter)) == set(FILES)
    assert admitted(write_folder(tmp_path / "run", FILES | litter)) == set(FILES)


def test_one_folder_around_everything_is_ignored(tmp_path):
    around = {f"my-run/{name}": data for name, data in FILES.items()}
    litter = {"__MACOSX/my-run/._submission.json": b"x"}
    assert admitted(write_zip(tmp_path / "run.zip", around | litter)) == set(FILES)
    assert admitted(write_folder(tmp_path / "run", around)) == set(FILES)


def test_the_folder_of_tasks_is_no_folder_around(tmp_path):
    only = {"tasks/ICU-PRD-004/final_answer.json": b"{}"}
    assert admitted(write_zip(tmp_path / "run.zip", only)) == set(only)


@pytest.mark.parametrize(
    "name",
    [
        "C:/x",
        "a//b",
        "./x",
        "a/./b",
        "a/../b",
        ".hidden",
        "-x",
        "a b",
        "x\n",
        "ä.csv",
        f"{'x' * 129}",
        "a/b/c/d/e/f/g",
        "../submission.json",
    ],
)
def test_an_unsafe_path_refuses_the_whole(tmp_path, name):
    error = refusal(tmp_path, with_entry(zipped(FILES), name, b"x"))
    assert error.code == "unsafe_path"
    assert error.message.isprintable()


def test_a_nul_in_a_name_refuses_the_whole(tmp_path):
    """zipfile would cut the name there."""
    data = with_entry(zipped(FILES), "run-json", b"x").replace(b"run-json", b"run\0json")
    assert refusal(tmp_path, data).code == "unsafe_path"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_a_special_entry_refuses_the_whole(tmp_path, kind):
    entry = with_entry(zipped(FILES), "x", b"/etc/passwd", external_attr=(kind | 0o777) << 16)
    assert refusal(tmp_path, entry).code == "special_file"


def test_the_same_name_twice_refuses_the_whole(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zipped([*FILES.items(), ("submission.json", b"[]")])
    assert refusal(tmp_path, data).code == "duplicate_entry"


def spoilt_directory(place, value, size=2):
    """The archive with a field of its first central record changed."""
    data = bytearray(zipped(FILES))
    at = data.index(b"PK\x01\x02") + place
    data[at : at + size] = value.to_bytes(size, "little")
    return bytes(data)


def test_encrypted_entries_are_refused(tmp_path):
    assert refusal(tmp_path, spoilt_directory(8, 1)).code == "encrypted"


@pytest.mark.parametrize("method", [9, 12, 14, 93, 99])
def test_other_methods_of_compression_are_refused(tmp_path, method):
    assert refusal(tmp_path, spoilt_directory(10, method)).code == "compression_method"


def test_too_many_entries_are_refused(tmp_path):
    many = {f"x{number}": b"" for number in range(ENTRIES_MOST + 1)}
    assert refusal(tmp_path, zipped(many)).code == "too_many_entries"


def test_a_directory_that_hides_its_length_is_refused_unread(tmp_path):
    """A million entries counted as two would take the memory before they are counted."""
    many = {f"{number:04}{'x' * 100}": b"" for number in range(9_000)}
    data = bytearray(zipped(FILES | many))
    end = data.rindex(b"PK\x05\x06")
    data[end + 8 : end + 12] = struct.pack("<2H", 2, 2)
    assert refusal(tmp_path, bytes(data)).code == "too_many_entries"


def test_the_64_bit_form_is_refused(tmp_path):
    data = zipped(FILES)
    end = data.rindex(b"PK\x05\x06")
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    assert refusal(tmp_path, data[:end] + locator + data[end:]).code == "archive_unreadable"


def test_too_many_bytes_are_refused(tmp_path):
    path = tmp_path / "run.zip"
    noise = os.urandom(1024) * (20 * 1024)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(13):
            archive.writestr(f"x{number}", noise)
    with pytest.raises(Rejected) as refused:
        open_submission(path)
    assert refused.value.code == "too_large"


def test_entries_that_share_bytes_are_refused(tmp_path):
    """The second record of the directory points at the data of the first."""
    data = bytearray(zipped({"a": b"x" * 500, "b": b"x" * 500}))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = (5).to_bytes(4, "little")
    assert refusal(tmp_path, bytes(data)).code == "overlapping_entries"


def test_an_entry_that_reaches_into_the_directory_is_refused(tmp_path):
    assert refusal(tmp_path, spoilt_directory(20, 10_000, 4)).code == "overlapping_entries"


def test_names_that_differ_in_header_and_directory_spoil_that_file_alone(tmp_path):
    data = zipped(FILES).replace(b"submission.json", b"innocence.json.", 1)
    path = tmp_path / "run.zip"
    path.write_bytes(data)
    source = open_submission(path)
    with pytest.raises(Unreadable, match="unreadable"):
        source.read("submission.json", 100)
    assert source.read("tasks/ICU-PRD-004/final_answer.json", 100)
    source.close()


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06", b"x" * 100_000])
def test_what_is_no_archive_is_refused(tmp_path, data):
    assert refusal(tmp_path, data).code == "archive_unreadable"


def test_an_absent_file_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("absent.zip", "pipe"):
        with pytest.raises(Rejected, match="neither a file nor a folder"):
            open_submission(tmp_path / name)


@pytest.mark.parametrize(
    "make", [lambda at: at.symlink_to("/etc/passwd"), lambda at: at.symlink_to("."), os.mkfifo]
)
def test_a_folder_with_a_link_or_a_pipe_is_refused(tmp_path, make):
    folder = write_folder(tmp_path / "run", FILES)
    make(folder / "tasks" / "x")
    with pytest.raises(Rejected) as refused:
        open_submission(folder)
    assert refused.value.code == "special_file"


def test_a_file_that_became_a_link_is_not_followed(tmp_path):
    folder = write_folder(tmp_path / "run", FILES)
    source = open_submission(folder)
    (folder / "submission.json").unlink()
    (folder / "submission.json").symlink_to("/etc/passwd")
    with pytest.raises(Unreadable):
        source.read("submission.json", 10_000)


def test_nothing_is_unpacked(tmp_path, monkeypatch):
    path = write_zip(tmp_path / "run.zip", FILES | {"tasks/inner.zip": zipped({"x": b"y"})})
    monkeypatch.chdir(tmp_path)
    source = open_submission(path)
    source.read("submission.json", 100)
    source.close()
    assert list(tmp_path.iterdir()) == [path]
