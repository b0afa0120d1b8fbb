# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Nodes with networks of their own: real links, really cut."""

import pathlib
import subprocess
import time

import pytest

import cluster as bench

TROUBLE = bench.netns_trouble()
pytestmark = pytest.mark.skipif(TROUBLE is not None, reason=f"network namespaces: {TROUBLE}")

TIMEOUT = ("-o", "ConnectTimeout=1")
LIMIT_S = 20


def link_of(node):
    """The number of this machine's end of a node's link; None where there is none."""
    try:
        return int(
            pathlib.Path(f"/sys/class/net/nvidb{node.host.split('.')[2]}/ifindex").read_text()
        )
    except OSError:
        return None


def test_nodes_have_addresses_of_their_own_and_links_that_can_be_cut(make_cluster):
    cluster = make_cluster(3, {"netns": True, "nodes": {3: {"jump": 2}}})
    plain, login, inner = cluster.nodes
    assert {node.port for node in cluster.nodes} == {22}
    assert len({node.host for node in cluster.nodes}) == 3
    assert plain.ssh("ip -br addr show eth0").stdout.split()[2].startswith(f"{plain.host}/24")

    # The inner one has its link to the login node alone: no way leads around that.
    assert inner.ssh("pwd").stdout == f"{inner.home}\n"
    assert inner.host[:-2] + ".1/24" in login.ssh("ip -br addr").stdout
    ends = {node: link_of(node) for node in (plain, login)}
    assert None not in ends.values()

    cluster.add_ssh_config("Host node-2\n  ConnectTimeout 1")
    plain.cut()
    done = plain.ssh("true", options=TIMEOUT)
    assert done.returncode == 255
    login.cut()
    assert inner.ssh("true", options=TIMEOUT).returncode == 255
    plain.mend()
    login.mend()
    assert plain.ssh("echo back", options=("-o", "ConnectionAttempts=5")).stdout == "back\n"
    assert inner.ssh("echo back", options=("-o", "ConnectionAttempts=5")).stdout == "back\n"

    plain.slow(20)
    assert plain.ssh("echo slow").stdout == "slow\n"
    plain.down()
    assert "refused" in plain.ssh("true").stderr

    cluster.close()
    end = time.monotonic() + LIMIT_S
    while any(link_of(node) == link for node, link in ends.items()) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(link_of(node) == link for node, link in ends.items())


def test_a_session_outlives_a_short_cut(make_cluster):
    node = make_cluster(1, {"netns": True}).nodes[0]
    session = subprocess.Popen(
        ["ssh", "-F", str(node.cluster.ssh_config), node.name, "echo ready; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert session.stdout.readline() == "ready\n"
    node.cut()
    session.stdin.write("hello\n")
    session.stdin.flush()
    node.mend()
    assert session.stdout.readline() == "hello\n"
    session.kill()
    session.wait()
