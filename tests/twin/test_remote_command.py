# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The command line that starts a collector on a server, under real login shells.

The line is the golden file that src/agent/remote_script_test.cc keeps; the sizes of the scripts are
filled in here, and the test plays the reader: it answers `want` with a script.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import AGENT_PY, BINARY, COLLECTOR_SH, LIMIT_S, ROOT, SIMULATOR, wait_until

SCRIPTS = {"python": AGENT_PY.read_bytes(), "shell": COLLECTOR_SH.read_bytes()}
LINE = (ROOT / "tests/golden/agent/remote_command.txt").read_text().rstrip("\n")
LINE = LINE.replace("PYTHON_BYTES", str(len(SCRIPTS["python"])))
LINE = LINE.replace("SHELL_BYTES", str(len(SCRIPTS["shell"])))
SHELLS = {
    "bash": ["bash"],
    "dash": ["dash"],
    "zsh": ["zsh"],
    "fish": ["fish"],
    "tcsh": ["tcsh"],
    "csh": ["csh"],
    "busybox": ["busybox", "sh"],
}
SHELLS = {name: argv for name, argv in SHELLS.items() if shutil.which(argv[0])}
TOOLS = (
    "sh head dd cat sed awk tr sort ls date sleep getconf uname ps printf uniq seq env kill mv "
    "touch true"
).split()
A6000 = {"model": "RTX A6000", "util_percent": 50}


class Server:
    """A home and a PATH with nothing but what a test puts there."""

    def __init__(self, bench):
        self.bench = bench
        self.home = bench.folder / "home"
        self.home.mkdir()
        for tool in TOOLS:
            (bench.bin / tool).symlink_to(shutil.which(tool))
        bench.env.update(PATH=str(bench.bin), HOME=str(self.home))

    def has_python(self, text=None):
        if text is None:
            (self.bench.bin / "python3").symlink_to(sys.executable)
        else:
            self.bench.program("python3", text)

    def login(self, shell="dash", line=LINE):
        name, *words = SHELLS[shell]
        return self.bench.start(
            [shutil.which(name), *words, "-c", line], cwd=self.home, start_new_session=True
        )


@pytest.fixture
def server(bench):
    return Server(bench)


def answered(collector, scripts=SCRIPTS):
    """The kinds of scripts that were asked for until the hello."""
    wanted = []
    while True:
        message = collector.message()
        assert message, (collector.process.wait(), collector.process.stderr.read())
        if message["type"] == "hello":
            return wanted
        assert message["type"] == "want"
        wanted.append(message["script"])
        collector.send(scripts[message["script"]])


def ours(collector):
    """Pids of the session that is still there."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                words = stat.read().rpartition(")")[2].split()
        except (OSError, NotADirectoryError):
            continue
        if words and words[3] == str(collector.process.pid) and words[0] != "Z":
            found.append(int(entry))
    return found


RC = {
    "bash": ".bashrc",
    "zsh": ".zshenv",
    "fish": ".config/fish/config.fish",
    "tcsh": ".cshrc",
    "csh": ".cshrc",
}
NOISE = {
    "nothing": "",
    "a greeting": 'echo "WELCOME to the cluster"\n',
    "without an end of line": "printf WELCOME\n",
    "both streams": "sh -c 'echo WELCOME; echo WELCOME >&2'\n",
    "much": "seq 1 20000\n",
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE.keys())
@pytest.mark.parametrize("shell", SHELLS)
def test_python_script_under_a_login_shell(server, shell, noise):
    server.has_python()
    server.bench.scenario({"gpus": [A6000]})
    if shell in RC:
        path = server.home / RC[shell]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(noise)
        # bash reads its file for a command only where it takes itself for sshd's.
        server.bench.env.update(
            SSH_CLIENT="127.0.0.1 1 1", SSH_CONNECTION="127.0.0.1 1 127.0.0.1 2", SHLVL="0"
        )
    collector = server.login(shell)
    assert answered(collector) == ["python"]
    assert collector.hello["collector"] == "python"
    assert len(collector.next("sample")["gpus"]) == 1
    assert collector.end() == 0
    assert wait_until(lambda: not ours(collector))
    if noise and shell in ("zsh", "tcsh", "csh", "fish"):
        assert collector.noise[0].strip() != b""


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_script_under_a_login_shell(server, shell):
    collector = server.login(shell)
    assert answered(collector) == ["shell"]
    assert collector.hello["collector"] == "shell"
    assert collector.next("sample")["host"]["mem_total_mb"] > 0
    assert collector.end() == 0
    assert wait_until(lambda: not ours(collector))


def test_shell_script_with_busybox_alone(bench):
    if not shutil.which("busybox"):
        pytest.skip("no busybox")
    for applet in TOOLS:
        (bench.bin / applet).symlink_to(shutil.which("busybox"))
    bench.env.update(PATH=str(bench.bin), HOME=str(bench.folder))
    collector = bench.start([str(bench.bin / "sh"), "-c", LINE], start_new_session=True)
    assert answered(collector) == ["shell"]
    assert collector.next("sample", lambda sample: sample["seq"] > 1)["host"]["cpu_percent"] >= 0
    assert collector.end() == 0
    assert wait_until(lambda: not ours(collector))


# ---- which one ----


@pytest.mark.parametrize("place", ["bin/nvidb", "home/.local/bin/nvidb"])
@pytest.mark.parametrize("shell", SHELLS)
def test_installed_program_comes_first(server, shell, place):
    server.has_python()
    server.bench.scenario({"gpus": [A6000]}, SIMULATOR)
    (server.bench.folder / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(BINARY, server.bench.folder / place)
    collector = server.login(shell)
    if answered(collector):
        pytest.skip("this build's agent has no --protocol")
    assert collector.hello["collector"] == "native"
    collector.next("sample")
    assert collector.end() == 0


def test_python_program_of_the_same_name_is_never_run(server):
    server.has_python()
    trace = server.home / "was-run"
    server.bench.program("nvidb", f"#!/usr/bin/env python3\nopen('{trace}', 'w')\n")
    assert answered(server.login()) == ["python"]
    assert not trace.exists()


# ELF files that are not what we look for.
OTHERS = {
    "another program": "/bin/true",
    "one that fails": "/bin/false",
    "one that complains": "/bin/ls",
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_other_program_of_the_same_name_leads_on(server, other):
    server.has_python()
    shutil.copy(other, server.bench.bin / "nvidb")
    collector = server.login()
    if other == "/bin/true":  # ended as if by order
        assert collector.message() is None and collector.process.wait(timeout=LIMIT_S) == 0
    else:
        assert answered(collector) == ["python"]


def test_file_of_another_machine_leads_on(server):
    server.has_python()
    broken = bytearray(open("/bin/true", "rb").read())
    broken[18:20] = b"\xff\x7f"  # of no processor there is
    (server.bench.bin / "nvidb").write_bytes(broken)
    (server.bench.bin / "nvidb").chmod(0o755)
    assert answered(server.login()) == ["python"]


BROKEN = {
    "fails": "#!/bin/sh\nexit 1\n",
    "is missing a library": "#!/bin/sh\necho no lib >&2\nexit 127\n",
    "stub": "#!/bin/sh\necho install the developer tools\nexit 1\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_python_that_does_not_work_leads_on_to_sh(server, text):
    server.has_python(text.replace("{python}", sys.executable))
    collector = server.login()
    assert answered(collector) == ["shell"]
    assert collector.end() == 0


@pytest.mark.parametrize("version,kind", [((3, 7, 17), "shell"), ((3, 8, 0), "python")])
def test_python_is_new_enough_from_3_8(server, version, kind):
    # Its argv is -S -I -B -u -c CODE and the arguments of CODE.
    play = "import sys; code = sys.argv[6]; sys.argv[:] = ['-c', *sys.argv[7:]]; exec(code)"
    play = play.replace("; exec", f"; sys.version_info = {version}; exec")
    server.has_python(f'#!/bin/sh\nexec {sys.executable} -u -c "{play}" "$@"\n')
    assert answered(server.login()) == [kind]


def pythons():
    """(version, path) of every other Python of this machine."""
    found = {}
    for path in (
        *pathlib.Path("/usr/bin").glob("python3.*"),
        *pathlib.Path.home().glob(".pyenv/versions/*/bin/python3"),
    ):
        done = subprocess.run(
            [path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True
        )
        if done.returncode == 0:
            found[tuple(map(int, done.stdout.split()))] = path
    return sorted(found.items())


def test_other_pythons(server):
    for version, path in pythons():
        (server.bench.bin / "python3").unlink(missing_ok=True)
        (server.bench.bin / "python3").symlink_to(path)
        server.bench.scenario({"gpus": [A6000]})
        collector = server.login()
        assert answered(collector) == ["python" if version >= (3, 8) else "shell"], version
        assert len(collector.next("sample")["gpus"]) == 1 or version < (3, 8)
        assert collector.end() == 0


def test_module_in_the_home_is_not_taken_for_pythons(server):
    server.has_python()
    for name in ("select", "json", "ctypes", "zlib", "_thread"):
        (server.home / f"{name}.py").write_text("raise SystemExit(9)\n")
    collector = server.login()
    assert answered(collector) == ["python"]
    collector.order(type="interval", interval_ms=100)
    collector.next("sample", lambda sample: sample["seq"] > 2)


def test_script_that_crashes_is_followed_by_the_next(server):
    server.has_python()
    scripts = {**SCRIPTS, "python": b"x = y #".ljust(len(SCRIPTS["python"]))}
    assert answered(server.login(), scripts) == ["python", "shell"]


# ---- how it ends ----


@pytest.mark.parametrize("python", [True, False])
@pytest.mark.parametrize("bytes_sent", [0, 1, 3000])
def test_reader_that_goes_before_the_script_is_whole(server, python, bytes_sent):
    if python:
        server.has_python()
    collector = server.login()
    kind = collector.next("want")["script"]
    collector.send(SCRIPTS[kind][:bytes_sent])
    collector.process.stdin.close()
    collector.process.wait(timeout=LIMIT_S)
    assert wait_until(lambda: not ours(collector))


@pytest.mark.parametrize("python", [True, False])
def test_orders_right_behind_the_script_are_not_lost(server, python):
    if python:
        server.has_python()
    collector = server.login()
    kind = collector.next("want")["script"]
    collector.send(
        SCRIPTS[kind]
        + b'nvidb1 {"type":"signal","id":5,"pid":4194000,"start_ticks":0,"signal":9}\n'
    )
    assert collector.next("signal_reply") == {
        "type": "signal_reply",
        "id": 5,
        "error": "no such process",
    }
    collector.order(type="quit")
    assert collector.process.wait(timeout=LIMIT_S) == 0
    assert wait_until(lambda: not ours(collector))


@pytest.mark.parametrize("python", [True, False])
def test_every_process_says_whose_it_is(server, python):
    if python:
        server.has_python()
    collector = server.login()
    answered(collector)
    collector.next("sample")
    found = []
    for pid in ours(collector):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                found.append(cmdline.read().split(b"\0"))
        except OSError:
            pass
    # What sh runs for a moment (sleep, date) is no process of ours.
    found = [
        words
        for words in found
        if words[0].rpartition(b"/")[2] in (b"sh", b"python3", b"python3.11")
    ]
    assert found and all(b"nvidb-agent" in words for words in found)


def test_interval_reaches_the_scripts(server):
    server.has_python()
    collector = server.login(line=LINE.replace("i=1000;", "i=100;"))
    answered(collector)
    first, second = collector.next("sample"), collector.next("sample")
    assert second["at_ms"] - first["at_ms"] < 1000


def test_line_is_one_word_for_a_shell_of_small_words():
    assert len(LINE) < 1024 and "\n" not in LINE


def test_the_line_is_read_alike_by_all_shells(server):
    """Each login shell must hand exactly the same words to sh."""
    server.bench.program("show", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    line = LINE.replace("exec sh -c ", "exec show ", 1)
    seen = {
        name: subprocess.run(
            [*SHELLS[name], "-c", line],
            env=server.bench.env,
            executable=shutil.which(SHELLS[name][0]),
            capture_output=True,
            check=True,
        ).stdout
        for name in SHELLS
    }
    assert len(set(seen.values())) == 1 and seen["dash"].endswith(b"\nnvidb-agent\n")
