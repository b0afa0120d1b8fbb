# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Setting up: add, import, ls and the servers of info, without and with a person at a terminal.

Logins go to a stand-in for ssh that answers as told; `ssh -G` is the real one. A real sshd is in
test_setup_ssh.py, `clean` in test_clean.py.
"""

import json
import os
import stat

import pexpect
import pytest
from conftest import wait_until
from terminal import answer, at_terminal, ends

FAKE_SSH = r"""#!/bin/sh
for word in "$@"; do [ "$word" = -G ] && exec ssh "$@"; done
printf '%s\n' "$*" >> "$0.calls"
[ -e "$0.hang" ] && sleep 30
cat "$0.out"
cat "$0.err" >&2
exit "$(cat "$0.code")"
"""
FOUND = (
    "hello\nnvidb-on: Linux gpu1\nnvidb-has: nvidia-smi\n"
    'nvidb1 {"type":"want","script":"python"}\n'
)
PASSWORD = "correct horse"


class Ssh:
    """A stand-in for ssh: says what the next login prints and how it ends."""

    def __init__(self, folder):
        self.path = folder / "ssh-stand-in"
        self.path.write_text(FAKE_SSH)
        self.path.chmod(0o755)
        self.answer()

    def answer(self, out=FOUND, err="", code=0):
        for name, text in {"out": out, "err": err, "code": str(code)}.items():
            self.path.with_suffix("." + name).write_text(text)

    def hang(self):
        self.path.with_suffix(".hang").touch()

    def calls(self):
        path = self.path.with_suffix(".calls")
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def ssh(tmp_path, nvidb):
    made = Ssh(tmp_path)
    nvidb.env["NVIDB_SSH_COMMAND"] = str(made.path)
    return made


@pytest.fixture
def config(nvidb):
    return nvidb.home / ".nvidb/config.yml"


def fill_in(child, host="gpu1", nickname="", auth="", stop=None):
    """Answers the questions of `nvidb add`, with Enter where nothing else is said."""
    prompts = ["host name", "ssh port", "user name", "nickname", "login:", "key file", "jump host"]
    answers = [host, "", "alice", nickname, auth, "", ""]
    for prompt, text in zip(prompts, answers):
        if prompt == stop:
            return child.expect_exact(prompt)
        if prompt != "key file" or auth != "password":
            answer(child, prompt, text)


# ---- add, by options ----


def test_add_by_options_writes_a_private_file(nvidb, ssh, config):
    done = nvidb.run("add", "--host", "gpu1", "--username", "alice", "--gpus", "1,0")
    assert done.returncode == 0, done.stderr
    assert "added alice@gpu1:22" in done.stdout
    assert "python3" in done.stdout
    assert done.stderr == ""
    assert config.read_text().splitlines() == [
        "servers:",
        "  - hostname: gpu1",
        "    port: 22",
        "    username: alice",
        "    gpus: [0, 1]",
    ]
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700


def test_add_keeps_every_comment(nvidb, ssh, config):
    config.parent.mkdir()
    before = "# mine\nbasic: {remote: true}  # yes\nservers:\n- hostname: a  # 1\n  username: u\n"
    config.write_text(before)
    assert nvidb.run("add", "--host", "b", "--username", "u").returncode == 0
    assert config.read_text() == before + "- hostname: b\n  port: 22\n  username: u\n"


def test_add_logs_in_without_asking_where_there_is_no_terminal(nvidb, ssh):
    nvidb.run("add", "--host", "gpu1", "--username", "alice", "--port", "2222", "--proxyjump", "j")
    (call,) = ssh.calls()
    assert "BatchMode=yes" in call
    assert "StrictHostKeyChecking=ask" not in call
    assert "ProxyJump=j -p 2222 -l alice -- gpu1" in call


def test_add_json_is_one_document(nvidb, ssh):
    told = nvidb.json("add", "--json", "--host", "gpu1", "--username", "alice", "--nickname", "A é")
    assert told["ok"] is True
    assert told["server"]["name"] == "A é"
    assert told["server"]["hostname"] == "gpu1"
    assert told["found"] == {"system": "Linux gpu1", "collector": "python", "nvidia_smi": True}


def test_add_needs_a_host(nvidb, ssh, config):
    done = nvidb.run("add", "--json", "--username", "alice")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"ok": False, "error": "--host is missing"}
    assert "usage: nvidb add" in done.stderr
    assert not config.exists()


@pytest.mark.parametrize(
    "option,text",
    [
        ("--host", "-oProxyCommand=touch /tmp/x"),
        ("--host", "alice@gpu1"),
        ("--port", "0"),
        ("--port", "22x"),
        ("--username", "a;b"),
        ("--nickname", "a\x1b[2Jb"),
        ("--auth", "maybe"),
        ("--identityfile", "/no/such/key"),
        ("--proxyjump", "a, b"),
        ("--gpus", "0-3"),
    ],
)
def test_add_refuses_wrong_words(nvidb, ssh, config, option, text):
    words = {"--host": "gpu1", "--username": "alice", option: text}
    done = nvidb.run("add", *(f"{name}={value}" for name, value in words.items()))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"nvidb: {option} '")
    assert "\x1b" not in done.stderr
    assert ssh.calls() == []
    assert not config.exists()


def test_add_refuses_what_is_there(nvidb, ssh, config):
    nvidb.run("add", "--host", "gpu1", "--username", "alice", "--nickname", "one")
    before = config.read_text()
    same = nvidb.run("add", "--host", "GPU1", "--username", "alice", "--nickname", "two")
    assert (same.returncode, "is there already, as one" in same.stderr) == (1, True)
    name = nvidb.run("add", "--host", "gpu2", "--username", "alice", "--nickname", "one")
    assert (name.returncode, "called 'one' already" in name.stderr) == (1, True)
    assert config.read_text() == before
    assert len(ssh.calls()) == 1


def test_add_writes_nothing_when_the_login_fails(nvidb, ssh, config):
    ssh.answer(out="", err="bye\x1b[2J\nalice@gpu1: Permission denied (publickey).\n", code=255)
    done = nvidb.run("add", "--host", "gpu1", "--username", "alice")
    assert done.returncode == 1
    assert "refused the login" in done.stderr
    assert "ssh alice@gpu1" in done.stderr
    assert not config.exists()


def test_add_yes_adds_a_server_that_is_down(nvidb, ssh, config):
    ssh.answer(out="", err="ssh: connect to host gpu1: Connection refused\x1b[2J\n", code=255)
    done = nvidb.run("add", "--host", "gpu1", "--username", "alice", "--yes")
    assert done.returncode == 0
    assert "warning: " in done.stderr and "added all the same" in done.stderr
    assert "\x1b" not in done.stderr
    assert "hostname: gpu1" in config.read_text()


def test_add_no_test_does_not_log_in(nvidb, ssh, config):
    assert nvidb.run("add", "--host", "gpu1", "--username", "a", "--no-test").returncode == 0
    assert ssh.calls() == []
    assert config.exists()


def test_add_tells_a_login_without_commands(nvidb, ssh, config):
    ssh.answer(out="This account is currently not available.\n", code=1)
    done = nvidb.run("add", "--host", "gpu1", "--username", "a")
    assert done.returncode == 1
    assert not config.exists()


def test_add_makes_a_relative_key_path_whole(nvidb, ssh, config, tmp_path):
    (tmp_path / "key").touch()
    nvidb.run("add", "--host", "g", "--username", "a", "--identityfile", "key", cwd=tmp_path)
    assert f"identityfile: {tmp_path}/key" in config.read_text()


# ---- add, with a person ----


def test_add_asks_and_checks_each_answer(nvidb, ssh, config):
    child = at_terminal(nvidb, "add")
    answer(child, "host name", "gpu1:22")
    child.expect_exact("write the part after : as port")
    answer(child, "host name", "gpu1")
    answer(child, "ssh port [22]", "70000")
    child.expect_exact("not a port")
    answer(child, "ssh port [22]", "")
    answer(child, "user name", "alice")
    answer(child, "nickname [user@host:port]", "Größe")
    answer(child, "[auto]", "none")
    child.expect_exact("not one of auto, key, password")
    answer(child, "[auto]", "key")
    answer(child, "key file", "/no/such/key")
    child.expect_exact("is not a file")
    answer(child, "key file", "")
    answer(child, "jump host", "login")
    child.expect_exact("python3 there collects")
    answer(child, "[Y/n]", "")
    assert "added Größe" in ends(child, 0)
    assert config.read_text().splitlines() == [
        "servers:",
        "  - hostname: gpu1",
        "    port: 22",
        "    username: alice",
        '    nickname: "Größe"',
        "    auth: key",
        "    proxyjump: login",
    ]


def test_add_lets_ssh_ask_about_the_host_key(nvidb, ssh):
    child = at_terminal(nvidb, "add", "--host", "gpu1", "--username", "a", "--yes")
    ends(child, 0)
    (call,) = ssh.calls()
    assert call.index("StrictHostKeyChecking=ask") < call.index("StrictHostKeyChecking=yes")
    assert "BatchMode=no" in call


def test_add_asks_only_for_what_is_not_given(nvidb, ssh, config):
    child = at_terminal(
        nvidb, "add", "--host=g", "--port=23", "--username=u", "--nickname=n", "--auth=auto"
    )
    answer(child, "key file", "")
    answer(child, "jump host", "")
    assert "host name" not in child.before
    answer(child, "[Y/n]", "y")
    ends(child, 0)
    assert "port: 23" in config.read_text()


def test_add_stops_early_at_a_server_that_is_there(nvidb, ssh):
    nvidb.run("add", "--host", "gpu1", "--username", "alice", "--nickname", "one")
    child = at_terminal(nvidb, "add")
    fill_in(child, stop="user name")
    child.sendline("alice")
    assert "is there already, as one" in ends(child, 1)


def test_add_asks_for_another_name_where_it_is_taken(nvidb, ssh):
    nvidb.run("add", "--host", "gpu1", "--username", "alice", "--nickname", "one")
    child = at_terminal(nvidb, "add")
    fill_in(child, host="gpu2", stop="nickname")
    child.sendline("one")
    child.expect_exact("called 'one' already")
    answer(child, "nickname", "two")
    child.expect_exact("login:")
    child.sendintr()
    ends(child, 130)


@pytest.mark.parametrize("key", ["c", "d"])
@pytest.mark.parametrize("prompt", ["host name", "ssh port", "nickname", "jump host"])
def test_add_can_be_left_at_any_question(nvidb, ssh, config, prompt, key):
    child = at_terminal(nvidb, "add")
    fill_in(child, stop=prompt)
    child.sendcontrol(key)
    assert "nothing was written" in ends(child, 130)
    assert not config.exists()


def test_add_can_be_left_while_ssh_waits(nvidb, ssh, config):
    ssh.hang()
    child = at_terminal(nvidb, "add")
    fill_in(child)
    child.expect_exact("trying alice@gpu1")
    assert wait_until(ssh.calls)
    child.sendintr()
    ends(child, 130)
    assert not config.exists()


@pytest.mark.parametrize("words,is_added", [("", False), ("n", False), ("y", True)])
def test_add_after_a_failed_login_is_the_persons_choice(nvidb, ssh, config, words, is_added):
    ssh.answer(out="", err="Connection refused\n", code=255)
    child = at_terminal(nvidb, "add")
    fill_in(child)
    child.expect_exact("Connection refused")
    answer(child, "all the same? [y/N]", words)
    if is_added:
        answer(child, "[Y/n]", "")
    ends(child, 0 if is_added else 1)
    assert config.exists() == is_added


def test_add_unconfirmed_writes_nothing(nvidb, ssh, config):
    child = at_terminal(nvidb, "add")
    fill_in(child)
    answer(child, "[Y/n]", "what")
    child.expect_exact("answer y or n")
    answer(child, "[Y/n]", "n")
    assert "nothing was written" in ends(child, 1)
    assert not config.exists()


def test_add_stores_a_password_only_where_told(nvidb, ssh, config):
    child = at_terminal(nvidb, "add")
    fill_in(child, auth="password")
    answer(child, "store the password? [y/N]", "")
    answer(child, "[Y/n]", "")
    ends(child, 0)
    assert "auth: password" in config.read_text()
    assert "password:" not in config.read_text()


def test_add_shows_a_stored_password_nowhere(nvidb, ssh, config):
    child = at_terminal(nvidb, "add", "--json")
    fill_in(child, auth="password")
    child.expect_exact("plain")
    answer(child, "store the password? [y/N]", "y")
    child.expect_exact("not shown): ")
    assert child.waitnoecho(10)
    child.sendline(PASSWORD)
    answer(child, "[Y/n]", "")
    said = child.before + ends(child, 0)
    assert "holds the password of alice@gpu1:22 as plain text" in said
    assert f"password: {PASSWORD}" in config.read_text()
    texts = [said, *ssh.calls()]
    for words in (["ls", "--detail"], ["ls", "--json"], ["info"], ["info", "--json"]):
        done = nvidb.run(*words)
        texts += [done.stdout, done.stderr]
    assert not [text for text in texts if PASSWORD in text]
    assert "as plain text" in nvidb.run("info").stderr
    assert "stored" in nvidb.run("ls", "--detail").stdout


def test_ctrl_c_at_the_password_gives_the_terminal_back(nvidb, ssh, config):
    child = at_terminal(nvidb, "add")
    fill_in(child, auth="password")
    answer(child, "[y/N]", "y")
    child.expect_exact("not shown): ")
    assert child.waitnoecho(10)
    child.sendintr()
    child.expect(pexpect.EOF)
    assert child.getecho()
    child.close()
    assert child.exitstatus == 130
    assert not config.exists()


# ---- import ----

SSH_CONFIG = """
Include more.conf
Host login
  HostName login.example.com
  User jump-user
Host training-a100 a100
  HostName 10.0.0.42
  User gpu-user
  Port 2222
  ProxyJump login
Host tunnel
  ProxyCommand nc -X 5 %h %p
Host *.example.com !bad lab?
  User nobody
Match host special
  Port 99
Host *
  User everyone
"""


@pytest.fixture
def ssh_config(nvidb):
    folder = nvidb.home / ".ssh"
    folder.mkdir(mode=0o700)
    # ssh would look for a relative one below ~/.ssh of the real home.
    text = SSH_CONFIG.replace("more.conf", str(folder / "more.conf"))
    (folder / "more.conf").write_text("Host included\n  HostName 192.0.2.7\n")
    (folder / "config").write_text(text)
    return folder / "config"


def test_import_all_takes_what_ssh_says(nvidb, ssh, ssh_config, config):
    told = nvidb.json("import", "--all", "--json")
    assert told["ok"] is True
    servers = {server["name"]: server for server in told["imported"]}
    assert list(servers) == ["included", "login", "training-a100", "tunnel"]
    assert servers["included"]["username"] == "everyone"
    assert servers["training-a100"]["hostname"] == "10.0.0.42"
    assert servers["training-a100"]["port"] == 2222
    assert servers["training-a100"]["proxyjump"] == "login"
    assert servers["tunnel"]["hostname"] == "tunnel"
    assert told["skipped"] == [{"name": "a100", "reason": "is the same as training-a100"}]
    assert nvidb.json("ls", "--json")["servers"] == told["imported"]
    assert stat.S_IMODE(config.stat().st_mode) == 0o600


def test_import_again_adds_nothing(nvidb, ssh, ssh_config, config):
    nvidb.run("import", "--all")
    before = config.read_text()
    done = nvidb.run("import", "--all")
    assert done.returncode == 0
    assert "skipped login: is there already, as login" in done.stdout
    assert "nothing was added" in done.stdout
    assert config.read_text() == before


def test_import_skips_a_name_that_is_taken(nvidb, ssh, ssh_config):
    nvidb.run("add", "--host", "other", "--username", "u", "--nickname", "login", "--no-test")
    told = nvidb.json("import", "--all", "--json")
    assert {"name": "login", "reason": "another server has this name already"} in told["skipped"]
    assert "login" not in [server["name"] for server in told["imported"]]


def test_import_warns_of_a_proxy_command_that_ssh_will_not_find(nvidb, ssh, ssh_config):
    done = nvidb.run("import", str(ssh_config), "--all")
    assert done.returncode == 0
    assert f"put 'Include {ssh_config}'" in done.stderr


def test_import_lets_a_person_choose(nvidb, ssh, ssh_config):
    child = at_terminal(nvidb, "import")
    child.expect_exact("1  included")
    child.expect_exact("gpu-user@10.0.0.42:2222 via login")
    answer(child, "which?", "9")
    child.expect_exact("not a number or a range from 1 to 4")
    answer(child, "which?", "1,3-4")
    assert "3 added" in ends(child, 0)
    names = [server["name"] for server in nvidb.json("ls", "--json")["servers"]]
    assert names == ["included", "training-a100", "tunnel"]


def test_import_of_none_writes_nothing(nvidb, ssh, ssh_config, config):
    child = at_terminal(nvidb, "import")
    answer(child, "which?", "")
    assert "nothing was added" in ends(child, 0)
    child = at_terminal(nvidb, "import")
    child.expect_exact("which?")
    child.sendeof()
    ends(child, 130)
    assert not config.exists()


def test_import_without_a_terminal_needs_all(nvidb, ssh, ssh_config):
    done = nvidb.run("import", "--json")
    assert done.returncode == 2
    assert "--all" in json.loads(done.stdout)["error"]


def test_import_tells_a_missing_file(nvidb, ssh):
    done = nvidb.run("import", "/no/such/config", "--all", "--json")
    assert done.returncode == 1
    assert "/no/such/config" in json.loads(done.stdout)["error"]


def test_import_fails_where_ssh_takes_no_host(nvidb, ssh, ssh_config, config):
    ssh_config.write_text("Host a\n  NoSuchOption yes\n")
    done = nvidb.run("import", str(ssh_config), "--all")
    assert done.returncode == 1
    assert "a: ssh -G failed: " in done.stderr
    assert not config.exists()


def test_import_fails_without_ssh(nvidb, ssh_config):
    done = nvidb.run("import", "--all", env={"NVIDB_SSH_COMMAND": "/no/such/ssh"})
    assert done.returncode == 1
    assert "/no/such/ssh" in done.stderr


def test_import_of_a_file_without_hosts(nvidb, ssh, ssh_config):
    ssh_config.write_text("Host *\n  User x\n")
    assert nvidb.json("import", str(ssh_config), "--all", "--json")["imported"] == []


def test_import_of_many_hosts_keeps_their_order(nvidb, ssh, ssh_config):
    ssh_config.write_text("".join(f"Host n{i}\n  HostName 10.0.0.{i}\n" for i in range(120)))
    told = nvidb.json("import", str(ssh_config), "--all", "--json")
    assert [server["name"] for server in told["imported"]] == [f"n{i}" for i in range(120)]


def test_hostile_ssh_config_is_shown_printable(nvidb, ssh, ssh_config):
    ssh_config.write_text("Host ok\n  HostName 10.0.0.1\nHost \x1b[2Jx\nHost two\n  User a;b\n")
    done = nvidb.run("import", str(ssh_config), "--all")
    assert "\x1b" not in done.stdout + done.stderr
    assert "added ok" in done.stdout
    assert "skipped two" in done.stdout


# ---- ls, info, and a wrong config.yml ----


def test_ls_without_servers_names_the_way(nvidb):
    done = nvidb.run("ls")
    assert done.returncode == 0
    assert "nvidb add" in done.stdout and "nvidb import" in done.stdout
    assert nvidb.json("ls", "--json") == {"servers": []}


def test_ls_fits_the_width(nvidb, ssh):
    nvidb.run("add", "--no-test", "--host=" + "h" * 60, "--username=u", "--nickname=大きな計算機")
    nvidb.run(
        "add", "--no-test", "--host", "b", "--username", "u", "--proxyjump", "j", "--gpus=none"
    )
    wide = nvidb.run("ls", "--detail", env={"COLUMNS": "200"}).stdout.splitlines()
    assert wide[0].split() == (
        "NAME ADDRESS PORT USER AUTH PROXYJUMP GPUS IDENTITYFILE PASSWORD".split()
    )
    assert wide[2].split() == ["u@b:22", "b", "22", "u", "auto", "j", "none", "-", "-"]
    narrow = nvidb.run("ls", env={"COLUMNS": "60"}).stdout.splitlines()
    assert max(map(len, narrow)) <= 60
    assert any("…" in line for line in narrow)
    assert nvidb.run("ls", "--color", "always").stdout.startswith("\x1b[")


def test_info_lists_servers(nvidb, ssh):
    assert "none (nvidb add, nvidb import)" in nvidb.run("info").stdout
    nvidb.run("add", "--no-test", "--host", "b", "--username", "u")
    assert "u@b:22" in nvidb.run("info").stdout
    assert nvidb.json("info", "--json")["servers"][0]["name"] == "u@b:22"


@pytest.mark.parametrize(
    "words", [["ls"], ["info"], ["add", "--host", "a", "--username", "u"], ["import", "--all"]]
)
def test_a_wrong_config_is_told_and_left(nvidb, ssh, ssh_config, config, words):
    config.parent.mkdir()
    text = "servers:\n  - hostname: a\n    username: u\n    port: many\n"
    config.write_text(text)
    done = nvidb.run(*words)
    assert done.returncode == 1
    assert "config.yml:4: servers[0].port" in done.stderr
    done = nvidb.run(*words, "--json")
    assert json.loads(done.stdout)["ok"] is False
    assert config.read_text() == text
    assert ssh.calls() == []


def test_a_closed_pipe_ends_quietly(nvidb):
    read_end, write_end = os.pipe()
    os.close(read_end)
    child = nvidb.run("ls", "--json", stdout=write_end)
    os.close(write_end)
    assert (child.returncode, child.stderr) == (0, "")
