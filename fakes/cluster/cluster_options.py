# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""What one may ask of a fake cluster and of each of its nodes."""

import dataclasses
import pathlib
import secrets

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "build/release"


class ClusterError(RuntimeError):
    """Something the bench cannot do; the text says what and why."""


@dataclasses.dataclass
class NodeOptions:
    """What a node is like. Every field can be given for all nodes or for one; see README.md."""

    shell: str = "bash"
    rc: str | None = (
        None  # noise of the start-up files: cluster_shells.NOISE, "interactive", or a text
    )
    banner: str | None = None
    scenario: object = None  # dict, name of a profile, or None: no driver at all
    python: object = True  # True, False, or the path of an interpreter
    nvidb: bool = False  # whether the node has nvidb on its PATH
    smi: str | None = (
        None  # nvidia-smi: a script ("#!..."), an XML file to print, or None: not there
    )
    tools: str = "full"  # what else is on PATH: all of the machine's ("full") or "busybox"
    env: dict = dataclasses.field(default_factory=dict)
    auth: str = "key"  # what sshd accepts: key, password, both
    # A new one each time: a known one would let every user of this machine in.
    password: str = dataclasses.field(default_factory=lambda: secrets.token_urlsafe(12))
    store_password: bool = True  # whether config.yml gets it
    config_auth: str | None = (
        None  # `auth` in config.yml; default: password where only that works, else auto
    )
    jump: int | None = None  # number of the node that is its jump host
    nickname: str | None = None  # default: the name
    gpus: list | None = None
    max_sessions: int = 10
    max_startups: str = "10:30:100"
    sshd_lines: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class ClusterOptions:
    """What holds for the whole bench."""

    netns: bool = False  # a network namespace a node, with links that can be cut; needs root
    jump_in: str = "both"  # where a jump host is written: config.yml, ssh_config, both
    binary: pathlib.Path = RELEASE / "nvidb"
    simulator: pathlib.Path = RELEASE / "lib/nvidb/sim/libnvidia-ml.so.1"
    profiles: pathlib.Path = RELEASE / "lib/nvidb/sim/profiles"


def split_options(count, options):
    """(ClusterOptions, [NodeOptions]) from the one dict users write."""
    cluster_names = {field.name for field in dataclasses.fields(ClusterOptions)}
    node_names = {field.name for field in dataclasses.fields(NodeOptions)}
    options = dict(options or {})
    each = options.pop("nodes", {})
    for names in (options, *each.values()):
        for name in names:
            if name not in node_names and (name not in cluster_names or names is not options):
                raise ClusterError(f"no option '{name}'")
    if not set(each) <= set(range(1, count + 1)):
        raise ClusterError(f"options for nodes {sorted(each)}, but there are 1 to {count}")
    whole = ClusterOptions(
        **{name: value for name, value in options.items() if name in cluster_names}
    )
    for name in ("binary", "simulator", "profiles"):
        setattr(whole, name, pathlib.Path(getattr(whole, name)).resolve())
    shared = {name: value for name, value in options.items() if name in node_names}
    nodes = [NodeOptions(**{**shared, **each.get(number, {})}) for number in range(1, count + 1)]
    for number, node in enumerate(nodes, 1):
        # Only backwards: so there is no circle, and a jump host is built before its targets.
        if node.jump == number and node.jump == shared.get("jump"):
            node.jump = None  # "all through node N" does not mean N itself
        elif node.jump is not None and not 1 <= node.jump < number:
            raise ClusterError(
                f"node {number} cannot jump through node {node.jump}: only through an earlier one"
            )
    return whole, nodes
