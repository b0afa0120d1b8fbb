# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Fake clusters for tests: `make_cluster` builds them, every one ends with its test."""

import pathlib
import shutil
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fakes/cluster"))

import cluster as bench  # noqa: E402


@pytest.fixture
def folder():
    """A short folder of one's own: pytest's are longer than a control socket's path may be."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="nvb-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def make_cluster():
    """make_cluster(count, {options}): a running bench.Cluster, closed after the test."""
    made = []

    def make(count, options=None):
        made.append(bench.Cluster(count, None, options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def shared():
    """Three nodes for tests that leave them as they were."""
    with bench.Cluster(3) as made:
        yield made
