# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`nvidb add` and `nvidb import` with real sshd on loopback: host keys, keys, what is found."""

import pathlib
import shutil
import sys

import pytest
from terminal import answer, at_terminal, ends

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "fakes/cluster"))

import cluster as bench  # noqa: E402

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(SSHD is None, reason="no sshd on this machine")


@pytest.fixture(scope="module")
def cluster():
    shell = "tcsh" if shutil.which("tcsh") else "sh"
    with bench.Cluster(2, None, {"nodes": {2: {"shell": shell}}}) as made:
        yield made


@pytest.fixture
def node(nvidb, cluster):
    nvidb.env["NVIDB_SSH_COMMAND"] = cluster.env["NVIDB_SSH_COMMAND"]
    return cluster.nodes[0]


def words_for(node, *more):
    return ["add", "--host", node.host, "--port", str(node.port), "--username", node.user, *more]


def test_add_finds_a_collector_in_every_login_shell(nvidb, cluster, node):
    for each in cluster.nodes:
        told = nvidb.json(*words_for(each, "--json"))
        assert told["found"]["system"] == f"Linux {each.name}"
        assert told["found"]["collector"] == "python"


def test_an_unknown_host_key_is_never_taken_silently(nvidb, node):
    node.forget_hostkey()
    try:
        done = nvidb.run(*words_for(node))
        assert done.returncode == 1
        assert "host key is not known yet" in done.stderr
        assert f"ssh -p {node.port}" in done.stderr

        child = at_terminal(nvidb, *words_for(node, "--yes"))
        answer(child, "continue connecting", "no")
        assert "added all the same" in ends(child, 0)
        nvidb.run("clean", "all", "--yes")

        child = at_terminal(nvidb, *words_for(node, "--yes"))
        answer(child, "continue connecting", "yes")
        assert f": Linux {node.name}: python3" in ends(child, 0)
        nvidb.run("clean", "all", "--yes")

        assert nvidb.run(*words_for(node)).returncode == 0
    finally:
        node.learn_hostkey()


def test_ctrl_c_at_the_host_key_writes_nothing(nvidb, node):
    node.forget_hostkey()
    try:
        child = at_terminal(nvidb, *words_for(node, "--yes"))
        child.expect_exact("continue connecting")
        child.sendintr()
        assert "nothing was written" in ends(child, 130)
        assert nvidb.json("ls", "--json") == {"servers": []}
    finally:
        node.learn_hostkey()


def test_a_changed_host_key_is_told(nvidb, node):
    node.break_hostkey()
    try:
        done = nvidb.run(*words_for(node))
    finally:
        node.restore_hostkey()
    assert done.returncode == 1
    assert "host key changed" in done.stderr
    assert "ssh-keygen -f" in done.stderr and "-R" in done.stderr


def test_a_node_that_is_down_is_told(nvidb, node):
    node.down()
    try:
        done = nvidb.run(*words_for(node))
    finally:
        node.up()
    assert done.returncode == 1
    assert "refused" in done.stderr


def test_imported_nodes_can_be_logged_in_to(nvidb, cluster, node):
    told = nvidb.json("import", str(cluster.ssh_config), "--all", "--json")
    assert [server["name"] for server in told["imported"]] == ["node-1", "node-2"]
    again = nvidb.run(*words_for(node))
    assert "is there already, as node-1" in again.stderr
