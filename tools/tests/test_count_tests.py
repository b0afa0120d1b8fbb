# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The last line of `./dev test` is only worth something if it is true."""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "count_tests.py"


def case(name, output="", child=""):
    return f'<testcase name="{name}">{child}<system-out>{output}</system-out></testcase>'


def count(tmp_path, cases, stages=()):
    """(exit code, last line, all lines)"""
    path = tmp_path / "some.xml"
    path.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    words = [sys.executable, str(PROGRAM), "--failed-stages", *stages, "--", str(path)]
    done = subprocess.run(words, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return done.returncode, lines[-1], lines


FAILURE = '<failure message="x"/>'


@pytest.mark.parametrize(
    "cases,code,last",
    [
        ([case("a"), case("b")], 0, "2 passed, 0 failed"),
        ([case("a"), case("b", child=FAILURE)], 1, "1 passed, 1 failed"),
        ([case("a"), case("b", child="<error/>")], 1, "1 passed, 1 failed"),
        ([case("a"), case("b", child="<skipped/>")], 0, "1 passed, 0 failed"),
        ([case("unit.a", "[  PASSED  ] 12 tests.\n")], 0, "12 passed, 0 failed"),
        ([case("unit.a", "[  PASSED  ] 1 test.\n")], 0, "1 passed, 0 failed"),
        # Of another program, printed by a test of this one.
        ([case("u", "[  PASSED  ] 3 tests.\nb\n[  PASSED  ] 5 tests.\n")], 0, "5 passed, 0 failed"),
        # A crash in the middle, and a sanitizer that speaks after the summary.
        ([case("unit.a", "[ RUN      ] A.B\n", FAILURE)], 1, "0 passed, 1 failed"),
        ([case("unit.a", "[  PASSED  ] 9 tests.\n", FAILURE)], 1, "9 passed, 1 failed"),
        ([], 1, "0 passed, 0 failed"),
    ],
)
def test_counts(tmp_path, cases, code, last):
    assert count(tmp_path, cases)[:2] == (code, last)


def test_googletest_failures_are_named(tmp_path):
    output = (
        "[  FAILED  ] A.B (1 ms)\n[  PASSED  ] 5 tests.\n[  SKIPPED ] 1 test, listed below:\n"
        "[  SKIPPED ] A.D\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.B\n"
        "[  FAILED  ] X/A.C/1, where GetParam() = 3\n"
    )
    code, last, lines = count(tmp_path, [case("unit.a", output, FAILURE)])
    assert (code, last) == (1, "5 passed, 2 failed")
    assert "  some: 5 passed, 2 failed, 1 skipped" in lines
    assert "  FAILED unit.a: A.B" in lines
    assert "  FAILED unit.a: X/A.C/1" in lines


def test_a_failed_stage_is_a_failure(tmp_path):
    code, last, lines = count(tmp_path, [case("a")], ["build dev"])
    assert (code, last) == (1, "1 passed, 1 failed")
    assert "  FAILED stage: build dev" in lines


def test_an_unreadable_file_is_a_failure(tmp_path):
    (tmp_path / "other.xml").write_text("<testsuite>")
    words = [sys.executable, str(PROGRAM), "--failed-stages", "--", str(tmp_path / "other.xml")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "0 passed, 1 failed")


def test_a_pattern_that_matched_nothing_is_no_file(tmp_path):
    words = [sys.executable, str(PROGRAM), "--failed-stages", "--", str(tmp_path / "*.xml")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "0 passed, 0 failed\n")
