# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`nvidb --once --remote` over real sshd: every server, each trouble a row with what to do."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pexpect
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("NVIDB_BINARY", ROOT / "build/release/nvidb")).resolve()
LIMIT_S = 120  # only a broken program reaches it
PROC = pathlib.Path("/proc")


def cluster_error():
    import cluster

    return cluster.ClusterError


def wait_until(condition, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def environment(cluster, **more):
    env = {"PATH": os.environ["PATH"], "HOME": str(cluster.nvidb_home), "LANG": "C.UTF-8"}
    env["NVIDB_NVML"] = "/no/such/library.so"  # this machine has no cards in these tests
    return {**env, **cluster.env, **more}


def run(cluster, *words, code=0, **more):
    done = subprocess.run(
        [str(BINARY), *words],
        env=environment(cluster, **more),
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def once(cluster, *words, **more):
    """The nodes of one document by name, this machine left out."""
    document = json.loads(run(cluster, "--once", "--remote", "--json", *words, **more).stdout)
    return {node["name"]: node for node in document["nodes"] if not node["local"]}


def processes(marker):
    """(pid, command line) of live processes with `marker` in it."""
    found = []
    for entry in PROC.iterdir():
        try:
            if entry.name.isdigit():
                command = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                )
                if marker in command and int(entry.name) != os.getpid():
                    found.append((int(entry.name), command))
        except OSError:
            pass
    return found


def masters(cluster):
    return [(pid, text) for pid, text in processes(str(cluster.nvidb_home)) if "[mux]" in text]


def test_all_servers_are_shown_in_order(make_cluster):
    cluster = make_cluster(3, {"scenario": "a6000x5"})
    document = json.loads(run(cluster, "--once", "--remote", "--json").stdout)
    names = [node["name"] for node in document["nodes"]]
    assert names[1:] == ["node-1", "node-2", "node-3"]
    assert [node["local"] for node in document["nodes"]] == [True, False, False, False]
    for node in document["nodes"][1:]:
        assert (node["state"], node["error"], node["collector"]) == ("up", None, "python")
        assert (node["source"], len(node["gpus"])) == ("nvml", 5)
        assert node["username"] and node["port"]
    text = run(cluster, "--once", "--remote").stdout
    assert text.count("RTX A6000") == 15
    assert "users over all nodes" in text


def test_which_collector_runs_depends_on_what_is_there(make_cluster):
    cluster = make_cluster(
        4,
        {
            "scenario": "rtx3090ti",
            "nodes": {
                1: {"nvidb": True},
                2: {"python": True},
                3: {"python": False, "scenario": None},
                4: {"scenario": None},
            },
        },
    )
    nodes = once(cluster)
    assert [nodes[f"node-{i}"]["collector"] for i in (1, 2, 3, 4)] == [
        "native",
        "python",
        "shell",
        "python",
    ]
    assert [len(nodes[f"node-{i}"]["gpus"]) for i in (1, 2, 3, 4)] == [1, 1, 0, 0]
    assert all(node["error"] is None for node in nodes.values())
    assert all(node["host"]["mem_total_mb"] > 0 for node in nodes.values())


def test_a_server_with_neither_nvidb_nor_python(make_cluster):
    fixture = ROOT / "tests/fixtures/smi/driver-515.xml"
    cluster = make_cluster(1, {"python": False, "smi": str(fixture), "tools": "busybox"})
    node = once(cluster)["node-1"]
    assert (node["collector"], node["source"], node["error"]) == ("shell", "nvidia-smi", None)
    assert node["gpus"] and node["gpus"][0]["name"]
    failing = "#!/bin/sh\necho 'Failed to initialize NVML: Unknown Error'\nexit 9"
    cluster.nodes[0].set_path(smi=failing)
    assert "Unknown Error" in once(cluster)["node-1"]["error"]


def test_the_five_of_the_lab(make_cluster):
    """One down, one frozen, one with a wrong key, one with a broken driver, one healthy."""
    cluster = make_cluster(5, {"scenario": "a6000x5"})
    cluster.nodes[0].down()
    cluster.nodes[1].freeze()
    cluster.nodes[2].break_hostkey()
    cluster.nodes[3].set_scenario({"init_code": 18, "gpus": [{"model": "H200"}]})
    nodes = once(cluster)
    assert nodes["node-1"]["state"] == "down"
    assert "refused" in nodes["node-1"]["error"] and "ssh " in nodes["node-1"]["error"]
    assert nodes["node-2"]["state"] == "down"
    assert "ssh -p" in nodes["node-2"]["error"] and "node-2" in nodes["node-2"]["error"]
    assert nodes["node-3"]["state"] == "hostkey"
    # The command of ssh itself: it names the file and the address behind the alias.
    said = nodes["node-3"]["error"].replace("'", '"')
    assert f'ssh-keygen -f "{cluster.folder}/known_hosts" -R "[127.0.0.3]' in said
    assert nodes["node-4"]["state"] == "up"
    assert "reboot" in nodes["node-4"]["error"]
    assert (nodes["node-5"]["state"], nodes["node-5"]["error"]) == ("up", None)
    assert len(nodes["node-5"]["gpus"]) == 5
    text = run(cluster, "--once", "--remote").stdout
    for number in range(1, 6):
        assert f"node-{number}" in text


def test_a_server_that_freezes_under_a_shared_connection(make_cluster):
    cluster = make_cluster(2, {"scenario": "rtx3090ti"})
    once(cluster)
    cluster.nodes[0].freeze()
    nodes = once(cluster)
    assert nodes["node-1"]["state"] == "down" and "ssh -p" in nodes["node-1"]["error"]
    assert nodes["node-2"]["state"] == "up"


def test_an_unknown_host_key_is_never_accepted(make_cluster):
    cluster = make_cluster(1)
    cluster.nodes[0].forget_hostkey()
    before = cluster.ssh_config.read_text()
    cluster.add_ssh_config("Host *\n  StrictHostKeyChecking no\n")
    node = once(cluster)["node-1"]
    assert node["state"] == "hostkey"
    assert "not known" in node["error"] and "ssh " in node["error"]
    assert before  # the user's own setting stands, and still no key was taken
    assert once(cluster)["node-1"]["state"] == "hostkey"


def test_a_refused_login_says_how_to_look(make_cluster):
    cluster = make_cluster(1, {"auth": "password", "config_auth": "key"})
    node = once(cluster)["node-1"]
    assert node["state"] == "auth"
    assert "refused the login" in node["error"]


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "fish", "tcsh", "busybox"])
def test_any_login_shell_and_its_noise(make_cluster, shell):
    options = {"scenario": "rtx3090ti", "shell": shell, "banner": "UNAUTHORISED USE IS WATCHED"}
    if shell not in ("dash", "busybox"):
        options["rc"] = "stdout"
    node = once(make_cluster(1, options))["node-1"]
    assert (node["state"], node["error"], len(node["gpus"])) == ("up", None, 1)


def test_settings_made_for_people_do_not_disturb(make_cluster):
    cluster = make_cluster(1, {"scenario": "rtx3090ti"})
    cluster.add_ssh_config(
        "Host *\n  RemoteCommand tmux attach\n  RequestTTY force\n  PermitLocalCommand yes\n"
        f"  LocalCommand touch {cluster.nvidb_home}/local-command-ran\n  ForwardX11 yes\n"
        "  LocalForward 127.0.0.1:1 127.0.0.1:2\n  EscapeChar x\n  LogLevel DEBUG\n"
        "  ControlMaster no\n  ControlPath none\n  BatchMode no\n  ForkAfterAuthentication yes\n"
    )
    node = once(cluster)["node-1"]
    assert (node["state"], node["error"]) == ("up", None)
    assert not (cluster.nvidb_home / "local-command-ran").exists()


def test_through_a_jump_host(make_cluster):
    cluster = make_cluster(
        4, {"scenario": "rtx3090ti", "nodes": {number: {"jump": 1} for number in (2, 3, 4)}}
    )
    assert "proxyjump" in cluster.config_yml.read_text()
    assert {node["state"] for node in once(cluster).values()} == {"up"}


def test_later_commands_use_the_connection_again(make_cluster):
    cluster = make_cluster(2, {"scenario": "rtx3090ti"})
    once(cluster)
    first = masters(cluster)
    assert len(first) == 2
    assert {node["state"] for node in once(cluster).values()} == {"up"}
    assert masters(cluster) == first
    # Nothing else stays: no collector on the nodes, no ssh client here.
    assert wait_until(lambda: processes("nvidb-agent") == [])


def test_a_frozen_or_dead_shared_connection_is_replaced(make_cluster):
    cluster = make_cluster(2, {"scenario": "rtx3090ti"})
    once(cluster)
    (first, _), (second, _) = masters(cluster)
    os.kill(first, signal.SIGSTOP)
    os.kill(second, signal.SIGKILL)
    assert {node["state"] for node in once(cluster).values()} == {"up"}
    assert wait_until(lambda: first not in [pid for pid, _ in masters(cluster)])


def test_a_shared_connection_ends_a_minute_after_its_last_use(make_cluster):
    cluster = make_cluster(1, {"scenario": "rtx3090ti"})
    once(cluster)
    assert len(masters(cluster)) == 1
    assert wait_until(lambda: masters(cluster) == [])
    assert list((cluster.nvidb_home / "ssh").iterdir()) == []


def test_a_pulled_cable_and_its_mending(make_cluster):
    """A real link of a network namespace goes down, and comes back."""
    try:
        cluster = make_cluster(2, {"netns": True, "scenario": "rtx3090ti"})
    except cluster_error() as error:
        pytest.skip(str(error))
    assert {node["state"] for node in once(cluster).values()} == {"up"}
    cluster.nodes[1].cut()
    nodes = once(cluster)
    assert nodes["node-1"]["state"] == "up"
    assert nodes["node-2"]["state"] == "down"
    assert "ssh " in nodes["node-2"]["error"] or "did not answer" in nodes["node-2"]["error"]
    cluster.nodes[1].mend()
    assert {node["state"] for node in once(cluster).values()} == {"up"}


def test_a_terminal_sees_what_is_waited_for(make_cluster):
    cluster = make_cluster(2, {"scenario": "rtx3090ti"})
    cluster.nodes[1].slow(300)
    words = f"{BINARY} --once --remote --color never"
    done = subprocess.run(
        ["script", "-qec", words, "/dev/null"],
        env=environment(cluster),
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "waiting for node-2" in done.stdout
    assert "waiting for" not in run(cluster, "--once", "--remote").stderr


def test_kill_9_leaves_no_client_and_no_collector(make_cluster):
    cluster = make_cluster(2, {"scenario": {"block": ["nvmlInit_v2"], "gpus": [{"model": "H200"}]}})
    running = subprocess.Popen(
        [str(BINARY), "--once", "--remote"],
        env=environment(cluster),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert wait_until(
        lambda: len([1 for _, text in processes("nvidb-agent") if "exec(" in text]) >= 2
    )
    running.kill()
    running.wait()
    assert wait_until(lambda: processes("nvidb-agent") == []), processes("nvidb-agent")


def test_the_slowest_does_not_hold_up_the_others(make_cluster):
    cluster = make_cluster(3, {"scenario": "rtx3090ti"})
    cluster.nodes[1].slow(300)
    nodes = once(cluster)
    assert {node["state"] for node in nodes.values()} == {"up"}
    assert nodes["node-1"]["sampled_at"] <= nodes["node-2"]["sampled_at"]
    assert nodes["node-3"]["sampled_at"] <= nodes["node-2"]["sampled_at"]


def secrets_seen(secret, stop):
    """Places in /proc where `secret` was seen while stop() is false."""
    seen = set()
    while not stop():
        for entry in PROC.iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            for part in ("cmdline", "environ"):
                try:
                    if secret.encode() in (entry / part).read_bytes():
                        seen.add((part, (entry / "cmdline").read_bytes()))
                except OSError:
                    pass
    return seen


@pytest.mark.skipif(os.geteuid() != 0, reason="passwords need root's mount namespaces")
def test_a_password_reaches_ssh_and_nothing_else(make_cluster):
    secret = "c0rrect-Horse"
    cluster = make_cluster(1, {"scenario": "rtx3090ti", "auth": "password", "password": secret})
    assert secret in cluster.config_yml.read_text()
    running = subprocess.Popen(
        [str(BINARY), "--once", "--remote", "--json"],
        env=environment(cluster),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen = secrets_seen(secret, lambda: running.poll() is not None)
    out, err = running.communicate()
    node = [node for node in json.loads(out)["nodes"] if not node["local"]][0]
    assert (node["state"], node["error"]) == ("up", None), err
    assert seen == set()
    assert secret not in out + err
    assert [
        path.name for path in (cluster.nvidb_home / "ssh").iterdir() if "ask" in path.name
    ] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="passwords need root's mount namespaces")
def test_a_wrong_or_missing_password_is_said(make_cluster):
    cluster = make_cluster(1, {"auth": "password", "password": "right"})
    text = cluster.config_yml.read_text()
    cluster.config_yml.write_text(text.replace("right", "wrong"))
    assert once(cluster)["node-1"]["state"] == "auth"
    lines = [line for line in text.splitlines() if "password:" not in line]
    cluster.config_yml.write_text("\n".join(lines) + "\n")
    node = once(cluster)["node-1"]
    assert node["state"] == "auth"
    assert "needs a password" in node["error"]


@pytest.mark.skipif(os.geteuid() != 0, reason="passwords need root's mount namespaces")
def test_auto_asks_once_where_a_person_can_answer(make_cluster):
    secret = "c0rrect-Horse"
    options = {"auth": "password", "config_auth": "auto", "store_password": False}
    cluster = make_cluster(1, {"scenario": "rtx3090ti", "password": secret, **options})
    assert once(cluster)["node-1"]["state"] == "auth"  # nobody to ask
    env = environment(cluster, TERM="xterm")
    child = pexpect.spawn(str(BINARY), ["--once", "--remote"], env=env, timeout=LIMIT_S)
    child.expect(r"password of .* \(node-1")
    child.sendline(secret)
    child.expect("RTX 3090 Ti")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    # The connection is there now: nobody asks again.
    assert once(cluster)["node-1"]["state"] == "up"


def silent_servers(folder, count, **more):
    """A configuration of `count` servers whose ssh never says a word, and one that answers."""
    ssh = folder / "quiet-ssh"
    ssh.write_text(
        '#!/bin/sh\ncase "$*" in *"-- answers "*) ;; *) exec sleep 1000 ;; esac\n'
        'for last in "$@"; do :; done\nexec sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    names = [f"h{i}" for i in range(count)] + ["answers"]
    lines = [f"  - {{hostname: {name}, username: u, nickname: {name}}}" for name in names]
    (folder / "config.yml").write_text("\n".join(["servers:", *lines]) + "\n")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NVIDB_HOME": str(folder),
        "NVIDB_NVML": "/none",
        "NVIDB_SSH_COMMAND": str(ssh),
        **more,
    }


def test_a_hundred_silent_servers_hide_no_other(folder):
    env = silent_servers(folder, 100)
    words = [str(BINARY), "--once", "--remote", "--json", "--timeout", "20"]
    done = subprocess.run(
        words, env=env, timeout=LIMIT_S, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    nodes = {node["name"]: node for node in json.loads(done.stdout)["nodes"]}
    assert nodes["answers"]["state"] == "up"
    assert {node["state"] for name, node in nodes.items() if name.startswith("h")} == {"down"}


def test_the_deadline_is_that_of_the_whole_run(folder):
    env = silent_servers(folder, 100)
    words = [str(BINARY), "--once", "--remote", "--json", "--timeout", "1"]
    done = subprocess.run(
        words, env=env, timeout=LIMIT_S, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    nodes = {node["name"]: node for node in json.loads(done.stdout)["nodes"]}
    silent = [node["error"] for name, node in nodes.items() if name.startswith("h")]
    assert all("within 1 s" in error and "ssh u@h" in error for error in silent)
    assert sum("turn to connect" in error for error in silent) > 0


@pytest.mark.parametrize("name", ["a b", "a%hb", 'a"b', "a'b", "a${HOME}", "x" * 120])
def test_any_path_of_a_home_can_share_connections(make_cluster, folder, name):
    cluster = make_cluster(1, {"scenario": "rtx3090ti"})
    home = folder / name
    home.mkdir()
    (home / "config.yml").write_text(cluster.config_yml.read_text())
    assert once(cluster, NVIDB_HOME=str(home))["node-1"]["state"] == "up"
    assert once(cluster, NVIDB_HOME=str(home))["node-1"]["state"] == "up"
    run(cluster, "clean", "all", "--yes", NVIDB_HOME=str(home))


def test_without_a_place_for_sockets_everything_else_works(make_cluster):
    cluster = make_cluster(1, {"scenario": "rtx3090ti"})
    shutil.rmtree(cluster.nvidb_home / "ssh", ignore_errors=True)
    (cluster.nvidb_home / "ssh").write_text("")
    done = run(cluster, "--once", "--remote", "--json")
    assert [node["state"] for node in json.loads(done.stdout)["nodes"]] == ["up", "up"]
    assert "not shared" in done.stderr


def test_no_remote_and_the_switch_in_the_file(make_cluster):
    cluster = make_cluster(1)
    text = cluster.config_yml.read_text()
    cluster.config_yml.write_text(text + "basic:\n  remote: true\n")
    assert len(json.loads(run(cluster, "--once", "--json").stdout)["nodes"]) == 2
    assert len(json.loads(run(cluster, "--once", "--json", "--no-remote").stdout)["nodes"]) == 1


def test_a_broken_configuration_is_named_by_file_and_line(make_cluster):
    cluster = make_cluster(1)
    cluster.config_yml.write_text("servers:\n  - hostname: x\n    username: y\n    auth: magic\n")
    done = run(cluster, "--once", "--remote", code=1)
    assert "config.yml:4" in done.stderr and "auth" in done.stderr and "magic" in done.stderr
    document = json.loads(run(cluster, "--once", "--remote", "--json", code=1).stdout)
    assert document["ok"] is False


def test_a_stand_in_for_ssh_that_does_not_exist(make_cluster):
    cluster = make_cluster(1)
    node = once(cluster, NVIDB_SSH_COMMAND="/no/such/ssh -F x")["node-1"]
    assert node["state"] == "down" and "/no/such/ssh" in node["error"]
    done = run(cluster, "--once", "--remote", code=1, NVIDB_SSH_COMMAND="ssh 'open")
    assert "NVIDB_SSH_COMMAND" in done.stderr
