# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""One file as tidy sees it: its lines, and for C++ the same lines without comments and texts."""

import functools
import re

CPP_ENDINGS = (".cc", ".h", ".c")
TOKEN = re.compile(
    r"""(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")"""
    r"|(?P<line>//[^\n]*)"
    r"|(?P<block>/\*.*?\*/)"
    r"""|(?P<text>"(?:\\.|[^"\\\n])*")"""
    r"|(?P<number>\b[0-9](?:'?[0-9A-Za-z_.])*)"
    r"""|(?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL,
)
NOT_NEWLINE = re.compile(r"[^\n]")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?P<open>[<"])(?P<path>[^">]+)[>"]')
TEST_NAME = re.compile(r"_test(?:_\w+)?\.(?:cc|h)$")
REASON = re.compile(r"//\s*tidy:\s*\S")


def blank(match):
    """Comments and the insides of texts become spaces; lines and columns stay where they are."""
    if match.lastgroup == "number":
        return match.group()
    if match.lastgroup in ("text", "char"):
        return match.group()[0] + " " * (len(match.group()) - 2) + match.group()[-1]
    return NOT_NEWLINE.sub(" ", match.group())


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.name = path.rpartition("/")[2]
        self.folders = path.split("/")[:-1]
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()

    def is_cpp(self):
        return self.name.endswith(CPP_ENDINGS)

    def is_header(self):
        return self.name.endswith(".h")

    def is_python(self):
        return self.name.endswith(".py")

    def is_shell(self):
        return self.name.endswith(".sh") or self.lines[:1] in (
            ["#!/usr/bin/env bash"],
            ["#!/bin/sh"],
        )

    def is_code(self):
        return self.is_cpp() or self.is_python() or self.is_shell()

    def is_data(self):
        """Inputs and expected outputs of tests: kept byte for byte."""
        return any(part in ("fixtures", "golden", "corpus") for part in self.folders)

    def is_test(self):
        """A test, or what only tests include (`sim_test_support.h`)."""
        return bool(TEST_NAME.search(self.name)) or self.folders[:1] == ["tests"]

    def room(self):
        """The room of a file in src/, else None."""
        return self.folders[1] if len(self.folders) >= 2 and self.folders[0] == "src" else None

    @functools.cached_property
    def code(self):
        return TOKEN.sub(blank, self.text)

    @functools.cached_property
    def code_lines(self):
        return self.code.split("\n")[: len(self.lines)]

    @functools.cached_property
    def includes(self):
        """(line number, "<" or '"', path)"""
        found = []
        for number, (line, code) in enumerate(zip(self.lines, self.code_lines), 1):
            match = INCLUDE.match(line)
            if match and "include" in code:
                found.append((number, match.group("open"), match.group("path")))
        return found

    def has_reason(self, number):
        """Whether line `number` or the comment above it says why it may break a rule."""
        if REASON.search(self.lines[number - 1]):
            return True
        above = self.lines[number - 2].strip() if number >= 2 else ""
        return above.startswith("//") and bool(REASON.search(above))
