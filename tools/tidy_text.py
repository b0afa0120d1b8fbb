# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Rules about every file of the project: white space, links, machine paths, what must be listed."""

import posixpath
import re

# Written with brackets so that this file is not what it looks for.
MACHINE_PATHS = re.compile(r"(?<![\w.$~}/])/(?:wor[k]|User[s]/\w+|mn[t]/[a-z]/Users)/")
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
INLINE_CODE = re.compile(r"`[^`\n]*`")
MENTION = re.compile(r"(?<![\w./-])docs/[\w./-]+?\.md\b")


def is_in(path, tree):
    return path in tree or any(one.startswith(path.rstrip("/") + "/") for one in tree)


def check_white_space(source, problems):
    if source.text and not source.text.endswith("\n"):
        problems.append((source.path, len(source.lines), "white-space", "no newline at the end"))
    for number, line in enumerate(source.lines, 1):
        if line != "\f" and line != line.rstrip():
            problems.append((source.path, number, "white-space", "blanks at the end of the line"))
        if "\t" in line and source.name not in ("Makefile", ".gitmodules"):
            problems.append((source.path, number, "white-space", "a tab"))


def check_places(root, source, problems):
    own = str(root) + "/" if len(root.parts) > 2 else None
    for number, line in enumerate(source.lines, 1):
        if MACHINE_PATHS.search(line) or (own and own in line):
            problems.append(
                (source.path, number, "machine-path", "an absolute path of one machine")
            )


def check_links(source, tree, problems):
    folder = posixpath.dirname(source.path)
    in_block = False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith("```"):
            in_block = not in_block
        if in_block:
            continue
        for target in LINK.findall(INLINE_CODE.sub("", line)):
            if re.match(r"[a-z]+:|#", target):
                continue
            path = posixpath.normpath(posixpath.join(folder, target.partition("#")[0]))
            if not is_in(path, tree):
                problems.append((source.path, number, "link", f"{target} does not exist"))


def check_mentions(source, tree, problems):
    for number, line in enumerate(source.lines, 1):
        for path in MENTION.findall(line):
            if path not in tree:
                problems.append((source.path, number, "link", f"{path} does not exist"))


def check_commands(by_path, problems):
    commands = [path for path in by_path if re.fullmatch(r"src/cli/\w+_command\.cc", path)]
    smoke = by_path.get("tests/e2e/commands.txt")
    lines = [line for line in smoke.lines if not line.startswith("#")] if smoke else []
    for path in commands:
        word = path.rpartition("/")[2][: -len("_command.cc")]
        # job_submit_command.cc is `nvidb job submit`; a comment names what has no word of its own.
        pattern = re.compile(rf"\b{word}\b|\b{word.replace('_', ' ')}\b")
        if not any(pattern.search(line) for line in lines):
            problems.append((path, 1, "smoke", f"'{word}' has no line in tests/e2e/commands.txt"))


def check_built_tests(by_path, problems):
    """A test that CMake does not know of never fails."""
    for path in by_path:
        if not path.endswith("_test.cc") or re.fullmatch(r"src/\w+/\w+_test\.cc", path):
            continue
        folder, name = posixpath.split(path)
        while folder and f"{folder}/CMakeLists.txt" not in by_path:
            folder = posixpath.dirname(folder)
        lists = by_path.get(f"{folder}/CMakeLists.txt") if folder else None
        if lists is None or (name not in lists.text and "*_test.cc" not in lists.text):
            problems.append((path, 1, "not-built", "no CMakeLists.txt builds this test"))


def check(root, sources, problems, notes):
    by_path = {source.path: source for source in sources}
    for source in sources:
        if source.is_data():
            continue
        check_white_space(source, problems)
        check_places(root, source, problems)
        if source.name.endswith(".md"):
            check_links(source, by_path, problems)
        if source.is_code() and source.folders[:2] != ["tools", "tests"]:
            check_mentions(source, by_path, problems)
    check_commands(by_path, problems)
    check_built_tests(by_path, problems)
