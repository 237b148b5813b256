"""JSON and arrays that others wrote: read, or refused with the reason, and never run."""

from __future__ import annotations

import io
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from eval.arrays import read_arrays
from uno_env.reading import json_of


def test_json_is_read() -> None:
    assert json_of('{"a": [1, 0.5, null, "\\u00e9 \\ud83d\\ude00"]}') == {
        "a": [1, 0.5, None, "é 😀"]
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"": ' * 100_000, "nested too deeply"),
        ('{"name": "\\ud800"}', r"'\\ud800' is half of a surrogate pair, which is no text"),
        ('{"\\udfff": 1}', "half of a surrogate pair"),
        ("{", "Expecting property name"),
        ("9" * 5_000, "Exceeds the limit"),
    ],
)
def test_json_that_cannot_be_used_is_a_value_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        json_of(text)


ARRAYS = {
    "numbers": np.arange(12).reshape(3, 4),
    "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "flags": np.array([True, False]),
    "text": np.array(["keen", "é"]),
    "one": np.array(7, np.int64),
    "none": np.zeros((0, 5), np.float32),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_are_read_and_may_be_written_on(tmp_path: Path, save) -> None:
    save(tmp_path / "x.npz", **ARRAYS)
    found = read_arrays(tmp_path / "x.npz")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
        found[name][...] = array


def written(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def archive(path: Path, content: bytes, kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as file:
        file.writestr("x.npy", content)
    return path


class Touches:
    """Its pickle makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


GOOD = written(np.arange(3))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD[:-1], "23 bytes are no int64 of the shape (3,)"),
        (GOOD.replace(b"(3,)", b"(9,)"), "24 bytes are no int64 of the shape (9,)"),
        (GOOD.replace(b"(3,), ", b"(-3,),"), "no int64 of the shape (-3,)"),
        (GOOD.replace(b"(3,), }     ", b"(2**70, 0)}"), "ValueError"),
        (GOOD.replace(b"(3,)", b"(3L)"), "created on Python 2"),
        (GOOD.replace(b"{", b"("), "no arrays can be read: "),
        (GOOD.replace(b"<i8", b"<m8"), "timedelta64: read are numbers and text"),
        (b"\x93NUMPY\x02\x00" + GOOD[8:], "version (2, 0) of the format"),
        (b"", "no arrays can be read: "),
        (written(np.zeros(2, [("a", "i4")])), "read are numbers and text"),
    ],
)
def test_arrays_that_are_none_are_a_value_error(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(ValueError, match="no arrays can be read") as caught:
        read_arrays(archive(tmp_path / "x.npz", content))
    assert message in str(caught.value)


def test_files_that_hold_no_arrays_are_a_value_error(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.npz", GOOD)
    whole = path.read_bytes()
    for data in (
        b"",
        b"PK",
        whole[:-30],
        whole[:60] + b"\xff" * 9 + whole[69:],
        GOOD,
        b"\x80\x04.",
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="no arrays can be read"):
            read_arrays(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", GOOD)
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("x.npy", GOOD)
    with pytest.raises(ValueError, match="two of them have one name"):
        read_arrays(path)
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "none.npz")


def test_pickles_in_arrays_are_not_run(tmp_path: Path) -> None:
    evil = np.array([Touches(tmp_path / "ran")], object)
    path = archive(tmp_path / "x.npz", written(evil))
    with pytest.raises(ValueError, match="values of type object: read are numbers and text"):
        read_arrays(path)
    path.write_bytes(pickle.dumps(evil))
    with pytest.raises(ValueError, match="no arrays can be read"):
        read_arrays(path)
    assert not (tmp_path / "ran").exists()


def test_arrays_take_no_more_memory_than_their_file_warrants(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "x.npz", GOOD.replace(b"(3,), }             ", b"(999999999999,)}    ")
    )
    data = bytearray(path.read_bytes())
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"24 bytes are no int64 of the shape \(999999999999,\)"):
        read_arrays(path)
    at = data.rindex(b"PK\x01\x02") + 24  # in the directory: the size it is said to have
    data[at : at + 4] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"2,147,483,648 bytes cannot stand in a file of \d+"):
        read_arrays(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
