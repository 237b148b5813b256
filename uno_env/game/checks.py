"""Checks of values that come from outside: each returns the value as a plain one, or says what is
allowed.

Wrong types are a `TypeError`, values out of range a `ValueError`; a message reads
``num_games=0: allowed is a whole number from 1``.
"""

from __future__ import annotations

import operator
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

MAX_SEED: Final = 2**64 - 1
"""The largest seed of a game; the smallest is 0."""


def whole_number(
    name: str,
    value: object,
    low: int,
    high: int | None = None,
    *,
    of: str = "",
    note: str = "",
    beyond: type[Exception] = ValueError,
) -> int:
    """A Python, numpy or torch integer as an int; True and False are none.

    Args:
        name: what the value is called.
        value: what is to be checked.
        low: the least that is allowed.
        high: the most; None for no limit.
        of: whose it is, if the message should say so.
        note: what the message adds to what is allowed.
        beyond: the error for a number out of range, such as `IndexError`.

    Raises:
        TypeError: not a whole number.
        ValueError: out of range.
    """
    error: type[Exception] = TypeError
    if not isinstance(value, bool):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
        else:
            if low <= number and (high is None or number <= high):
                return number
            error = beyond
    limits = f"from {low}" if high is None else f"from {low} to {high}"
    owner = f" of {of}" if of else ""
    raise error(f"{name}={value!r}{owner}: allowed is a whole number {limits}{note}")


def whole_numbers(
    name: str,
    values: ArrayLike,
    low: int,
    high: int,
    dtype: DTypeLike,
    *,
    beyond: type[Exception] = ValueError,
) -> NDArray[Any]:
    """An array, or a sequence as one, whose entries `whole_number` would all take.

    Args:
        name: what each entry is called.
        values: any shape.
        low: the least that is allowed.
        high: the most.
        dtype: of the result.
        beyond: as for `whole_number`.

    Raises:
        TypeError: an entry that is not a whole number.
        ValueError: an entry out of range.
    """
    # Numbers of a sequence stay as they are: a float array would round the larger ones.
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    integers = array.dtype.kind in "iu"
    suspects = array[(array < low) | (array > high)] if integers else array.ravel()
    for value in suspects.tolist():
        whole_number(name, value, low, high, beyond=beyond)
    return array.astype(dtype)


def one_of(name: str, value: Any, *allowed: Any, note: str = "") -> Any:
    """The one of the values allowed that equals `value` and is of its type.

    Raises:
        ValueError: none is; the message lists them, then the note.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    for option in allowed:
        # True equals 1, but is not meant by it.
        alike = isinstance(plain, bool) == isinstance(option, bool)
        if alike and isinstance(plain, type(option)) and plain == option:
            return option
    raise ValueError(f"{name}={value!r}: allowed is {' or '.join(map(repr, allowed))}{note}")
