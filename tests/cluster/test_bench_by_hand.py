# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`cluster.py` on the command line: starting, steering, ending, and dying."""

import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "fakes/cluster/cluster.py"
LIMIT_S = 20


def steer(folder, *words):
    return subprocess.run(
        [sys.executable, PROGRAM, *words, "--folder", folder],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=LIMIT_S,
        check=False,
    )


def start(folder, *words):
    """A running `cluster.py up ...` that has said how to use it; (process, what it said)."""
    child = subprocess.Popen(
        [sys.executable, PROGRAM, "up", *words, "--folder", folder],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said = []
    for line in child.stdout:
        said.append(line)
        if "Ctrl-C" in line:
            return child, "".join(said)
    raise AssertionError(child.stderr.read())


def identity(pid):
    """(pid, start time), as pids are used again; None for a dead one or a zombie."""
    try:
        fields = (
            pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return None
    return None if fields[0] == "Z" else (pid, fields[19])


def family(pid):
    """Every process below `pid`."""
    found = {identity(pid)}
    while True:
        more = {
            identity(int(entry.name))
            for entry in pathlib.Path("/proc").iterdir()
            if entry.name.isdigit() and parent(entry) in {each[0] for each in found}
        } - {None}
        if more <= found:
            return found
        found |= more


def parent(entry):
    try:
        return int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return None


def all_gone(processes):
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if not any(identity(pid) == (pid, ticks) for pid, ticks in processes):
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def running(folder):
    child, said = start(
        folder / "c", "2", "--shell", "dash:2", "--scenario", "none", "--jump", "1:2"
    )
    yield child, said, folder / "c"
    child.kill()
    child.communicate()


def ssh(folder, name, command, *options):
    return subprocess.run(
        ["ssh", "-F", folder / "ssh_config", "-o", "BatchMode=yes", *options, name, command],
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )


def test_verbs_reach_the_running_cluster(running):
    child, said, folder = running
    assert (
        f"export NVIDB_HOME={folder}/nvidb-home\n"
        f"export NVIDB_SSH_COMMAND='ssh -F {folder}/ssh_config'\n" in said
    )
    assert steer(folder, "env").stdout in said

    def rows():
        return [re.split(r"  +", line)[2:7] for line in steer(folder, "status").stdout.splitlines()]

    def told(*sentences):
        for sentence in sentences:
            done = steer(folder, *sentence.split())
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), sentence
        return rows()

    first = ["up", "slow -", "key good", "bash", "no driver"]
    second = ["up", "slow -", "key good", "dash", "no driver"]
    assert rows() == [first, second]
    assert told("freeze 1", "cut 2") == [["frozen", *first[1:]], ["cut", *second[1:]]]
    assert told("thaw 1", "mend 2") == [first, second]
    assert told("down all") == [["down", *first[1:]], ["down", *second[1:]]]
    assert told("up 1,2") == [first, second]
    told("slow 1 30", "hostkey 1 changed", "hostkey 2 unknown", "shell 1 sh")
    assert rows() == [
        ["up", "slow 30 ms", "key changed", "sh", "no driver"],
        ["up", "slow -", "key unknown", "dash", "no driver"],
    ]
    assert [row[2] for row in told("hostkey all good")] == ["key good", "key good"]
    steer(folder, "banner", "2", "keep", "out")
    done = ssh(folder, "node-2", "ls -l /proc/$$/exe")
    assert "dash" in done.stdout and done.stderr == "keep out\n"
    for words, message in (
        (("freeze", "3"), "no node 3"),
        (("fly", "1"), "no verb 'fly'"),
        (("slow", "1"), "wrong"),
        (("thaw",), "which node?"),
        (("down", "x"), "'x' is no node"),
        (("scenario", "1", "no-such"), "no profile 'no-such'"),
        (("scenario", "1", "/no/such.json"), "/no/such.json"),
    ):
        done = steer(folder, *words)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert message in done.stderr, words
    (folder.parent / "s.json").write_text('{"gpus": []}')
    assert steer(folder, "scenario", "1", str(folder.parent / "s.json")).returncode == 0
    assert (folder / "node-1/scenario.json").read_text() == '{\n "gpus": []\n}'
    processes = family(child.pid)
    assert steer(folder, "stop").returncode == 0
    assert child.wait(LIMIT_S) == 0
    assert all_gone(processes)
    done = steer(folder, "status")
    assert done.returncode == 1 and "no cluster runs in" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_properly(folder, number):
    child, _ = start(folder / "c", "1")
    processes = family(child.pid)
    child.send_signal(number)
    assert child.wait(LIMIT_S) == 0
    child.communicate()
    assert all_gone(processes)


def test_kill_9_leaves_no_process(running):
    child, _, folder = running
    job = ssh(folder, "node-1", "setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!")
    session = subprocess.Popen(
        ["ssh", "-F", folder / "ssh_config", "node-2", "sleep 1000"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # Client, its jump and their sshd are up once the far end runs the command.
    end = time.monotonic() + LIMIT_S
    while len(family(child.pid)) < 9 and time.monotonic() < end:
        time.sleep(0.05)
    assert steer(folder, "slow", "1", "5").returncode == 0
    assert steer(folder, "freeze", "2").returncode == 0
    processes = family(child.pid)
    assert identity(int(job.stdout)) in processes
    assert len(processes) >= 8
    child.kill()
    child.wait()
    assert all_gone(processes)
    assert session.wait(LIMIT_S) == 255
    again, _ = start(folder, "1")  # what it left behind is no obstacle
    again.kill()
    again.wait()
    again.communicate()


def test_mistakes_on_the_command_line_are_named(folder):
    for words, message in (
        (("2", "--shell", "elvish"), "no shell 'elvish'"),
        (("1", "--shell", "sh:4"), "no node 4"),
        (("1", "--no-python", "7"), "no node 7"),
        (("x",), "invalid int value"),
    ):
        done = steer(folder / "c", "up", *words)
        assert done.returncode != 0 and message in done.stderr, words
    assert steer(folder / "c", "--help").stdout.startswith("cluster.py up N")
