#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""N real sshd on this machine, each a fake node: for tests (`Cluster`) and by hand (`up 5`).

    with Cluster(3, tmp_path, {"shell": "dash", "nodes": {2: {"shell": "fish"}}}) as cluster:
        cluster.nodes[1].freeze()
        subprocess.run([NVIDB, "--once", "--remote"], env={**os.environ, **cluster.env})

README.md beside this says what exists and how close to real machines it is.
"""

import fcntl
import os
import pathlib
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cluster_node import Node  # noqa: E402
from cluster_options import ClusterError, ClusterOptions, NodeOptions, split_options  # noqa: E402
from cluster_sshd import write_file  # noqa: E402
from cluster_tools import Tools  # noqa: E402

__all__ = ["Cluster", "ClusterError", "ClusterOptions", "Node", "NodeOptions", "netns_trouble"]

NODE_LIMIT = 1000
SUBNET_LIMIT = 250
MARK = ".nvidb-cluster"
# A folder's name becomes part of sshd_config, ssh_config and NVIDB_SSH_COMMAND, and each quotes
# in its own way.
PLAIN_PATH = re.compile(r"[\w./+=@,-]+", re.ASCII)


def netns_trouble():
    """Why nodes cannot have networks of their own here; None where they can."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("ip") or not shutil.which("unshare"):
        return "needs ip and unshare"
    done = subprocess.run(
        ["unshare", "-n", "ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout.strip() or "not permitted" if done.returncode else None


class Cluster:
    """Builds and starts at construction; close() (or `with`) ends everything. For one thread.

    Attributes to read: folder, nodes, ssh_config, ssh_command (for NVIDB_SSH_COMMAND), nvidb_home,
    config_yml, env (the two variables that point nvidb here).
    """

    def __init__(self, count, folder=None, options=None):
        if not 1 <= count <= NODE_LIMIT:
            raise ClusterError(f"{count} nodes; from 1 to {NODE_LIMIT}")
        self.options, node_options = split_options(count, options)
        self.sshd = shutil.which(
            "sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
        )
        if not self.sshd:
            raise ClusterError("sshd is not installed")
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.account_is_locked = _account_is_locked(self.user)
        self.nodes = []
        self._subnets = set()
        self._own_folder = folder is None
        self._take_folder(folder)
        self.tools = Tools(self.folder)
        self.ssh_config = self.folder / "ssh_config"
        self.ssh_command = shlex.join(["ssh", "-F", str(self.ssh_config)])
        self.nvidb_home = self.folder / "nvidb-home"
        self.config_yml = self.nvidb_home / "config.yml"
        self.env = {"NVIDB_HOME": str(self.nvidb_home), "NVIDB_SSH_COMMAND": self.ssh_command}
        self.nodes = [Node(self, number, each) for number, each in enumerate(node_options, 1)]
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def node(self, number):
        """Node `number`, counted from 1 as their names are."""
        if not 1 <= number <= len(self.nodes):
            raise ClusterError(f"no node {number}; there are 1 to {len(self.nodes)}")
        return self.nodes[number - 1]

    def close(self):
        """Ends every process and gives the folder back; doing it twice is harmless."""
        if self._lock is None:
            return
        for node in self.nodes:
            node.close()
        for node in self.nodes:
            node.wait()
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)
        self._lock = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def add_ssh_config(self, text):
        """Puts lines of a user before everything else in ssh_config, so that they win."""
        with open(self.folder / "ssh_config.user", "a", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n")

    def write_known_hosts(self):
        lines = []
        for node in self.nodes:
            place = node.host if node.port == 22 else f"[{node.host}]:{node.port}"
            if node.known_key:
                lines.append(f"{place} {node.known_key}\n")
        write_file(self.folder / "known_hosts", "".join(lines))

    # Building.

    def _take_folder(self, folder):
        """Claims the folder: ours alone, 0700, empty or left by an earlier bench."""
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="nvidb-cluster-")).absolute()
        if not PLAIN_PATH.fullmatch(str(self.folder)):
            raise ClusterError(f"the folder {self.folder} needs a name without spaces and signs")
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.folder.stat().st_uid != os.geteuid():
            raise ClusterError(f"{self.folder} belongs to somebody else")
        self.folder.chmod(0o700)
        mark = self.folder / MARK
        if not mark.exists() and any(self.folder.iterdir()):
            raise ClusterError(f"{self.folder} is not empty")
        self._lock = os.open(mark, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise ClusterError(f"a cluster runs in {self.folder} already") from None
        for old in self.folder.iterdir():
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            elif old != mark:
                old.unlink()

    def _build(self):
        if os.geteuid() == 0:
            # sshd insists on this folder when root starts it; a package's service makes it at boot.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        subprocess.run(
            [
                "ssh-keygen",
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-C",
                "cluster",
                "-f",
                str(self.folder / "id_ed25519"),
            ],
            check=True,
        )
        for node in self.nodes:
            node.make_files()
        keys = []
        for node in self.nodes:
            node.start_init()
            keys.append(subprocess.Popen(node.key_command()))
        for node, key in zip(self.nodes, keys):
            if key.wait():
                raise ClusterError("ssh-keygen failed")
            node.take_first_key()
            node.init.answer()
        for node in self.nodes:
            if self.options.netns:
                self._place_in_network(node)
            else:
                node.place()
        self._on_all(lambda node: node.start_request())
        self.write_known_hosts()
        self._write_ssh_config()
        self._write_config_yml()

    def _on_all(self, request):
        """Asks all nodes at once and waits for every answer before it complains."""
        for node in self.nodes:
            node.init.send(**request(node))
        errors = []
        for node in self.nodes:
            try:
                node.init.answer()
            except ClusterError as error:
                errors.append(f"{node.name}: {error}")
        if errors:
            raise ClusterError("; ".join(errors))

    def _place_in_network(self, node):
        """A veth pair to this machine, or to its jump host alone: behind it as in a real lab."""
        for subnet in range(1, SUBNET_LIMIT + 1):
            link = f"nvidb{subnet}"
            # The name is the lock: of two benches only one can make it.
            if (
                subnet not in self._subnets
                and not subprocess.run(
                    [
                        "ip",
                        "link",
                        "add",
                        link,
                        "type",
                        "veth",
                        "peer",
                        "name",
                        "eth0",
                        "netns",
                        str(node.init.pid),
                    ],
                    check=False,
                    stderr=subprocess.DEVNULL,
                ).returncode
            ):
                break
        else:
            raise ClusterError(
                "no network for the node: `ip link add` fails or 250 networks are in use"
            )
        self._subnets.add(subnet)
        node.host, node.port = f"10.213.{subnet}.2", 22
        near = [
            ["ip", "addr", "add", f"10.213.{subnet}.1/24", "dev", link],
            ["ip", "link", "set", link, "up"],
        ]
        far = [
            ["ip", "addr", "add", f"{node.host}/24", "dev", "eth0"],
            ["ip", "link", "set", "eth0", "up"],
        ]
        for command in far:
            node.init.ask(do="run", argv=command)
        if node.options.jump:
            jump = self.node(node.options.jump)
            subprocess.run(["ip", "link", "set", link, "netns", str(jump.init.pid)], check=True)
            for command in near:
                jump.init.ask(do="run", argv=command)
        else:
            for command in near:
                subprocess.run(command, check=True)

    def _write_ssh_config(self):
        lines = [
            "# Written by fakes/cluster; lines of your own go to the file included here.",
            f"Include {self.folder}/ssh_config.user",
            "",
        ]
        for node in self.nodes:
            lines += [
                f"Host {node.name}",
                f"  HostName {node.host}",
                f"  Port {node.port}",
                f"  User {node.user}",
            ]
            if node.options.jump and self.options.jump_in in ("both", "ssh_config"):
                lines.append(f"  ProxyJump node-{node.options.jump}")
            lines.append("")
        lines += [
            "Host *",
            f"  IdentityFile {self.folder}/id_ed25519",
            "  IdentitiesOnly yes",
            "  IdentityAgent none",
            f"  UserKnownHostsFile {self.folder}/known_hosts",
            "  GlobalKnownHostsFile /dev/null",
            "  UpdateHostKeys no",
            "",
        ]
        write_file(self.ssh_config, "\n".join(lines))

    def _write_config_yml(self):
        self.nvidb_home.mkdir(mode=0o700)
        lines = ["servers:"]
        for node in self.nodes:
            options = node.options
            own_auth = "password" if options.auth == "password" else "auto"
            lines += [
                f"  - hostname: {node.name}",
                f"    port: {node.port}",
                f"    username: {node.user}",
                f"    nickname: {options.nickname or node.name}",
                f"    auth: {options.config_auth or own_auth}",
            ]
            if options.auth != "key" and options.store_password:
                quoted = options.password.replace("'", "''")
                lines.append(f"    password: '{quoted}'")
            if options.jump and self.options.jump_in in ("both", "config.yml"):
                lines.append(f"    proxyjump: node-{options.jump}")
            if options.gpus is not None:
                lines.append(f"    gpus: [{', '.join(map(str, options.gpus))}]")
        write_file(self.config_yml, "\n".join(lines) + "\n")


def _account_is_locked(user):
    """Whether sshd would refuse even keys: a `!` before the password, if PAM is not asked."""
    try:
        with open("/etc/shadow", encoding="utf-8", errors="replace") as file:
            return any(line.startswith(f"{user}:!") for line in file)
    except OSError:
        return False


if __name__ == "__main__":
    import cluster_cli

    sys.exit(cluster_cli.main(sys.argv[1:]))
