"""Arrays out of ``.npz`` files, which are not trusted."""

from __future__ import annotations

import io
import math
import os
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KINDS = "biufU"
"""Of numpy's types: truth values, whole numbers, floats and text, none of which can run code."""
_MOST_TIMES = 1_032
"""How many times its size compressed data can hold: deflate goes no further."""


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `numpy.savez` wrote, by name.

    No pickle is loaded, and no more memory taken than the file's size warrants.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged, or holds something else than numbers and text.
    """
    path = Path(path)
    with path.open("rb") as file:
        size = path.stat().st_size
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                stated = sum(member.file_size for member in members)
                if stated > _MOST_TIMES * size:
                    raise ValueError(f"{stated:,} bytes cannot stand in a file of {size:,}")
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # of headers in the manner of Python 2
                    arrays = {member.filename: _array(archive.read(member)) for member in members}
        except Exception as error:  # neither zipfile nor numpy say all that they raise
            raise ValueError(f"no arrays can be read: {type(error).__name__}: {error}") from error
    if len(arrays) < len(members):
        raise ValueError("no arrays can be read: two of them have one name")
    return {name.removesuffix(".npy"): array for name, array in arrays.items()}


def _array(data: bytes) -> NDArray[Any]:
    """An array in numpy's own format."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"version {version} of the format: read is (1, 0)")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in _KINDS:
        raise ValueError(f"values of type {dtype}: read are numbers and text")
    content = bytearray(stream.read())
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"{len(content):,} bytes are no {dtype} of the shape {shape}")
    return np.ndarray(shape, dtype, content, order="F" if fortran else "C")
