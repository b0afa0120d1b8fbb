# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Starts a node's first process (cluster_init.py) and talks to it."""

import json
import os
import pathlib
import select
import subprocess
import sys

from cluster_options import ClusterError
from cluster_tools import SYSTEM_PATH

HERE = pathlib.Path(__file__).resolve().parent
ANSWER_LIMIT_S = 30
LINE_LIMIT_BYTES = 1 << 20


class InitClient:
    """The bench's end of a node's first process (cluster_init.py)."""

    def __init__(self, options):
        self.child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(HERE / "cluster_init.py"), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
            env={"PATH": SYSTEM_PATH, "LANG": "C.UTF-8"},
        )
        self.pid = self.child.pid

    def send(self, **request):
        try:
            self.child.stdin.write(json.dumps(request).encode() + b"\n")
            self.child.stdin.flush()
        except OSError as error:
            raise ClusterError(f"the node's first process is gone: {error}") from error

    def answer(self):
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self.child.stdout], [], [], ANSWER_LIMIT_S)[0]:
                raise ClusterError("the node's first process does not answer")
            data = os.read(self.child.stdout.fileno(), 65536)
            line += data
            if not data or len(line) > LINE_LIMIT_BYTES:
                raise ClusterError("the node's first process ended")
        reply = json.loads(line)
        if not reply.pop("ok"):
            raise ClusterError(reply["error"])
        return reply

    def ask(self, **request):
        self.send(**request)
        return self.answer()

    def close(self):
        if self.child.stdin.closed:
            return
        try:
            self.child.stdin.close()
        except OSError:
            pass

    def wait(self):
        try:
            self.child.wait(ANSWER_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()
