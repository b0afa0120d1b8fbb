# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`./dev` and its set-up, with an apt-get and a dpkg-query that only pretend."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = "run test build install bench fuzz format tidy golden".split()


def dev(*words, cwd=ROOT):
    return subprocess.run([str(ROOT / "dev"), *words], cwd=cwd, capture_output=True, text=True)


def test_alone_it_lists_its_verbs_from_any_folder(tmp_path):
    done = dev(cwd=tmp_path)
    verbs = done.stdout.partition("Examples:")[0]
    listed = [line.split()[0] for line in verbs.splitlines() if line.startswith("  ")]
    assert (done.returncode, set(VERBS) - set(listed)) == (0, set())
    # What is listed exists, and what exists is listed.
    accepted = re.search(r"case \$verb in\s+([a-z |]+)\)", (ROOT / "dev").read_text()).group(1)
    assert listed == accepted.replace("|", " ").split()
    assert "Examples:" in done.stdout


def test_unknown_verb_is_wrong_usage():
    done = dev("frobnicate")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dev: unknown verb 'frobnicate'")


class Machine:
    """A folder with a PATH of its own, where apt-get installs by adding a line to a file."""

    def __init__(self, folder):
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        (folder / "tools").symlink_to(ROOT / "tools")
        (folder / "installed").write_text("cmake installed\nold config-files\n")
        self.program("dpkg-query", "cat installed")
        self.apt('echo apt "$@" >>calls')

    def program(self, name, text):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def apt(self, update, install=None):
        install = install or (
            'echo "dlstatus:1:10:Retrieving" >&3; echo apt "$@" >>calls\n'
            'for word; do case $word in [a-z]*) echo "$word installed" >>installed;; esac; done'
        )
        self.program("apt-get", f'case "$*" in *" update"*) {update};; *) {install};; esac')

    def set_up(self, *packages, path=None):
        script = "set -euo pipefail\nshopt -s inherit_errexit\nsleep() { :; }\n"
        script += "source tools/dev_words.sh\nsource tools/dev_setup.sh\nset_up " + " ".join(
            packages
        )
        env = {"PATH": path or f"{self.bin}:{os.defpath}", "HOME": str(self.folder)}
        words = ["/bin/bash", "-c", script]
        return subprocess.run(words, cwd=self.folder, env=env, capture_output=True, text=True)

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def machine(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("pretends to be root, to need no sudo")
    return Machine(tmp_path)


def test_nothing_missing_touches_nothing(machine):
    done = machine.set_up("cmake", "'other|cmake'")
    assert (done.returncode, done.stdout, done.stderr, machine.calls()) == (0, "", "", [])


def test_only_what_is_missing_is_installed(machine):
    done = machine.set_up("cmake", "new-dev", "old", "'first|second'")
    assert done.returncode == 0, done.stderr
    assert "installing 3 missing packages: new-dev old first" in done.stdout
    update, install = machine.calls()
    assert " update" in update
    assert install.endswith("install --no-install-recommends new-dev old first")
    assert machine.set_up("cmake", "new-dev", "old", "'first|second'").stdout == ""
    assert len(machine.calls()) == 2


def test_lists_that_cannot_be_refreshed_are_no_end(machine):
    machine.apt("echo 'E: Could not resolve host'; exit 100")
    done = machine.set_up("new-dev")
    assert done.returncode == 0, done.stderr
    assert (
        "could not be refreshed: the network or the package server does not answer" in done.stdout
    )


@pytest.mark.parametrize(
    "words,cause",
    [
        ("E: Failed to fetch x  Connection timed out", "the network or the package server"),
        ("E: Unable to locate package new-dev", "package sources do not offer new-dev"),
        ("E: Package 'new-dev' has no installation candidate", "do not offer new-dev"),
        ("E: Could not open lock file - open (13: Permission denied)", "no permission"),
        ("E: Could not get lock /var/lib/dpkg/lock", "another package manager is running"),
        ("E: You don't have enough free space in /var", "the disk is full"),
        ("E: Something else", "apt-get failed"),
    ],
)
def test_a_failure_is_one_sentence_with_package_cause_and_log(machine, words, cause):
    machine.apt("echo apt >>calls", f'echo apt >>calls; echo "{words}" >&2; exit 100')
    done = machine.set_up("new-dev")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("dev: could not install new-dev: ")
    assert cause in done.stderr
    assert "(log: build/setup.log)" in done.stderr
    # Only a network is worth another try.
    assert (len(machine.calls()) > 2) == ("network" in cause)


def test_without_apt_it_names_what_is_needed_and_goes_on(machine):
    machine.program("cmake", "exit 0")
    for name in ("bash", "mkdir", "cat"):
        (machine.bin / name).symlink_to(f"/bin/{name}")
    (machine.bin / "apt-get").unlink()
    done = machine.set_up("cmake", "libfmt-dev", path=str(machine.bin))
    assert done.returncode == 0, done.stderr
    assert "Needed, by Debian's names: cmake libfmt-dev" in done.stdout
    done = machine.set_up("cmake", "ninja-build", path=str(machine.bin))
    assert (done.returncode, done.stderr) == (
        1,
        "dev: not found: ninja; install them and try again\n",
    )
