# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The bench by hand: one command starts it and stays, the others steer it through its folder."""

import argparse
import json
import os
import pathlib
import re
import select
import shlex
import signal
import socket
import sys
import time

import cluster
from cluster import Cluster, ClusterError

SOCKET = "control.sock"
REQUEST_LIMIT_BYTES = 1 << 20
REQUEST_LIMIT_S = 60
# What nodes get in turn where no --scenario says otherwise.
SHOWN_PROFILES = ("h200x8", "rtx3090ti", "a6000x5", "mig_a100", "gb10", "faulty", "wsl_blind")
TAIL = re.compile(r"[\d,]+")

USAGE = """\
cluster.py up N [options]     start N nodes and stay until Ctrl-C; `start N` is the same

on a running cluster, NODE being a number, a list (1,3) or `all`:
  up|down NODE                power
  freeze|thaw NODE            stop and continue every process
  cut|mend NODE               the network alone
  slow NODE MS                longer round trips
  hostkey NODE changed|unknown|good
  scenario NODE PROFILE|FILE.json|none
  shell NODE NAME             {shells}
  rc NODE NOISE|none          interactive {noise}
  banner NODE [TEXT]
  path NODE python=no|yes|FILE nvidb=yes|no smi=FILE|none tools=full|busybox
  disk NODE full|room
  status | env | stop
"""


def default_folder():
    return os.environ.get("NVIDB_CLUSTER") or f"/tmp/nvidb-cluster-{os.geteuid()}"


def _usage():
    from cluster_shells import NOISE, SHELLS

    return USAGE.format(shells=" ".join(SHELLS), noise=" ".join(NOISE))


# What `up N` takes.


def _split(text):
    """("fish", [2, 3]) from "fish:2,3"; without nodes the second is None, meaning all."""
    value, colon, tail = text.rpartition(":")
    if colon and TAIL.fullmatch(tail):
        return value, [int(number) for number in tail.split(",") if number]
    return text, None


def _start_parser():
    parser = argparse.ArgumentParser(
        prog="cluster.py up",
        usage="cluster.py up N [options]",
        description="Options whose value may end in :NODES hold for these nodes only.",
    )
    parser.add_argument("count", type=int, metavar="N")
    parser.add_argument(
        "--folder", default=default_folder(), help="default %(default)s, or $NVIDB_CLUSTER"
    )
    parser.add_argument(
        "--netns", action="store_true", help="a network of its own a node, with links to cut"
    )
    for name in ("binary", "simulator", "profiles"):
        parser.add_argument(
            f"--{name}", type=pathlib.Path, default=getattr(cluster.ClusterOptions, name)
        )
    for name, value in (
        ("shell", "NAME[:NODES]"),
        ("rc", "NOISE[:NODES]"),
        ("banner", "TEXT[:NODES]"),
        ("scenario", "PROFILE|none[:NODES]"),
        ("smi", "FILE[:NODES]"),
        ("tools", "KIND[:NODES]"),
        ("auth", "key|password|both[:NODES]"),
        ("password", "TEXT[:NODES]"),
        ("jump", "NODE:NODES"),
    ):
        parser.add_argument(f"--{name}", action="append", default=[], metavar=value)
    parser.add_argument("--no-python", action="append", default=[], metavar="NODES|all")
    parser.add_argument(
        "--nvidb", action="append", default=[], metavar="NODES|all", help="nvidb on their PATH"
    )
    return parser


def _options(args):
    """The options dict of Cluster from the parsed command line."""
    options = {
        "netns": args.netns,
        "binary": args.binary,
        "simulator": args.simulator,
        "profiles": args.profiles,
    }
    nodes = {number: {} for number in range(1, args.count + 1)}

    def put(name, value, numbers):
        for number in nodes if numbers is None else numbers:
            if number not in nodes:
                raise ClusterError(f"--{name}: no node {number}")
            if name != "jump" or number != value:
                nodes[number][name] = value

    there = {path.stem for path in pathlib.Path(args.profiles).glob("*.json")}
    profiles = [name for name in SHOWN_PROFILES if name in there]
    for number in nodes if profiles and not args.scenario else ():
        put("scenario", profiles[(number - 1) % len(profiles)], [number])
    for name in ("shell", "rc", "banner", "scenario", "smi", "tools", "auth", "password", "jump"):
        for text in getattr(args, name):
            value, numbers = _split(text)
            if name == "jump":
                value = int(value)
            put(name, _scenario(value) if name == "scenario" else value, numbers)
    for name, given, value in (("python", args.no_python, False), ("nvidb", args.nvidb, True)):
        for text in given:
            put(name, value, None if text == "all" else [int(number) for number in text.split(",")])
    return {**options, "nodes": nodes}


def _scenario(text):
    """A profile's name, or the content of a file, or None."""
    if text == "none":
        return None
    if not text.endswith(".json"):
        return text
    try:
        return json.loads(pathlib.Path(text).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ClusterError(f"{text}: {error}") from error


# The running side.


def _hostkey(node, state):
    deeds = {
        "changed": node.break_hostkey,
        "unknown": node.forget_hostkey,
        "good": node.restore_hostkey,
    }
    if state not in deeds:
        raise ClusterError(f"hostkey {state}; there are: {', '.join(deeds)}")
    deeds[state]()


def _path(node, *pairs):
    changes = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        changes[name] = {"yes": True, "no": False, "none": None}.get(value, value)
    node.set_path(**changes)


VERBS = {
    "up": lambda node: node.up(),
    "down": lambda node: node.down(),
    "freeze": lambda node: node.freeze(),
    "thaw": lambda node: node.thaw(),
    "cut": lambda node: node.cut(),
    "mend": lambda node: node.mend(),
    "slow": lambda node, ms: node.slow(float(ms)),
    "hostkey": _hostkey,
    "scenario": lambda node, name: node.set_scenario(_scenario(name)),
    "shell": lambda node, name: node.set_shell(name),
    "rc": lambda node, noise: node.set_rc(None if noise == "none" else noise),
    "banner": lambda node, *words: node.set_banner(" ".join(words) or None),
    "path": _path,
    "disk": lambda node, state: node.full_disk({"full": True, "room": False}[state]),
}


def _nodes(bench, text):
    if text == "all":
        return bench.nodes
    if not TAIL.fullmatch(text):
        raise ClusterError(f"'{text}' is no node; give a number, a list like 1,3, or all")
    return [bench.node(int(number)) for number in text.split(",") if number]


def _status(bench):
    rows = []
    for node in bench.nodes:
        status = node.status()
        state = status["held"] or ("up" if status["listening"] else "down")
        slow = f"{node.delay_ms:g} ms" if node.delay_ms else "-"
        key = (
            "good"
            if node.known_key == node.host_key()
            else "changed" if node.known_key else "unknown"
        )
        scenario = node.options.scenario
        rows.append(
            (
                node.name,
                f"{node.host}:{node.port}",
                state,
                f"slow {slow}",
                f"key {key}",
                node.options.shell,
                (
                    "no driver"
                    if scenario is None
                    else scenario if isinstance(scenario, str) else "own scenario"
                ),
                f"{len(status['pids'])} processes",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )


def perform(bench, words):
    """Does what `words` ask on the cluster and returns the text to print."""
    verb, *arguments = words
    if verb == "status":
        return _status(bench)
    if verb == "env":
        return "".join(
            f"export {name}={shlex.quote(value)}\n" for name, value in bench.env.items()
        ).rstrip()
    if verb not in VERBS:
        raise ClusterError(f"no verb '{verb}'")
    if not arguments:
        raise ClusterError(f"{verb}: which node?")
    try:
        for node in _nodes(bench, arguments[0]):
            VERBS[verb](node, *arguments[1:])
    except (TypeError, ValueError, KeyError) as error:
        raise ClusterError(f"{' '.join(words)}: wrong arguments ({error})") from error
    return ""


def _address(folder):
    """The control socket's name, short however long the folder's is (108 bytes are the limit)."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    return descriptor, f"/proc/self/fd/{descriptor}/{SOCKET}"


def _serve(bench, stop_descriptor):
    """Answers requests, one connection at a time, until stop is asked for or signalled."""
    descriptor, address = _address(bench.folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(16)
        os.close(descriptor)
        while True:
            ready, _, _ = select.select([server, stop_descriptor], [], [])
            if stop_descriptor in ready:
                return
            connection, _ = server.accept()
            with connection:
                connection.settimeout(REQUEST_LIMIT_S)
                try:
                    with connection.makefile("rwb") as file:
                        words = json.loads(file.readline(REQUEST_LIMIT_BYTES))
                        if words == ["stop"]:
                            return
                        try:
                            reply = {"ok": True, "text": perform(bench, words)}
                        except (ClusterError, OSError) as error:
                            reply = {"ok": False, "text": str(error)}
                        file.write(json.dumps(reply).encode() + b"\n")
                except (OSError, ValueError):
                    pass  # A client that went away or talks nonsense is its own trouble.


def _start(words):
    args = _start_parser().parse_args(words)
    stop_out, stop_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(stop_in, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    with Cluster(args.count, args.folder, _options(args)) as bench:
        if not bench.options.simulator.exists():
            print(
                f"note: {bench.options.simulator} is not built, so no node has a driver",
                file=sys.stderr,
            )
        print(_status(bench))
        print()
        print(perform(bench, ["env"]))
        print(f"{bench.ssh_command} {bench.nodes[0].name}")
        print("look at it, after these lines, with: build/release/nvidb --once --remote")
        print("steer it from another terminal (cluster.py --help), end it with Ctrl-C", flush=True)
        try:
            _serve(bench, stop_out)
        finally:
            # From here a second Ctrl-C may end it the hard way; the nodes die with it either way.
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
    return 0


def _connect(folder):
    """A connection to the cluster that runs in `folder`, or None."""
    try:
        descriptor, address = _address(folder)
    except OSError:
        return None
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(REQUEST_LIMIT_S)
    try:
        client.connect(address)
        return client
    except OSError:
        client.close()
        return None
    finally:
        os.close(descriptor)


def _steer(client, folder, words):
    with client, client.makefile("rwb") as file:
        file.write(json.dumps(words).encode() + b"\n")
        file.flush()
        line = file.readline(REQUEST_LIMIT_BYTES)
    if words == ["stop"]:
        end = time.monotonic() + REQUEST_LIMIT_S
        while (again := _connect(folder)) and time.monotonic() < end:
            again.close()
            time.sleep(0.05)
        return 0
    reply = json.loads(line or b'{"ok": false, "text": "the cluster ended"}')
    if reply["text"]:
        print(reply["text"], file=sys.stdout if reply["ok"] else sys.stderr)
    return 0 if reply["ok"] else 1


def main(words):
    if not words or words[0] in ("-h", "--help", "help"):
        print(_usage(), end="")
        return 0 if words else 2
    try:
        if words[0] == "start" or words[0] == "up" and ("-h" in words or "--help" in words):
            return _start(words[1:])
        folder, rest = _folder_option(words)
        client = _connect(folder)
        if client:
            return _steer(client, folder, rest)
        if words[0] == "up":
            return _start(words[1:])
        raise ClusterError(f"no cluster runs in {folder}; start one with `up N`")
    except ClusterError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return 1


def _folder_option(words):
    """(--folder's value or the default, the words without it)."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--folder", default=default_folder())
    known, rest = parser.parse_known_args(words)
    return known.folder, rest
