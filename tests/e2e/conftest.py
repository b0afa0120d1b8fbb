# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""What the tests of the real program share: the program, the simulator, a clean environment.

NVIDB_BINARY names the program (default build/release/nvidb); the simulator lies beside it.
"""

import json
import os
import pathlib
import shlex
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("NVIDB_BINARY", ROOT / "build/release/nvidb")).resolve()
SIMULATOR = BINARY.parent / "lib/nvidb/sim/libnvidia-ml.so.1"
PROFILES = BINARY.parent / "lib/nvidb/sim/profiles"
LIMIT_S = 60  # only a broken program reaches it


def wait_until(condition, limit_s=LIMIT_S):
    """Asks until `condition()` is true; False when that took too long."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Nvidb:
    """Runs the program in a home of its own, with no driver unless a scenario is given."""

    def __init__(self, home):
        self.home = home
        self.binary = BINARY
        self.word = shlex.quote(str(BINARY))  # for shells
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "NVIDB_NVML": str(home / "no-such-library.so"),
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def scenario(self, content, library=SIMULATOR):
        """Cards from now on: a scenario as a dict, or the name of a profile."""
        if isinstance(content, str):
            path = PROFILES / f"{content}.json"
            assert path.exists(), path
        else:
            path = self.home / "scenario.json"
            part = self.home / "scenario.json.part"
            part.write_text(json.dumps(content))
            part.rename(path)
        self.env["NVIDB_NVML"] = str(library)
        self.env["NVIDB_FAKE_NVML"] = str(path)
        return path

    def run(self, *args, env=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run(
            [str(self.binary), *args],
            env={**self.env, **(env or {})},
            timeout=LIMIT_S,
            text=options.pop("text", True),
            **options,
        )

    def start(self, *args, env=None, **options):
        return subprocess.Popen(
            [str(self.binary), *args], env={**self.env, **(env or {})}, **options
        )

    def json(self, *args, env=None, code=0):
        done = self.run(*args, env=env)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout)


@pytest.fixture
def nvidb(tmp_path):
    assert BINARY.exists(), f"{BINARY} is not built"
    return Nvidb(tmp_path)


def agents_of(marker):
    """Pids of collectors whose environment holds `marker`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            environ = (entry / "environ").read_bytes()
            state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"nvidb-agent" in command and marker.encode() in environ and state != "Z":
            found.append(int(entry.name))
    return found
