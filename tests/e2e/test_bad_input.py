# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Wrong words: a sentence that names the thing, the usage, exit code 2; JSON where asked."""

import json

import pytest

BAD = [
    (["--onec"], "unknown option '--onec'; did you mean '--once'?"),
    (["--once", "--whatever"], "unknown option '--whatever'"),
    (["inof"], "unknown command 'inof'; did you mean 'info'?"),
    (["frobnicate"], "unknown command 'frobnicate'"),
    (["info", "extra"], "unexpected argument 'extra'"),
    (["info", "--jsno"], "unknown option '--jsno'; did you mean '--json'?"),
    (["--once", "--timeout"], "--timeout"),
    (["--once", "--timeout", "soon"], "'soon' is not a number of seconds from 0.1 to 3600"),
    (["--once", "--timeout", "-1"], "'-1' is not a number of seconds"),
    (["--once", "--timeout", "0"], "'0' is not a number of seconds"),
    (["--once", "--timeout", "1e9"], "'1e9' is not a number of seconds"),
    (["--once", "--timeout", "nan"], "'nan' is not a number of seconds"),
    (["--once", "--timeout", ""], "'' is not a number of seconds"),
    (["--interval", "0"], "'0' is not a number of seconds"),
    (["--interval", "99999"], "'99999' is not a number of seconds"),
    (["--timeout", "3"], "--timeout needs --once"),
    (["--csv"], "--csv needs --once"),
    (["--json"], "--json needs --once or a command"),
    (["--once", "--csv", "--json"], "--csv and --json do not go together"),
    (["--once", "info"], "--once does not go with 'info'"),
    (["--once", "--color", "purple"], "purple"),
    (["--once=3"], "once"),
    (["agent", "--interval", "x"], "'x' is not a number of seconds"),
    (["agent", "--demo"], "'agent' takes neither --demo nor --json"),
    (["completion"], "SHELL"),
    (["completion", "powershell"], "powershell"),
    (["completion", "bash", "zsh"], "unexpected argument 'zsh'"),
    (["clean", "--yes"], "--yes needs 'clean all'"),
    (["clean", "some"], "some"),
    (["ls", "extra"], "unexpected argument 'extra'"),
    (["import", "a", "b"], "unexpected argument 'b'"),
    (["add", "--hots", "x"], "unknown option '--hots'; did you mean '--host'?"),
    (["\x1b[2J"], "unknown command '\\x1b[2J'"),
    (["--once", "x\udcffy"], "x\\xffy"),
]


@pytest.mark.parametrize("words,message", BAD, ids=lambda v: repr(v) if isinstance(v, list) else "")
def test_wrong_words(nvidb, words, message):
    done = nvidb.run(*words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("nvidb: ")
    assert message in done.stderr
    assert "usage: nvidb" in done.stderr
    assert "\x1b" not in done.stderr
    if "--json" in words:
        assert json.loads(done.stdout)["ok"] is False
    else:
        assert done.stdout == ""


@pytest.mark.parametrize("words", [["--once", "--json", "--bogus"], ["info", "--json", "--bogus"]])
def test_wrong_words_with_json_are_one_document(nvidb, words):
    done = nvidb.run(*words)
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"ok": False, "error": "unknown option '--bogus'"}
    assert "usage: nvidb" in done.stderr


@pytest.mark.parametrize("words", [["queue"], ["job", "ls"], ["web"], ["log"]])
def test_what_does_not_exist_yet_is_not_offered(nvidb, words):
    done = nvidb.run(*words)
    assert done.returncode == 2
    assert words[0] not in nvidb.run("--help").stdout.split()
