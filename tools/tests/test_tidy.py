# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Each rule of tidy on a tiny tree that must fail and one that must pass."""

import pathlib
import shutil
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS))

import tidy  # noqa: E402

HEAD = "// SPDX-License-Identifier: MIT\n// Copyright (c) 2026 the nvidb authors\n"
HASH_HEAD = HEAD.replace("//", "#")
ROOMS = """# room | tier | rooms | door | third party
base  | 0 | -          | text.h | fmt expected
model | 1 | base       | gpu.h  | json
io    | 1 | base       | child.h | asio
agent | 2 | base io    | -      | dl
config | 2 | base      | -      | -
cli   | 4 | *          | -      | cli11
"""


def header(text="", name="pragma once"):
    return f"{HEAD}#{name}\n{text}\n"


def source(text):
    return f"{HEAD}{text}\n"


def small_tree():
    return {
        "src/ROOMS": ROOMS,
        "src/base/text.h": header(),
        "src/base/width.h": header(),
        "src/model/gpu.h": header('#include "base/text.h"'),
        "src/io/child.h": header(),
        "src/config/paths.cc": source(""),
        "src/agent/main.cc": source('#include "io/child.h"'),
        "src/cli/once_command.cc": source('#include "model/gpu.h"'),
        "tests/e2e/commands.txt": "0 | --once\n",
    }


def problems_of(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tidy.check(folder)[0]


def test_small_tree_is_clean(tmp_path):
    assert problems_of(tmp_path, small_tree()) == []


# (rule, file, what must fail, what must pass)
CASES = [
    ("arrow", "src/model/x.cc", source('#include "io/child.h"'), source('#include "base/text.h"')),
    (
        "arrow",
        "src/model/x_test.cc",
        source('#include "io/child.h"'),
        source('#include "support/golden.h"'),
    ),
    ("door", "src/model/x.cc", source('#include "base/width.h"'), source('#include "base/text.h"')),
    (
        "include-root",
        "src/base/x.cc",
        source('#include "width.h"'),
        source('#include "base/width.h"'),
    ),
    (
        "include-root",
        "src/base/x.cc",
        source('#include "fmt/format.h"'),
        source("#include <fmt/format.h>"),
    ),
    (
        "include-root",
        "src/base/x.cc",
        source('#include "support/golden.h"'),
        source("#include <sys/stat.h>"),
    ),
    ("third-party", "src/base/x.cc", source("#include <asio.hpp>"), source("#include <cstdio>")),
    (
        "third-party",
        "src/agent/x.cc",
        source("#include <nlohmann/json.hpp>"),
        source("#include <fmt/format.h>"),
    ),
    (
        "third-party",
        "src/io/x.cc",
        source("#include <boost/asio.hpp>"),
        source("#include <asio.hpp>"),
    ),
    (
        "third-party",
        "src/io/x.cc",
        source("#include <gtest/gtest.h>"),
        source("// #include <gtest/gtest.h>"),
    ),
    (
        "heavy-header",
        "src/model/x.h",
        header("#include <nlohmann/json.hpp>"),
        header("#include <nlohmann/json_fwd.hpp>"),
    ),
    ("purity", "src/model/x.cc", source("#include <unistd.h>"), source("#include <string>")),
    (
        "shell",
        "src/io/x.cc",
        source('void f() { system("ls"); }'),
        source("void f() { system_clock(); }"),
    ),
    (
        "shell",
        "fakes/x.c",
        source('FILE* f = popen("ls", "r");'),
        source("run.system(3); // system(3)"),
    ),
    (
        "sleep",
        "src/io/x_test.cc",
        source("void f() { usleep(3); }"),
        source('const char* const kA = "usleep(3)";'),
    ),
    (
        "sleep",
        "tests/support/x.h",
        header("inline void f() { std::this_thread::sleep_for(x); }"),
        header(),
    ),
    (
        "environment",
        "src/io/x.cc",
        source('void f() { std::getenv("A"); }'),
        source("// getenv(3)"),
    ),
    ("environment", "src/config/x.cc", None, source('void f() { std::getenv("A"); }')),
    (
        "environment",
        "src/io/x.cc",
        source('void f() { setenv("A", "b", 1); }'),
        source("// setenv(3)"),
    ),
    (
        "output",
        "src/io/x.cc",
        source('void f() { std::cout << "a"; }'),
        source("int f() { return snprintf(a, b); }"),
    ),
    ("output", "src/cli/x.cc", None, source('void f() { printf("a"); }')),
    (
        "clock",
        "src/io/x.cc",
        source("auto f() { return std::chrono::steady_clock::now(); }"),
        source("auto f() { return clock.steady_ms(); }"),
    ),
    (
        "clock",
        "src/io/x.cc",
        source("auto f() { return time(nullptr); }"),
        source("auto f() { return time(zone); }"),
    ),
    (
        "clock",
        "src/base/clock.cc",
        None,
        source("auto f() { return std::chrono::system_clock::now(); }"),
    ),
    (
        "thread",
        "src/io/x.cc",
        source("void f() { std::thread t(g); }"),
        source("void f() { std::this_thread::x(); }"),
    ),
    ("thread", "src/agent/collector.cc", None, source("void f() { std::thread t(g); }")),
    ("regex", "fuzz/x.cc", source("const std::regex kA;"), source("const int kRegex = 1;")),
    (
        "coroutine",
        "src/io/x.cc",
        source("T f() { co_await g(); }"),
        source("// co_await\nint f();"),
    ),
    ("using-namespace", "src/io/x.h", header("using namespace std;"), header("using std::string;")),
    (
        "process",
        "src/io/x.cc",
        source("void f() { fork(); }"),
        source("void f() { start_fork(); }"),
    ),
    (
        "process",
        "src/agent/x.cc",
        source("void f() { execvp(a, b); }"),
        source("void f() { exec.run(); }"),
    ),
    (
        "dlopen",
        "src/io/x.cc",
        source("void f() { dlopen(a, 1); }"),
        source("void f() { open(a, 1); }"),
    ),
    ("dlopen", "src/agent/nvml_library.cc", None, source("void f() { dlopen(a, 1); }")),
    (
        "global",
        "src/io/x.cc",
        source("namespace a {\nint count = 0;\n}"),
        source("constexpr int kCount = 0;"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("static std::map<int, int> cache_;"),
        source("const std::map<int, int> kMap;"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("namespace a { namespace {\nstd::atomic<bool> g{false};\n} }"),
        source("// tidy: a signal handler reaches nothing else.\nstd::atomic<bool> g{false};"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("char buffer[20];"),
        source("struct A {\n  int count = 0;\n};"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("void f() {\n  static int calls = 0;\n}"),
        source("void f() {\n  static const int calls = 0;\n}"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("auto f = [](int x) { return x; };"),
        source("int f(int x) { return x; }"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("int a = 1, b;"),
        source("bool operator==(const A&, const A&) = default;"),
    ),
    (
        "global",
        "src/io/x.cc",
        source("A a = {1, {2}};"),
        source(
            "enum class A { b, c };\nconst A kA = {1};\n"
            "template <class T>\ninline constexpr int kB = 1;"
        ),
    ),
    (
        "global",
        "src/io/x.h",
        header("A* current;"),
        header("class A;\nstruct B : A {};\nusing C = A;\nint f(int = 3);"),
    ),
    ("head", "src/io/x.cc", "// SPDX-License-Identifier: MIT\n", source("")),
    ("head", "tools/x.py", "#!/usr/bin/env python3\n", "#!/usr/bin/env python3\n" + HASH_HEAD),
    ("pragma-once", "src/io/x.h", source("int f();"), header("int f();")),
    ("columns", "src/io/x.cc", source("// " + "x" * 98), source("// " + "ä" * 97)),
    ("white-space", "src/io/x.cc", source("int f(); "), source("int f();")),
    ("white-space", "README.md", "a\tb\n", "a b\n"),
    ("white-space", "README.md", "a", "a\n"),
    ("unfinished", "src/io/x.cc", source("// TO" "DO: more"), source("// TO" "DO(#12): more")),
    ("machine-path", "README.md", "see /wor" "k/main/x\n", "see src/work/main\n"),
    (
        "link",
        "README.md",
        "[a](docs/no.md)\n",
        "[a](src/ROOMS) [b](#c) [d](https://x.org) `[e](f)`\n",
    ),
    ("link", "docs/a.md", "[a](b.md)\n", "[a](../README.md#b)\n\n```\n[a](b)\n```\n"),
    ("link", "src/io/x.cc", source("// See docs/no.md."), source("// See other/docs/no.md.")),
    ("smoke", "src/cli/info_command.cc", source(""), None),
    ("smoke", "src/cli/job_show_command.cc", source(""), None),
    ("not-built", "tests/sim/x_test.cc", source(""), None),
    ("not-built", "src/io/deep/x_test.cc", source(""), None),
    ("syntax", "tools/x.py", HASH_HEAD + "def\n", HASH_HEAD + "x = 1\n"),
]


@pytest.mark.parametrize("rule,name,bad,good", CASES, ids=lambda value: str(value)[-40:])
def test_rule(tmp_path, rule, name, bad, good):
    others = {"README.md": "a\n"}
    if bad is not None:
        found = problems_of(tmp_path / "bad", {**small_tree(), **others, name: bad})
        assert {(path, found_rule) for path, _, found_rule, _ in found} == {(name, rule)}
    if good is not None:
        assert problems_of(tmp_path / "good", {**small_tree(), **others, name: good}) == []


@pytest.mark.parametrize(
    "rule,old,new",
    [
        ("tiers", "model | 1 | base ", "model | 1 | io "),
        ("tiers", "base  | 0 | -    ", "base  | 0 | model"),
        ("rooms", "model | 1 | base ", "model | 1 | nope "),
        ("rooms", "agent | 2 | base io    | -      | dl\n", ""),
        ("rooms", "agent | 2 |", "agent | two |"),
        ("rooms", "agent | 2 |", "other | 2 | - | - | -\nagent | 2 |"),
        ("rooms", "agent | 2 |", "io | 2 | - | - | -\nagent | 2 |"),
        ("door", "| gpu.h ", "| gpu.h no.h "),
    ],
)
def test_rooms_file(tmp_path, rule, old, new):
    assert old in ROOMS
    found = problems_of(tmp_path, {**small_tree(), "src/ROOMS": ROOMS.replace(old, new)})
    assert ("src/ROOMS", rule) in {(path, found_rule) for path, _, found_rule, _ in found}


def test_rooms_file_must_be_there(tmp_path):
    tree = small_tree()
    del tree["src/ROOMS"]
    assert [rule for _, _, rule, _ in problems_of(tmp_path, tree)] == ["rooms"]


def test_smoke_line_may_name_two_words(tmp_path):
    tree = {
        **small_tree(),
        "src/cli/job_show_command.cc": source(""),
        "src/cli/bare_command.cc": source(""),
    }
    tree["tests/e2e/commands.txt"] = "# info\n0 | --once\n0 | job show 1\n1 |  # bare\n"
    assert problems_of(tmp_path, tree) == []


def test_built_tests_pass(tmp_path):
    tree = {
        **small_tree(),
        "tests/CMakeLists.txt": "nvidb_test(x sim/x_test.cc)\n",
        "tests/sim/x_test.cc": source(""),
    }
    assert problems_of(tmp_path, tree) == []


def test_data_and_build_outputs_are_left_alone(tmp_path):
    tree = {
        **small_tree(),
        "tests/golden/a.txt": "a \t",
        "build/x.cc": "\t",
        "src/base/icon.h": "\0\t ",
    }
    assert problems_of(tmp_path, tree) == []


def test_the_trees_own_path_is_a_machine_path(tmp_path):
    found = problems_of(tmp_path, {**small_tree(), "README.md": f"cd {tmp_path}/x\n"})
    assert [rule for _, _, rule, _ in found] == ["machine-path"]


def test_line_numbers_survive_comments_and_raw_texts(tmp_path):
    text = (
        'auto f() {\n  return R"(a\n"b\n)";  /* c\n"d */\n}\nint n = 1\'000;\nvoid g() { fork(); }'
    )
    found = problems_of(tmp_path, {**small_tree(), "src/io/x.cc": source(text)})
    assert [(line, rule) for _, line, rule, _ in found] == [(9, "global"), (10, "process")]


def test_sizes_are_noted_and_do_not_fail(tmp_path):
    body = "\n".join("  g();" for _ in range(80))
    long = f"void f() {{\n{body}\n}}\n" + "\n".join(f"void f{i}();" for i in range(400))
    assert problems_of(tmp_path, {**small_tree(), "src/io/x.cc": source(long)}) == []
    notes = tidy.check(tmp_path)[1]
    assert [(line, rule) for _, line, rule, _ in notes] == [(1, "size"), (3, "size")]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_files_come_from_git_where_there_is_git(tmp_path):
    files = {**small_tree(), ".gitignore": "/mine/\n", "mine/x.cc": "\t", "new.md": "a\tb\n"}
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert [path for path, *_ in problems_of(tmp_path, files)] == ["new.md"]


def test_program_prints_place_and_rule_and_fails(tmp_path):
    problems_of(tmp_path, {**small_tree(), "README.md": "a\tb\n"})
    done = subprocess.run(
        [sys.executable, str(TOOLS / "tidy.py"), str(tmp_path)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "README.md:1: white-space: a tab")
    (tmp_path / "README.md").write_text("a\n")
    done = subprocess.run(
        [sys.executable, str(TOOLS / "tidy.py"), str(tmp_path)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "tidy: 0 problems, 0 notes\n")
