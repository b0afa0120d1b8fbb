# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""One fake node: a folder, a home, a host key, an sshd, and the verbs that trouble it.

What a login gets is decided by the script `login` of the node's folder, which sshd runs instead of
what was asked (ForceCommand) and which hands it to the node's own shell. So shell, PATH and
environment can change while sshd runs, and no account of the machine is touched.
"""

import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys

import cluster_shells
from cluster_client import InitClient
from cluster_options import ClusterError
from cluster_sshd import LOGIN, reserve_port, shadow_line, sshd_config, write_file

HERE = pathlib.Path(__file__).resolve().parent
SSH_LIMIT_S = 30
PRIVATE_PORT_IN_NETNS = 2222


class Node:
    """Made by Cluster only. Attributes to read: number, name, host, port, user, home, folder,
    scenario (path of its scenario file), options."""

    def __init__(self, cluster, number, options):
        self.cluster = cluster
        self.number = number
        self.name = f"node-{number}"
        self.options = options
        self.user = cluster.user
        self.folder = cluster.folder / self.name
        self.home = self.folder / "home"
        self.scenario = self.folder / "scenario.json"
        self.log = self.folder / "sshd.log"
        self.bin = self.folder / "bin"
        self.host = self.port = None
        self.known_key = None  # what known_hosts says, not what sshd has
        self.delay_ms = None
        self.init = None
        self._holders = []
        self._first_key = None
        self._has_disk = False

    # Building; called by Cluster in this order.

    def make_files(self):
        for folder in (self.home, self.bin, self.folder / "void"):
            folder.mkdir(parents=True, mode=0o700)
        write_file(
            self.folder / "authorized_keys", (self.cluster.folder / "id_ed25519.pub").read_text()
        )
        write_file(self.folder / "login", LOGIN.format(env=self.folder / "login.env"), 0o700)
        cluster_shells.write_rc(self.home, self.options.rc)
        self._write_scenario()
        self._write_banner()
        self._write_tools()
        self._write_login_env()

    def start_init(self):
        options = {"name": self.name, "net": self.cluster.options.netns}
        if self.options.auth != "key" or self.cluster.account_is_locked:
            if os.geteuid() != 0:
                raise ClusterError(
                    "password logins need root: /etc/shadow is replaced, for the node alone"
                )
            options["shadow"] = str(self.folder / "shadow")
            write_file(options["shadow"], shadow_line(self.user, self.options))
        self.init = InitClient(options)

    def place(self):
        """Finds an address on loopback; Cluster gives the nodes with own networks theirs."""
        self.host = f"127.0.{(self.number - 1) // 250}.{(self.number - 1) % 250 + 1}"
        self._holders = [reserve_port(self.host), reserve_port(self.host)]
        self.port = self._holders[0].getsockname()[1]

    def key_command(self):
        return [
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            self.name,
            "-f",
            str(self.folder / "host_key"),
        ]

    def host_key(self):
        """The public host key that sshd has now."""
        return " ".join((self.folder / "host_key.pub").read_text().split()[:2])

    def take_first_key(self):
        self._first_key = (self.folder / "host_key").read_text()
        self.known_key = self.host_key()

    def start_request(self):
        private_port = self.port
        link = None
        if self.delay_ms is not None:
            private_port = (
                self._holders[1].getsockname()[1] if self._holders else PRIVATE_PORT_IN_NETNS
            )
            link = {
                "argv": [
                    sys.executable,
                    "-I",
                    "-S",
                    str(HERE / "cluster_link.py"),
                    self.host,
                    str(self.port),
                    str(private_port),
                    str(self.delay_ms),
                ],
                "address": self.host,
                "port": self.port,
            }
        write_file(self.folder / "sshd_config", sshd_config(self, private_port))
        return {
            "do": "start",
            "argv": [
                self.cluster.sshd,
                "-D",
                "-f",
                str(self.folder / "sshd_config"),
                "-E",
                str(self.log),
            ],
            "address": self.host,
            "port": private_port,
            "log": str(self.log),
            "link": link,
        }

    # Verbs.

    def up(self):
        """Starts sshd; nothing happens where it already runs."""
        if not self.status()["listening"]:
            self.init.ask(**self.start_request())

    def down(self):
        """Kills every process of the node, as a power cut does. Its files and its address stay."""
        self.init.ask(do="stop")

    def freeze(self):
        """Stops every process of the node: connections stay open and say nothing more."""
        self.init.ask(do="hold", state="frozen")

    def thaw(self):
        self.init.ask(do="release")

    def cut(self):
        """Cuts the network: jobs go on, connections hang. A real link goes down where the node has
        one of its own; on loopback the node's sshd processes are stopped instead."""
        if self.cluster.options.netns:
            self.init.ask(do="run", argv=["ip", "link", "set", "eth0", "down"])
        else:
            self.init.ask(do="hold", state="cut")

    def mend(self):
        if self.cluster.options.netns:
            self.init.ask(do="run", argv=["ip", "link", "set", "eth0", "up"])
        else:
            self.init.ask(do="release")

    def slow(self, delay_ms):
        """Adds this to every round trip. The first use puts a proxy in front of sshd, which ends
        the connections there are; later ones change the delay, for open connections too."""
        if delay_ms < 0:
            raise ClusterError(f"a delay of {delay_ms} ms")
        first = self.delay_ms is None
        before, self.delay_ms = self.delay_ms, delay_ms
        try:
            if first and self.status()["listening"]:
                self.init.ask(**self.start_request())
                self.init.ask(do="drop_sessions")
            elif self.status()["link"]:
                self.init.ask(do="delay", delay_ms=delay_ms)
        except ClusterError:
            self.delay_ms = before
            raise

    def drop_sessions(self):
        """Ends the connections there are; new ones are welcome and detached processes go on."""
        self.init.ask(do="drop_sessions")

    def break_hostkey(self):
        """A new host key, as a reinstalled machine has; known_hosts keeps the old one."""
        self._must_move()
        for suffix in ("", ".pub"):
            (self.folder / f"host_key{suffix}").unlink()
        subprocess.run(self.key_command(), check=True)
        self._restart()

    def restore_hostkey(self):
        """Back to the first key, known to the client."""
        self._must_move()
        write_file(self.folder / "host_key", self._first_key)
        public = subprocess.run(
            ["ssh-keygen", "-y", "-f", str(self.folder / "host_key")],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        write_file(self.folder / "host_key.pub", public)
        self._restart()
        self.learn_hostkey()

    def forget_hostkey(self):
        """Takes the node out of known_hosts: a host that was never met."""
        self.known_key = None
        self.cluster.write_known_hosts()

    def learn_hostkey(self):
        self.known_key = self.host_key()
        self.cluster.write_known_hosts()

    def set_scenario(self, scenario):
        """Cards from now on: a dict, a profile's name, or None (no driver, from the next login)."""
        self.options.scenario = scenario
        self._write_scenario()
        self._write_login_env()

    def set_shell(self, shell):
        """The login shell from the next login on."""
        before, self.options.shell = self.options.shell, shell
        try:
            self._write_login_env()
        except ClusterError:
            self.options.shell = before
            raise

    def set_rc(self, noise):
        """What the shells' start-up files say: see cluster_shells; None removes them."""
        try:
            cluster_shells.write_rc(self.visible_home, noise)
        except ValueError as error:
            raise ClusterError(str(error)) from error
        self.options.rc = noise

    def set_banner(self, text):
        """What sshd says before the login; None for nothing."""
        self.options.banner = text
        self._write_banner()

    def set_path(self, **changes):
        """Changes `python`, `nvidb`, `smi` or `tools` (NodeOptions) from the next command on."""
        if not changes.keys() <= {"python", "nvidb", "smi", "tools"}:
            raise ClusterError(
                f"set_path knows python, nvidb, smi and tools, not {', '.join(changes)}"
            )
        self.options = dataclasses.replace(self.options, **changes)
        self._write_tools()
        self._write_login_env()

    def set_env(self, **changes):
        """Changes variables of later logins; None takes one away."""
        env = {**self.options.env, **changes}
        self.options.env = {name: value for name, value in env.items() if value is not None}
        self._write_login_env()

    def set_sshd(self, **changes):
        """Changes `max_sessions`, `max_startups`, `sshd_lines`; open connections keep theirs."""
        if not changes.keys() <= {"max_sessions", "max_startups", "sshd_lines"}:
            raise ClusterError(
                f"set_sshd knows max_sessions, max_startups, sshd_lines, not {', '.join(changes)}"
            )
        self._must_move()
        self.options = dataclasses.replace(self.options, **changes)
        self._restart()

    def full_disk(self, full=True, size_mb=4):
        """Fills the node's disk, or makes room again. The first use puts a tmpfs with `size_mb` of
        free space over the home; see visible_home."""
        self.init.ask(do="disk", home=str(self.home), full=full, size_mb=size_mb)
        self._has_disk = True

    # Asking.

    @property
    def visible_home(self):
        """The home as the node sees it, for readers outside. It differs after full_disk()."""
        return (
            pathlib.Path(f"/proc/{self.init.pid}/root{self.home}") if self._has_disk else self.home
        )

    def status(self):
        """{listening, held (None, frozen, cut), link, pids}."""
        return self.init.ask(do="status")

    def ssh(self, *command, options=(), limit_s=SSH_LIMIT_S, **run_options):
        """Runs plain ssh to the node, never asking anything; a CompletedProcess with texts."""
        run_options = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "timeout": limit_s,
            **run_options,
        }
        if "input" in run_options:
            del run_options["stdin"]
        return subprocess.run(
            [
                "ssh",
                "-F",
                str(self.cluster.ssh_config),
                *options,
                "-o",
                "BatchMode=yes",
                self.name,
                *command,
            ],
            check=False,
            **run_options,
        )

    def close(self):
        if self.init:
            self.init.close()

    def wait(self):
        if self.init:
            self.init.wait()
        for holder in self._holders:
            holder.close()

    # Files.

    def _must_move(self):
        held = self.status()["held"]
        if held:
            raise ClusterError(f"{self.name} is {held}; sshd cannot be started anew")

    def _restart(self):
        if self.status()["listening"]:
            self.init.ask(**self.start_request())

    def _write_scenario(self):
        scenario = self.options.scenario
        if scenario is None:
            self.scenario.unlink(missing_ok=True)
        elif isinstance(scenario, str):
            path = self.cluster.options.profiles / f"{scenario}.json"
            if not path.is_file():
                raise ClusterError(f"no profile '{scenario}' in {path.parent}")
            write_file(self.scenario, path.read_text(encoding="utf-8"))
        else:
            write_file(self.scenario, json.dumps(scenario, indent=1))

    def _write_banner(self):
        path = self.folder / "banner"
        if self.options.banner:
            write_file(path, self.options.banner.rstrip("\n") + "\n")
        else:
            path.unlink(missing_ok=True)

    def _write_tools(self):
        smi = self.options.smi
        for old in self.bin.iterdir():
            old.unlink()
        if self.options.python:
            python = "/usr/bin/python3" if self.options.python is True else str(self.options.python)
            (self.bin / "python3").symlink_to(python)
        if self.options.nvidb:
            if not self.cluster.options.binary.exists():
                raise ClusterError(f"{self.cluster.options.binary} is not built")
            (self.bin / "nvidb").symlink_to(self.cluster.options.binary)
        if smi is not None:
            if not str(smi).startswith("#!"):
                if not os.path.isfile(smi):
                    raise ClusterError(f"no file {smi}")
                smi = f"#!/bin/sh\nexec cat {shlex.quote(os.path.abspath(smi))}\n"
            write_file(self.bin / "nvidia-smi", smi, 0o700)

    def _write_login_env(self):
        shell = cluster_shells.find_shell(self.options.shell, str(self.cluster.folder))
        if not shell:
            raise ClusterError(f"no shell '{self.options.shell}' on this machine")
        tools = self.cluster.tools.path(self.options.tools, bool(self.options.python))
        env = {
            "HOME": str(self.home),
            "SHELL": shell,
            "PATH": f"{self.bin}:{tools}",
            "NVIDB_NVML": str(self.folder / "no-driver.so"),
        }
        if self.options.scenario is not None:
            env["NVIDB_NVML"] = str(self.cluster.options.simulator)
            env["NVIDB_FAKE_NVML"] = str(self.scenario)
        env.update(self.options.env)
        write_file(
            self.folder / "login.env",
            "".join(f"export {name}={shlex.quote(value)}\n" for name, value in env.items()),
        )
