# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`nvidb clean`: deletes what nvidb made, after asking, and nothing else."""

import json
import os
import socket

import pexpect
import pytest
from terminal import answer, at_terminal, ends

OWN = [
    "config.yml",
    "queue.yml",
    "queue.db",
    "queue.db-wal",
    "queue.db-shm",
    "gpu_log.db",
    "gpu_log.db-wal",
    "alerts.log",
    "queue-keeper.sh",
    "backups/queue-20261201.db",
    ".config.yml.Ab12cd",
]
FOREIGN = [
    "notes.txt",
    "config.yml.bak",
    "queue.db.old",
    "my-queue.db",
    "backups/photo.jpg",
    "backups/queue-.db",
    "backups/queue-of-my-thesis.db",
    "ssh/known_hosts",
    "deep/er/queue.db",
]


@pytest.fixture
def home(nvidb, tmp_path):
    # Short, so that a socket's path fits.
    folder = tmp_path / "n"
    nvidb.env["NVIDB_HOME"] = str(folder)
    return folder


def fill(home, names):
    for name in names:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = {"config.yml": "", "queue.yml": "queue: {}\n"}
        path.write_text(texts.get(name, "x" * 2048))


def left_in(home):
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir())


def test_all_deletes_everything_of_ours(nvidb, home):
    fill(home, OWN)
    done = nvidb.run("clean", "all", "--yes")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("deleted ") == len(OWN)
    assert done.stderr == ""
    assert not home.exists()


def test_all_leaves_what_is_not_ours(nvidb, home):
    fill(home, OWN + FOREIGN)
    told = nvidb.json("clean", "all", "--yes", "--json")
    assert sorted(told["deleted"]) == sorted(f"{home}/{name}" for name in OWN)
    assert told["home_removed"] is False
    assert told["kept"] == sorted({name.split("/")[0] for name in FOREIGN})
    assert left_in(home) == sorted(FOREIGN)


def test_all_says_what_keeps_the_folder(nvidb, home):
    fill(home, ["config.yml", "notes\x1b[2J.txt"])
    done = nvidb.run("clean", "all", "--yes")
    assert f"kept {home}" in done.stdout
    assert "notes\\x1b[2J.txt" in done.stdout


def test_all_never_follows_links(nvidb, home, tmp_path):
    outside = tmp_path / "outside"
    fill(outside, ["config.yml", "queue-20261201.db", "queue.db"])
    home.mkdir()
    (home / "config.yml").symlink_to(outside / "config.yml")
    (home / "queue.db").symlink_to(outside / "gone.db")
    (home / "backups").symlink_to(outside)
    (home / "ssh").symlink_to(outside)
    told = nvidb.json("clean", "all", "--yes", "--json")
    assert told["deleted"] == [f"{home}/config.yml", f"{home}/queue.db"]
    assert told["kept"] == ["backups", "ssh"]
    assert left_in(outside) == ["config.yml", "queue-20261201.db", "queue.db"]


def test_all_leaves_folders_and_pipes_with_our_names(nvidb, home):
    (home / "config.yml").mkdir(parents=True)
    os.mkfifo(home / "queue.db")
    assert nvidb.json("clean", "all", "--yes", "--json")["deleted"] == []
    assert sorted(path.name for path in home.iterdir()) == ["config.yml", "queue.db"]


def test_all_works_in_a_home_that_is_a_link(nvidb, home, tmp_path):
    fill(tmp_path / "real", ["config.yml", "gpu_log.db"])
    home.symlink_to(tmp_path / "real")
    assert nvidb.run("clean", "all", "--yes").returncode == 0
    assert left_in(tmp_path / "real") == []
    assert home.is_symlink()


def test_all_removes_connections(nvidb, home, monkeypatch):
    (home / "ssh").mkdir(parents=True)
    monkeypatch.chdir(home / "ssh")  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("0123456789abcdef")
        listener.listen()
        done = nvidb.run("clean", "all", "--yes", cwd="/")
    assert "0123456789abcdef" in done.stdout
    assert not home.exists()


def test_all_works_with_a_wrong_config(nvidb, home):
    fill(home, ["config.yml"])
    (home / "config.yml").write_text("servers: [")
    assert nvidb.run("clean", "all", "--yes").returncode == 0
    assert not home.exists()


def test_all_leaves_another_programs_folder(nvidb, home):
    home.mkdir()
    (home / "config.yml").write_text("# settings\nname: my app\n")
    (home / "ssh").mkdir()
    told = nvidb.json("clean", "all", "--yes", "--json")
    assert (told["deleted"], told["home_removed"]) == ([], False)
    assert left_in(home) == ["config.yml"]
    assert (home / "ssh").is_dir()


def test_all_of_an_empty_folder_leaves_it(nvidb, home):
    home.mkdir()
    assert nvidb.run("clean", "all", "--yes").returncode == 0
    assert home.is_dir()


def test_all_of_nothing_is_done(nvidb, home):
    done = nvidb.run("clean", "all", "--yes")
    assert done.returncode == 0
    assert "nothing of nvidb's" in done.stdout
    told = nvidb.json("clean", "all", "--yes", "--json")
    assert told["deleted"] == []


@pytest.mark.parametrize("words", [["clean"], ["clean", "all"]])
def test_without_a_terminal_it_needs_yes(nvidb, home, words):
    fill(home, OWN)
    done = nvidb.run(*words, "--json")
    assert done.returncode == 2
    assert "--yes" in json.loads(done.stdout)["error"]
    assert left_in(home) == sorted(OWN)


def test_yes_alone_is_wrong_usage(nvidb, home):
    done = nvidb.run("clean", "--yes")
    assert done.returncode == 2
    assert "--yes needs 'clean all'" in done.stderr
    assert nvidb.run("clean", "everything").returncode == 2


def test_all_lists_and_asks_twice(nvidb, home):
    fill(home, OWN)
    child = at_terminal(nvidb, "clean", "all")
    child.expect_exact("queue.db  2.0K")
    answer(child, f"delete these {len(OWN)} files? [y/N]", "y")
    answer(child, "type DELETE", "DELETE")
    assert "deleted " in ends(child, 0)
    assert not home.exists()


@pytest.mark.parametrize("answers", [[""], ["n"], ["y", ""], ["y", "delete"], ["y", "y"]])
def test_all_keeps_everything_unless_told_twice(nvidb, home, answers):
    fill(home, OWN)
    child = at_terminal(nvidb, "clean", "all")
    for prompt, text in zip(["[y/N]", "type DELETE"], answers):
        answer(child, prompt, text)
    assert "nothing was deleted" in ends(child, 1)
    assert left_in(home) == sorted(OWN)


@pytest.mark.parametrize("prompt", ["[y/N]", "type DELETE"])
def test_all_can_be_left(nvidb, home, prompt):
    fill(home, OWN)
    child = at_terminal(nvidb, "clean", "all")
    if prompt != "[y/N]":
        answer(child, "[y/N]", "y")
    child.expect_exact(prompt)
    child.sendintr()
    ends(child, 130)
    assert left_in(home) == sorted(OWN)


# ---- the menu ----


@pytest.fixture
def servers(nvidb, home):
    home.mkdir()
    (home / "config.yml").write_text(
        "# mine\nservers:\n"
        + "".join(f"  - hostname: n{i}  # number {i}\n    username: u\n" for i in (1, 2, 3))
    )
    return home / "config.yml"


def test_menu_offers_what_is_there(nvidb, home):
    fill(home, ["gpu_log.db", "notes.txt"])
    child = at_terminal(nvidb, "clean")
    child.expect_exact("1  delete the GPU log")
    child.expect_exact("2.0K")
    answer(child, "> ", "0")
    said = child.before + ends(child, 0)
    assert "servers" not in said and "queue" not in said


def test_menu_of_nothing_ends(nvidb, home):
    child = at_terminal(nvidb, "clean")
    assert "nothing to clean" in ends(child, 0)


def test_menu_removes_servers_and_keeps_comments(nvidb, servers):
    child = at_terminal(nvidb, "clean")
    child.expect_exact("remove servers (3 in ")
    answer(child, "> ", "1")
    child.expect_exact("3  u@n3:22")
    answer(child, "which?", "1,3")
    answer(child, "remove 2 of 3 servers", "y")
    child.expect_exact("remove servers (1 in ")
    answer(child, "> ", "0")
    ends(child, 0)
    assert (
        servers.read_text() == "# mine\nservers:\n  - hostname: n2  # number 2\n    username: u\n"
    )


def test_menu_asks_before_it_removes(nvidb, servers):
    before = servers.read_text()
    child = at_terminal(nvidb, "clean")
    answer(child, "> ", "7")
    child.expect_exact("one number from 0 to 1")
    answer(child, "> ", "1")
    answer(child, "which?", "4")
    child.expect_exact("from 1 to 3")
    answer(child, "> ", "1")
    answer(child, "which?", "a")
    answer(child, "[y/N]", "")
    child.expect_exact("> ")
    child.sendintr()
    ends(child, 130)
    assert servers.read_text() == before


def test_menu_deletes_the_log_alone(nvidb, home):
    fill(home, OWN)
    child = at_terminal(nvidb, "clean", "--json")
    answer(child, "> ", "1")
    answer(child, "delete the GPU log? [y/N]", "y")
    child.expect_exact("  deleted")
    answer(child, "> ", "0")
    said = ends(child, 0)
    assert json.loads(said[said.index("{") :])["deleted"] == [
        f"{home}/gpu_log.db",
        f"{home}/gpu_log.db-wal",
    ]
    assert left_in(home) == sorted(name for name in OWN if not name.startswith("gpu_log"))


def test_menu_asks_twice_for_the_queue(nvidb, home):
    fill(home, ["queue.db", "queue.db-wal", "alerts.log"])
    child = at_terminal(nvidb, "clean")
    answer(child, "> ", "1")
    answer(child, "[y/N]", "y")
    answer(child, "type DELETE", "no")
    answer(child, "> ", "1")
    answer(child, "[y/N]", "y")
    answer(child, "type DELETE", "DELETE")
    assert "nothing to clean" in ends(child, 0)
    assert left_in(home) == ["alerts.log"]


def test_menu_tells_a_wrong_config_and_goes_on(nvidb, home):
    fill(home, ["gpu_log.db"])
    (home / "config.yml").write_text("servers: 3\n")
    child = at_terminal(nvidb, "clean")
    child.expect_exact("config.yml:1")
    answer(child, "> ", "0")
    child.expect(pexpect.EOF)
