"""Options of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        metavar="PATH",
        help="folder of conformance cases to run instead of tests/conformance",
    )
