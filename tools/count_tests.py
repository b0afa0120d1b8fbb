#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Adds up JUnit files of pytest and ctest: a line for each, what failed, then `N passed, N failed`.

    tools/count_tests.py --failed-stages [NAME ...] -- FILE.xml ...

A ctest entry that is a GoogleTest program counts as its cases, by the program's own summary; one
that failed without naming a case (it crashed, a sanitizer spoke at its exit) adds one failure. So
does each named stage: a build that failed, tidy. The exit code is 1 where anything failed or
nothing passed.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below", re.MULTILINE)
FAILED_NAME = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.MULTILINE)
SKIPPED = re.compile(r"^\[  SKIPPED \] (\d+) tests?, listed below", re.MULTILINE)


class Count:
    def __init__(self, passed=0, failed=0, skipped=0, names=()):
        self.passed, self.failed, self.skipped, self.names = passed, failed, skipped, list(names)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.names += other.names


def number(pattern, text):
    """The last such number: a test may print a summary of another program before its own."""
    found = pattern.findall(text)
    return int(found[-1]) if found else 0


def count_case(case):
    name = case.get("name", "?")
    output = case.findtext("system-out") or ""
    bad = case.find("failure") is not None or case.find("error") is not None
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return Count(skipped=1)
    if not PASSED.search(output) and not FAILED.search(output):
        return Count(failed=1, names=[name]) if bad else Count(passed=1)
    failed = number(FAILED, output)
    names = sorted({f"{name}: {case_name}" for case_name in FAILED_NAME.findall(output)})
    if bad and failed == 0:
        failed, names = 1, [f"{name}: failed outside its cases"]
    return Count(number(PASSED, output), failed, number(SKIPPED, output), names)


def count_file(path):
    total = Count()
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (ElementTree.ParseError, OSError) as error:
        return Count(failed=1, names=[f"{path.name}: unreadable ({error})"])
    for case in cases:
        total.add(count_case(case))
    return total


def main(arguments):
    end = arguments.index("--")
    stages, files = arguments[1:end], arguments[end + 1 :]
    total = Count()
    for path in map(pathlib.Path, files):
        if not path.exists():  # a shell's pattern that matched nothing
            continue
        count = count_file(path)
        skipped = f", {count.skipped} skipped" if count.skipped else ""
        print(f"  {path.stem}: {count.passed} passed, {count.failed} failed{skipped}")
        total.add(count)
    total.add(Count(failed=len(stages), names=[f"stage: {name}" for name in stages]))
    for name in total.names:
        print(f"  FAILED {name}")
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
