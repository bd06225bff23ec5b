"""Databases for the tests, and how many examples hypothesis tries: TANSU_EFFORT is in per cent, as for the C tests."""

import os
from pathlib import Path
from typing import Iterator

import hypothesis
import pytest

import tansu

EFFORT = int(os.environ.get("TANSU_EFFORT", "100"))

hypothesis.settings.register_profile(
    "tansu",
    max_examples=max(5, EFFORT),
    stateful_step_count=40,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("tansu")


@pytest.fixture
def db() -> Iterator[tansu.Database]:
    with tansu.open() as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The path of a database that is yet to be made."""
    return tmp_path / "test.tansu"
