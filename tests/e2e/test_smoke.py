# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Every command of commands.txt, once."""

import pathlib
import shlex
import subprocess

import pytest


def lines():
    for line in (pathlib.Path(__file__).parent / "commands.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            code, _, words = line.partition("|")
            yield int(code), shlex.split(words)


@pytest.mark.parametrize(
    "code,words", lines(), ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_command(nvidb, code, words):
    nvidb.scenario("h200x8")
    done = nvidb.run(*words)
    assert done.returncode == code, done.stderr
    assert (done.stdout == "") == (code != 0)
    assert (done.stderr == "") == (code == 0)
    assert "\x1b" not in done.stdout or "always" in words


def test_bare_nvidb_points_to_once(nvidb):
    done = nvidb.run()
    assert done.returncode == 1
    assert "nvidb --once" in done.stderr


def test_version_is_one_line(nvidb):
    name, version = nvidb.run("--version").stdout.split()
    assert name == "nvidb"
    assert len(version.split(".")) == 3


@pytest.mark.parametrize(
    "words",
    [[], ["info"], ["agent"], ["completion"], ["add"], ["import"], ["ls"], ["clean"]],
)
def test_every_help_has_examples(nvidb, words):
    text = nvidb.run(*words, "--help").stdout
    assert "Examples:" in text
    assert "nvidb " + " ".join(words) in text
    assert max(map(len, text.splitlines())) <= 120


def test_bash_completion_works(nvidb, tmp_path):
    script = tmp_path / "completion.bash"
    script.write_text(nvidb.run("completion", "bash").stdout)
    ask = (
        f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nvidb; '
        'echo "${COMPREPLY[@]}"'
    )

    def complete(*words):
        done = subprocess.run(
            ["bash", "-c", ask, "bash", *words], capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert "info" in complete("nvidb", "")
    assert complete("nvidb", "--onc") == ["--once"]
    assert complete("nvidb", "--color", "") == ["auto", "always", "never"]
    assert complete("nvidb", "completion", "f") == ["fish"]
    assert complete("nvidb", "clean", "a") == ["all"]
    assert "--proxyjump" in complete("nvidb", "add", "--")
    assert "--interval" in complete("nvidb", "agent", "--")
