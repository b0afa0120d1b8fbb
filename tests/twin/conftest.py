# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""What the tests of the collectors share: how one is started, read and compared with another.

NVIDB_BINARY names the program (default build/release/nvidb); the simulator lies beside it. What is
tested of the scripts is src/agent/remote as it lies in the tree.
"""

import importlib.util
import json
import os
import pathlib
import select
import stat
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("NVIDB_BINARY", ROOT / "build/release/nvidb")).resolve()
SIMULATOR = BINARY.parent / "lib/nvidb/sim/libnvidia-ml.so.1"
PROFILES = ROOT / "fakes/nvml/profiles"
REMOTE = ROOT / "src/agent/remote"
AGENT_PY, COLLECTOR_SH = REMOTE / "agent.py", REMOTE / "collector.sh"
MARK = b"nvidb1 "
LIMIT_S = 60  # only a broken program reaches it
PYTHON = [sys.executable, "-S", "-I", "-B", "-u", str(AGENT_PY)]


def wait_until(condition, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Collector:
    """A running one. `noise` is what it printed without our mark."""

    def __init__(self, argv, env, **options):
        self.noise, self.inventory, self.hello = [], None, None
        self.process = subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self.rest = b""

    def bytes_line(self):
        """The next line of any kind; b"" at the end of the stream."""
        end = time.monotonic() + LIMIT_S
        while b"\n" not in self.rest:
            ready, _, _ = select.select(
                [self.process.stdout], [], [], max(0, end - time.monotonic())
            )
            assert ready, "nothing came"
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                return b""
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return line + b"\n"

    def message(self):
        """The next message; None at the end of the stream."""
        while True:
            line = self.bytes_line()
            if not line:
                return None
            assert len(line) <= 1 << 20
            if not line.startswith(MARK):
                self.noise.append(line)
                continue
            message = json.loads(line[len(MARK) :].decode())  # strict UTF-8
            if message["type"] == "inventory":
                self.inventory = message
            if message["type"] == "hello":
                self.hello = message
            return message

    def next(self, kind, is_it=lambda message: True):
        for _ in range(2000):
            message = self.message()
            assert message is not None, (
                f"no {kind}",
                self.process.wait(),
                self.process.stderr.read(),
            )
            if message["type"] == kind and is_it(message):
                return message
        raise AssertionError(f"no {kind}")

    def send(self, raw):
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def order(self, **fields):
        self.send(MARK + json.dumps(fields, separators=(",", ":")).encode() + b"\n")

    def end(self):
        """The exit code after stdin ended, which must come by itself."""
        self.process.stdin.close()
        return self.process.wait(timeout=LIMIT_S)


class Bench:
    """Starts collectors on the same scenario; ends what is left."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "NVIDB_NVML": str(folder / "no-such-library.so"),
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def scenario(self, content, library=SIMULATOR):
        """Cards from now on; `content` is a scenario or the name of a profile, which then stands
        still."""
        if isinstance(content, str):
            content = {"time_s": 1000, **json.loads((PROFILES / f"{content}.json").read_text())}
        path, part = self.folder / "scenario.json", self.folder / "scenario.part"
        part.write_text(json.dumps(content))
        part.rename(path)
        self.env["NVIDB_NVML"], self.env["NVIDB_FAKE_NVML"] = str(library), str(path)

    def older_library(self, *words):
        out = self.folder / "libnvidia-ml.so.1"
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "fakes/nvml/hide_symbols.py"),
                str(SIMULATOR),
                str(out),
                *words,
            ],
            check=True,
        )
        return out

    def program(self, name, text):
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def smi(self, text):
        """nvidia-smi is a shell script of this text from now on."""
        return self.program("nvidia-smi", "#!/bin/sh\n" + text)

    def smi_prints(self, raw):
        (self.folder / "smi.txt").write_bytes(raw)
        self.smi(f"cat '{self.folder}/smi.txt'\n")

    def start(self, argv, **options):
        self.running.append(Collector(argv, self.env, **options))
        return self.running[-1]

    def native(self, *words):
        return self.start([str(BINARY), "agent", *words])

    def python(self, *words, argv=PYTHON):
        return self.start([*argv, *words, "nvidb-agent"])

    def both(self, interval_ms=100):
        return (self.native("--interval", str(interval_ms / 1000)), self.python(str(interval_ms)))

    def shell(self, interval_ms=1000, shell=("dash",), text=None):
        text = text or COLLECTOR_SH.read_text()
        return self.start([*shell, "-c", f"i={interval_ms};{text}", "nvidb-agent"])

    def close(self):
        for one in self.running:
            one.process.kill()
            one.process.wait()
            for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
                stream.close()


@pytest.fixture
def bench(tmp_path):
    assert BINARY.exists(), f"{BINARY} is not built"
    bench = Bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture(scope="session")
def agent_py():
    """agent.py as a module."""
    spec = importlib.util.spec_from_file_location("nvidb_agent_py", AGENT_PY)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


HOST_OF_THE_MOMENT = {"cpu_percent", "load1", "mem_used_mb", "swap_used_mb", "uptime_s"}
PROCESS_OF_THE_MOMENT = {"cpu_percent", "elapsed_s"}


def masked(message):
    """The message without what differs from moment to moment; that such a key is there stays."""
    message = json.loads(json.dumps(message))
    for key in ("at_ms", "read_ms", "seq", "pid", "collector"):
        if key in message:
            message[key] = "*"
    for key in HOST_OF_THE_MOMENT & set(message.get("host", ())):
        message["host"][key] = "*"
    for gpu in message.get("gpus", ()):
        for process in gpu.get("processes", ()):
            if process["pid"] <= 4194304:  # a real one
                for key in PROCESS_OF_THE_MOMENT & set(process):
                    process[key] = "*"
    return message


def talk(collector):
    """All that a collector says until it ends by itself, masked; inventories as they changed."""
    said = []
    while True:
        message = collector.message()
        if message is None:
            break
        said.append(masked(message))
    assert collector.process.wait(timeout=LIMIT_S) == 0, collector.process.stderr.read()
    return said
