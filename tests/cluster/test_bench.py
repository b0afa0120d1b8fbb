# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The bench itself: what a node is, and that each verb does what other tests will rely on.

Plain ssh and sh only; nvidb and the simulator need not be built.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

import cluster as bench

LIMIT_S = 20  # only a broken bench reaches it
TIMEOUT = ("-o", "ConnectTimeout=1")


def _mounts_are_allowed():
    return (
        os.geteuid() == 0
        and subprocess.run(
            ["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False
        ).returncode
        == 0
    )


def wait_until(condition, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def state_of(pid):
    try:
        return (
            pathlib.Path(f"/proc/{pid}/stat")
            .read_text(errors="replace")
            .rpartition(")")[2]
            .split()[0]
        )
    except OSError:
        return None


def open_session(node, command="echo ready; cat"):
    """A connection that stays; its first line has come."""
    session = subprocess.Popen(
        ["ssh", "-F", str(node.cluster.ssh_config), "-o", "BatchMode=yes", node.name, command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert session.stdout.readline() == "ready\n"
    return session


def detached_counter(node):
    """A process that survives its login and writes on and on; (its pid, a function that counts)."""
    script = "while :; do echo; sleep 0.02; done"
    pid = node.ssh(f"setsid sh -c '{script}' >count 2>/dev/null </dev/null & echo $!").stdout
    file = node.home / "count"
    assert wait_until(lambda: file.exists() and file.stat().st_size > 2)
    return int(pid), lambda: file.stat().st_size


# What a node is.


def test_each_node_has_its_own_home_and_environment(shared):
    for node in shared.nodes:
        done = node.ssh(
            'pwd; echo "$HOME"; echo "$SHELL"; echo "$NVIDB_NVML"; echo "[$SSH_ORIGINAL_COMMAND]"'
        )
        assert (done.returncode, done.stderr) == (0, "")
        home, again, shell, library, original = done.stdout.splitlines()
        assert home == again == str(node.home)
        assert pathlib.Path(shell).name == "bash"
        assert library == str(node.folder / "no-driver.so")
        assert original == "[]"
    assert len({node.home for node in shared.nodes}) == 3
    assert [node.host for node in shared.nodes] == ["127.0.0.1", "127.0.0.2", "127.0.0.3"]


def test_host_name_is_the_nodes_where_that_is_allowed(shared):
    if not _mounts_are_allowed():
        pytest.skip("needs root and namespaces")
    assert [node.ssh("uname -n").stdout for node in shared.nodes] == [
        "node-1\n",
        "node-2\n",
        "node-3\n",
    ]


def test_exit_status_and_standard_input_pass_through(shared):
    node = shared.nodes[0]
    assert node.ssh("exit 37").returncode == 37
    text = "a\n" * 100000
    assert node.ssh("exec sh -c 'cat'", input=text).stdout == text


def test_login_ignores_no_signal(shared):
    # What the bench ignores would be inherited by every job, and `yes | head` would not end well.
    done = shared.nodes[0].ssh("grep SigIgn /proc/self/status")
    assert int(done.stdout.split()[1], 16) == 0


def test_two_benches_at_once_have_their_own_ports(shared, make_cluster):
    other = make_cluster(1).nodes[0]
    first = shared.nodes[0]
    assert (first.host, first.port) != (other.host, other.port)
    assert first.ssh("pwd").stdout != other.ssh("pwd").stdout


def test_client_side_names_every_node(make_cluster):
    cluster = make_cluster(2, {"nodes": {2: {"jump": 1, "nickname": "deep", "gpus": [0, 1]}}})
    assert cluster.config_yml.read_text() == (
        "servers:\n"
        f"  - hostname: node-1\n    port: {cluster.nodes[0].port}\n    username: {cluster.user}\n"
        "    nickname: node-1\n    auth: auto\n"
        f"  - hostname: node-2\n    port: {cluster.nodes[1].port}\n    username: {cluster.user}\n"
        "    nickname: deep\n    auth: auto\n    proxyjump: node-1\n    gpus: [0, 1]\n"
    )
    assert cluster.env == {
        "NVIDB_HOME": str(cluster.nvidb_home),
        "NVIDB_SSH_COMMAND": f"ssh -F {cluster.ssh_config}",
    }
    for path, mode in (
        (cluster.nvidb_home, 0o700),
        (cluster.config_yml, 0o600),
        (cluster.folder, 0o700),
    ):
        assert path.stat().st_mode & 0o777 == mode


def test_lines_of_a_user_win_over_ours(make_cluster):
    cluster = make_cluster(1)
    cluster.add_ssh_config("Host node-1\n  RemoteCommand echo mine")
    assert cluster.nodes[0].ssh().stdout == "mine\n"


# Shells and their noise.

VERSION = {
    "bash": "echo $BASH_VERSION",
    "zsh": "echo $ZSH_VERSION",
    "fish": "echo $FISH_VERSION",
    "tcsh": "echo $tcsh",
    "dash": "ls -l /proc/$$/exe; true",
    "busybox": "ls -l /proc/$$/exe; true",
}


@pytest.mark.parametrize("shell", sorted(VERSION))
def test_login_shell_is_the_one_asked_for(shared, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    node = shared.nodes[1]
    node.set_shell(shell)
    try:
        done = node.ssh(VERSION[shell])
        wanted = shell if shell in ("dash", "busybox") else "."
        assert (done.returncode, done.stderr) == (0, "")
        assert wanted in done.stdout
        quiet, loud = node.ssh("echo answer"), {}
        for noise in ("interactive", "stdout", "stderr", "unterminated"):
            node.set_rc(noise)
            done = node.ssh("echo answer")
            loud[noise] = (done.stdout, done.stderr)
        assert (quiet.stdout, quiet.stderr) == ("answer\n", "")
        assert loud["interactive"] == ("answer\n", "")
        if shell in ("dash", "busybox"):  # they read no file for a command
            assert set(loud.values()) == {("answer\n", "")}
        else:
            assert loud["stdout"] == ("WELCOME to the cluster\nanswer\n", "")
            assert loud["stderr"] == ("answer\n", "WELCOME on stderr\n")
            assert loud["unterminated"] == ("WELCOMEanswer\n", "")
    finally:
        node.set_rc(None)
        node.set_shell("bash")


def test_interactive_noise_is_seen_by_people(shared):
    node = shared.nodes[0]
    node.set_rc("interactive")
    try:
        done = node.ssh(options=("-tt",), input="exit\n")
        assert "WELCOME human" in done.stdout
    finally:
        node.set_rc(None)


def test_rc_file_that_exits_ends_the_command(shared):
    node = shared.nodes[0]
    node.set_rc("exit")
    try:
        done = node.ssh("echo never")
        assert (done.returncode, done.stdout) == (3, "")
    finally:
        node.set_rc(None)


def test_unknown_shell_and_noise_are_refused(shared):
    with pytest.raises(bench.ClusterError, match="no shell 'elvish'"):
        shared.nodes[0].set_shell("elvish")
    with pytest.raises(bench.ClusterError, match="no noise 'thunder'"):
        shared.nodes[0].set_rc("thunder")
    assert shared.nodes[0].ssh("echo answer").stdout == "answer\n"


def test_banner_comes_on_stderr_until_it_is_taken_away(shared):
    node = shared.nodes[0]
    node.set_banner("authorised people only")
    assert node.ssh("true").stderr == "authorised people only\n"
    node.set_banner(None)
    assert node.ssh("true").stderr == ""


# Tools and cards.


def test_python_is_there_or_not(shared):
    node = shared.nodes[0]
    assert node.ssh("python3 -c 'print(6 * 7)'").stdout == "42\n"
    node.set_path(python=False)
    try:
        done = node.ssh("python3 -V || python -V || echo none; ls / | wc -l")
        assert done.stdout.startswith("none\n") and int(done.stdout.split()[1]) > 3
    finally:
        node.set_path(python=True)


def test_nvidia_smi_is_a_script_or_a_file(shared, tmp_path):
    node = shared.nodes[0]
    assert node.ssh("command -v nvidia-smi").returncode != 0
    node.set_path(smi='#!/bin/sh\necho asked "$@"\nexit 9\n')
    done = node.ssh("nvidia-smi -q -x")
    assert (done.returncode, done.stdout) == (9, "asked -q -x\n")
    (tmp_path / "smi.xml").write_text("<nvidia_smi_log/>\n")
    node.set_path(smi=str(tmp_path / "smi.xml"))
    assert node.ssh("nvidia-smi -q -x").stdout == "<nvidia_smi_log/>\n"
    node.set_path(smi=None)
    assert node.ssh("command -v nvidia-smi").returncode != 0


def test_nvidb_is_on_the_path_where_asked(make_cluster, tmp_path):
    program = tmp_path / "nvidb"
    program.write_text("#!/bin/sh\necho program\n")
    program.chmod(0o755)
    cluster = make_cluster(2, {"binary": program, "nodes": {2: {"nvidb": True}}})
    assert cluster.nodes[0].ssh("nvidb").returncode == 127
    assert cluster.nodes[1].ssh("nvidb").stdout == "program\n"


def test_busybox_can_be_all_there_is(make_cluster):
    if not shutil.which("busybox"):
        pytest.skip("busybox is not installed")
    node = make_cluster(1, {"tools": "busybox", "python": False, "shell": "busybox"}).nodes[0]
    done = node.ssh("readlink -f $(command -v sed); command -v ssh python3 || echo none")
    assert done.stdout.splitlines() == [os.path.realpath(shutil.which("busybox")), "none"]


def test_scenario_is_named_to_the_login_and_changes_under_it(make_cluster, tmp_path):
    (tmp_path / "big.json").write_text('{"gpus": [{}, {}]}')
    node = make_cluster(
        1, {"profiles": tmp_path, "simulator": tmp_path / "sim.so", "scenario": {"gpus": []}}
    ).nodes[0]
    assert (
        node.ssh('echo "$NVIDB_NVML"; echo "$NVIDB_FAKE_NVML"').stdout
        == f"{tmp_path}/sim.so\n{node.scenario}\n"
    )
    assert json.loads(node.scenario.read_text()) == {"gpus": []}
    node.set_scenario("big")
    assert json.loads(node.scenario.read_text()) == {"gpus": [{}, {}]}
    with pytest.raises(bench.ClusterError, match="no profile 'small'"):
        node.set_scenario("small")
    node.set_scenario(None)
    assert node.ssh('echo "[$NVIDB_FAKE_NVML]"; ls "$NVIDB_NVML"').stdout == "[]\n"
    node.set_env(EXTRA="it's here")
    assert node.ssh('echo "$EXTRA"').stdout == "it's here\n"


# Trouble.


def test_down_refuses_and_up_answers_at_the_same_place(shared):
    node = shared.nodes[2]
    pid, _ = detached_counter(node)
    session = open_session(node)
    node.down()
    assert session.wait(LIMIT_S) == 255
    assert state_of(pid) is None
    done = node.ssh("true")
    assert done.returncode == 255 and "refused" in done.stderr
    with socket.socket() as thief, pytest.raises(OSError):  # nobody can take the place meanwhile
        thief.bind((node.host, node.port))
    node.up()
    node.up()
    assert node.ssh("ls count").stdout == "count\n"


def test_freeze_stops_everything_and_thaw_lets_it_go_on(shared):
    node = shared.nodes[2]
    pid, count = detached_counter(node)
    session = open_session(node)
    node.freeze()
    assert state_of(pid) == "T"
    assert node.status()["held"] == "frozen"
    before = count()
    done = node.ssh("true", options=TIMEOUT)
    assert done.returncode == 255 and "timed out" in done.stderr
    assert count() == before
    with pytest.raises(bench.ClusterError, match="frozen"):
        node.break_hostkey()
    node.thaw()
    session.stdin.write("hello\n")
    session.stdin.flush()
    assert session.stdout.readline() == "hello\n"
    assert wait_until(lambda: count() > before)
    session.kill()
    session.wait()
    node.down()
    node.up()


def test_cut_hangs_connections_while_jobs_go_on(shared):
    node = shared.nodes[2]
    _, count = detached_counter(node)
    session = open_session(node)
    node.cut()
    before = count()
    done = node.ssh("true", options=TIMEOUT)
    assert done.returncode == 255 and "timed out" in done.stderr
    assert wait_until(lambda: count() > before)
    node.mend()
    session.stdin.write("hello\n")
    session.stdin.flush()
    assert session.stdout.readline() == "hello\n"
    session.kill()
    session.wait()
    node.down()
    node.up()


def test_slow_delays_round_trips_of_open_connections_too(make_cluster):
    node = make_cluster(1).nodes[0]
    before = open_session(node)
    node.slow(0)
    assert before.wait(LIMIT_S) == 255  # the proxy came between
    session = open_session(node)

    def ask_s():
        start = time.monotonic()
        session.stdin.write("x\n")
        session.stdin.flush()
        assert session.stdout.readline() == "x\n"
        return time.monotonic() - start

    node.slow(400)
    assert ask_s() >= 0.4
    node.slow(0)
    text = "y" * 1000000
    assert node.ssh("cat", input=text).stdout == text
    node.freeze()
    assert "timed out" in node.ssh("true", options=TIMEOUT).stderr
    with pytest.raises(bench.ClusterError, match="frozen"):
        node.slow(5)
    node.thaw()
    ask_s()
    node.down()
    assert session.wait(LIMIT_S) == 255
    assert "refused" in node.ssh("true").stderr
    node.slow(1)
    node.up()
    assert node.ssh("echo back").stdout == "back\n"


def test_changed_and_unknown_host_keys_are_refused_by_ssh(shared):
    node = shared.nodes[1]
    node.break_hostkey()
    done = node.ssh("true")
    assert done.returncode == 255 and "IDENTIFICATION HAS CHANGED" in done.stderr
    node.restore_hostkey()
    assert node.ssh("echo in").stdout == "in\n"
    node.forget_hostkey()
    done = node.ssh("true")
    assert done.returncode == 255
    assert "Host key verification failed" in done.stderr and "CHANGED" not in done.stderr
    node.learn_hostkey()
    assert node.ssh("echo in").stdout == "in\n"


def test_jump_host_is_on_the_way(make_cluster):
    cluster = make_cluster(3, {"nodes": {2: {"jump": 1}, 3: {"jump": 2}}})
    login, _, inner = cluster.nodes
    assert inner.ssh("pwd").stdout == f"{inner.home}\n"
    assert login.log.read_text().count("Accepted publickey") == 1
    login.down()
    assert inner.ssh("true").returncode == 255
    login.up()
    assert inner.ssh("true").returncode == 0


def test_max_sessions_and_sshd_lines_can_change(make_cluster, folder):
    node = make_cluster(1, {"max_sessions": 1}).nodes[0]
    node.set_sshd(sshd_lines=["MaxAuthTries 2"])
    master = ("-o", f"ControlPath={folder}/m", "-o", "ControlMaster=auto")
    first = subprocess.Popen(
        ["ssh", "-F", str(node.cluster.ssh_config), *master, node.name, "echo ready; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert first.stdout.readline() == "ready\n"
    done = node.ssh("echo second", options=master)
    assert "Session open refused by peer" in done.stderr
    first.communicate("")
    with pytest.raises(bench.ClusterError, match="sshd ended"):
        node.set_sshd(sshd_lines=["NoSuchKeyword 1"])


def test_password_logins_and_nothing_else(make_cluster, folder):
    if not _mounts_are_allowed():
        pytest.skip("needs root and mount namespaces")
    before = pathlib.Path("/etc/shadow").read_bytes()
    cluster = make_cluster(1, {"auth": "password", "password": "o'neill"})
    node = cluster.nodes[0]
    assert "    auth: password\n    password: 'o''neill'\n" in cluster.config_yml.read_text()
    assert node.ssh("true").returncode == 255  # the key alone is not enough

    def with_password(text):
        helper = folder / "askpass"
        helper.write_text(f'#!/bin/sh\necho "{text}"\n')
        helper.chmod(0o700)
        return node.ssh(
            "echo in",
            options=("-o", "BatchMode=no", "-o", "NumberOfPasswordPrompts=1"),
            env={**os.environ, "SSH_ASKPASS": str(helper), "SSH_ASKPASS_REQUIRE": "force"},
        )

    assert with_password("o'neill").stdout == "in\n"
    assert with_password("wrong").returncode == 255
    assert pathlib.Path("/etc/shadow").read_bytes() == before


def test_full_disk_takes_no_more_until_there_is_room(make_cluster):
    if not _mounts_are_allowed():
        pytest.skip("needs root and mount namespaces")
    node = make_cluster(1).nodes[0]
    (node.home / "kept").write_text("still here\n")
    node.full_disk()
    done = node.ssh("cat kept; echo more >file || echo failed; wc -c <file")
    assert "still here\nfailed\n0\n" == done.stdout and "No space left" in done.stderr
    assert (node.visible_home / "file").exists() and not (node.home / "file").exists()
    node.full_disk(False)
    assert node.ssh("echo more >file && cat file").stdout == "more\n"


# Ends.


def test_close_leaves_no_process_and_no_folder():
    with bench.Cluster(2) as cluster:
        pid, _ = detached_counter(cluster.nodes[0])
        session = open_session(cluster.nodes[1])
        cluster.nodes[0].freeze()
        cluster.nodes[1].slow(10)
        pids = [
            pid,
            *(each for node in cluster.nodes for each in (node.init.pid, *node.status()["pids"])),
        ]
        assert len(pids) >= 6
    assert session.wait(LIMIT_S) == 255
    assert [pid for pid in pids if state_of(pid)] == []
    assert not cluster.folder.exists()


def test_folder_must_be_ours_and_free(folder):
    with bench.Cluster(1, folder / "made/here") as cluster:
        with pytest.raises(bench.ClusterError, match="runs in .* already"):
            bench.Cluster(1, cluster.folder)
        assert cluster.nodes[0].ssh("echo in").stdout == "in\n"
    assert cluster.nodes[0].log.exists()
    with bench.Cluster(1, cluster.folder) as again:  # an ended one makes room
        assert again.nodes[0].ssh("echo in").stdout == "in\n"
    (folder / "other").mkdir()
    (folder / "other/file").touch()
    for place, message in ((folder / "other", "not empty"), (folder / "a b", "without spaces")):
        with pytest.raises(bench.ClusterError, match=message):
            bench.Cluster(1, place)
    assert (folder / "other/file").exists()


@pytest.mark.parametrize(
    "count, options, message",
    [
        (0, {}, "0 nodes"),
        (1, {"shel": "fish"}, "no option 'shel'"),
        (1, {"nodes": {1: {"netns": True}}}, "no option 'netns'"),
        (1, {"nodes": {2: {}}}, "nodes \\[2\\]"),
        (2, {"nodes": {1: {"jump": 2}}}, "cannot jump through node 2"),
        (1, {"shell": "elvish"}, "no shell 'elvish'"),
        (1, {"auth": "trust"}, "auth 'trust'"),
        (1, {"tools": "some"}, "tools 'some'"),
        (1, {"scenario": "none such"}, "no profile"),
        (1, {"nvidb": True, "binary": "/nowhere/nvidb"}, "not built"),
        (1, {"sshd_lines": ["NoSuchKeyword 1"]}, "NoSuchKeyword"),
    ],
)
def test_bad_options_are_named(count, options, message):
    with pytest.raises(bench.ClusterError, match=message):
        bench.Cluster(count, None, options)


ORDINARY = """
import sys
sys.path.insert(0, sys.argv[1])
from cluster import Cluster, ClusterError
with Cluster(2, None, {"nodes": {2: {"jump": 1}}}) as cluster:
    done = cluster.nodes[1].ssh("id -u; pwd")
    print(done.stdout.split() == ["54321", str(cluster.nodes[1].home)], done.stderr)
    cluster.nodes[1].freeze()
try:
    Cluster(1, None, {"auth": "password"})
except ClusterError as error:
    print(error)
"""


def test_an_ordinary_user_can_run_it(folder):
    if not _mounts_are_allowed():
        pytest.skip("needs root, to become an ordinary user that no account is made for")
    folder.chmod(0o755)
    shutil.copytree(
        pathlib.Path(bench.__file__).parent,
        folder / "code",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (folder / "home").mkdir()
    os.chown(folder / "home", 54321, 54321)
    (folder / "passwd").write_text(
        pathlib.Path("/etc/passwd").read_text()
        + f"benchuser:x:54321:54321::{folder}/home:/bin/bash\n"
    )
    (folder / "script.py").write_text(ORDINARY)
    inner = (
        'mount --bind "$1/passwd" /etc/passwd && '
        "exec setpriv --reuid 54321 --regid 54321 --clear-groups "
        'env HOME="$1/home" USER=benchuser /usr/bin/python3 -B "$1/script.py" "$1/code"'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inner, "sh", str(folder)],
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    first, second = done.stdout.splitlines()
    assert first.strip() == "True", done.stdout
    assert second.startswith("password logins need root")
