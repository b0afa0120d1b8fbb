# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""For every test that runs programs: none may hang the run."""

import signal

import pytest

LIMIT_S = 300  # of one test; only a broken program reaches it

# A run in the background is started with Ctrl-C ignored, and so would be everything it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def limit():
    def give_up(number, frame):
        raise TimeoutError(f"the test took longer than {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
