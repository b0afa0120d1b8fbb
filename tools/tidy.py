#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The rules of the house, checked: docs/style.md and docs/architecture.md say what they are for.

    tools/tidy.py [FOLDER]     the checkout itself by default; exit code 1 where a rule is broken

Prints `path:line: rule: message`. Sizes are only noted. A line that has a good reason to break a
rule about code says so: `// tidy: REASON`.
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tidy_code  # noqa: E402
import tidy_rooms  # noqa: E402
import tidy_text  # noqa: E402
from tidy_source import Source  # noqa: E402

SKIPPED_FOLDERS = {"build", ".git", "__pycache__", ".pytest_cache", "node_modules"}


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        for name in names:
            yield pathlib.Path(folder, name)


def list_files(root):
    """Paths that belong to the project: git's where it knows, else all but build outputs."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"],
            capture_output=True,
            check=True,
        )
        top = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--show-prefix"], capture_output=True, check=True
        )
        if not top.stdout.strip():
            files = [
                root / name.decode(errors="surrogateescape")
                for name in done.stdout.split(b"\0")
                if name
            ]
            return sorted(path for path in files if path.is_file() and not path.is_symlink())
    except (OSError, subprocess.CalledProcessError):
        pass
    return sorted(path for path in walk(root) if path.is_file() and not path.is_symlink())


def load(root):
    sources = []
    for path in list_files(root):
        content = path.read_bytes()
        if b"\0" not in content:
            sources.append(
                Source(path.relative_to(root).as_posix(), content.decode(errors="replace"))
            )
    return sources


def check(root):
    """(problems, notes), each a list of (path, line, rule, message), sorted."""
    sources = load(root)
    problems, notes = [], []
    for rules in (tidy_rooms, tidy_code, tidy_text):
        rules.check(root, sources, problems, notes)
    return sorted(problems), sorted(notes)


def main(arguments):
    root = pathlib.Path(
        arguments[0] if arguments else pathlib.Path(__file__).parent.parent
    ).resolve()
    problems, notes = check(root)
    for path, line, rule, message in notes:
        print(f"{path}:{line}: note: {rule}: {message}")
    for path, line, rule, message in problems:
        print(f"{path}:{line}: {rule}: {message}")
    print(f"tidy: {len(problems)} problems, {len(notes)} notes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
