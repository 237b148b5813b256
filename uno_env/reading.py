"""Reading JSON that others wrote: whatever is wrong with it comes as one kind of error."""

from __future__ import annotations

import json
from typing import Any


def json_of(text: str) -> Any:
    """The value of a JSON text, all of whose text can be written again.

    Raises:
        ValueError: it is no JSON, is nested too deeply, or holds half of a surrogate pair, which is
            no text in UTF-8.
    """
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"{half} is half of a surrogate pair, which is no text") from None
    return value
