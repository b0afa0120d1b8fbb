# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""A person at a terminal: starts the program on one, waits for a prompt, types an answer."""

import pexpect

LIMIT_S = 20  # only a broken program reaches it


def at_terminal(nvidb, *words, columns=100):
    return pexpect.spawn(
        str(nvidb.binary),
        list(words),
        env=nvidb.env,
        encoding="utf-8",
        timeout=LIMIT_S,
        dimensions=(40, columns),
    )


def answer(child, prompt, text):
    child.expect_exact(prompt)
    child.sendline(text)


def ends(child, code):
    """Waits for the end; returns what was said since the last prompt."""
    child.expect(pexpect.EOF)
    said = child.before
    child.close()
    assert child.exitstatus == code, said
    return said
