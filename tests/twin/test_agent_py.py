# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""agent.py for itself: what it may be made of, and how it behaves as a process."""

import ast
import json
import os
import signal
import subprocess
import sys

import pytest
from conftest import AGENT_PY, MARK, PYTHON, wait_until

A6000 = {"model": "RTX A6000", "util_percent": 50}
SECTIONS = AGENT_PY.read_text().split("\f")
FRONT_RUNS = "exec(b[:b.find(12)])"
CALLS = [
    "nvmlInit_v2",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetPcieThroughput",
]


def start_ticks(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[19])


@pytest.fixture
def sleeper():
    program = subprocess.Popen(["sleep", "1000"])
    yield program
    program.kill()
    program.wait()


# ---- the text ----


def test_python_3_8_reads_it():
    ast.parse(AGENT_PY.read_text(), feature_version=(3, 8))


def test_only_the_standard_library_is_imported():
    modules = set()
    for node in ast.walk(ast.parse(AGENT_PY.read_text())):
        if isinstance(node, ast.Import):
            modules.update(name.name.partition(".")[0] for name in node.names)
        assert not isinstance(node, ast.ImportFrom)
    assert modules <= set(sys.stdlib_module_names) | {"_signal"}


def test_what_costs_time_to_import_waits_until_it_is_needed():
    done = subprocess.run(
        [*PYTHON[:-1], "-X", "importtime", str(AGENT_PY), "once"],
        text=True,
        env={"PATH": "/no/such/folder", "NVIDB_NVML": "/no/such/file"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "posix" in imported
    assert not imported & {"json", "threading", "subprocess", "signal", "re", "enum", "xml"}


def test_usual_way_imports_little(bench):
    bench.scenario({"gpus": [A6000]})
    done = subprocess.run(
        [*PYTHON[:-1], "-X", "importtime", str(AGENT_PY), "once"],
        text=True,
        env=bench.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert '"type":"sample"' in done.stdout and "_ctypes" in imported
    assert not imported & {"os", "ctypes", "json", "threading", "subprocess", "signal", "re"}


def names_in(section):
    """(what it defines, what it uses, what it asks `later` for)"""
    tree = ast.parse(section)
    defined = {node.name for node in tree.body if hasattr(node, "name")}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            defined |= {name.id for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    asked = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "later"
    }
    return defined, used, asked


def test_nothing_is_used_before_it_is_compiled():
    names = [names_in(section) for section in SECTIONS]
    assert len(names) > 2
    at_once = names[0][0] | names[1][0]
    elsewhere = set().union(*(defined for defined, _, _ in names[2:]))
    assert not at_once & elsewhere
    smi, without_nvml = names[-1], next(one for one in names[2:] if "try_smi" in one[0])
    for one in names:
        defined, used, asked = one
        at_hand = defined | at_once
        if one is smi:
            at_hand |= without_nvml[0]  # the only one that asks for it
            assert all("Smi" not in other[2] for other in names if other is not without_nvml)
        assert not used & (elsewhere - at_hand)
        assert asked <= elsewhere
    assert all(text.startswith("\n# ---- later: ") for text in SECTIONS[2:])


def test_each_later_section_compiles_by_itself(agent_py):
    for section in SECTIONS[2:]:
        defined, _, _ = names_in(section)
        names = dict(vars(agent_py))
        for name in defined:
            del names[name]
        exec(section, names)
        assert defined <= set(names)


def test_front_part_starts_all_of_it(bench):
    bench.scenario({"gpus": [A6000]})
    code = f"b = open({str(AGENT_PY)!r}, 'rb').read(); {FRONT_RUNS}"
    collector = bench.python("100", argv=[*PYTHON[:-1], "-c", code])
    assert len(collector.next("sample")["gpus"]) == 1
    collector.order(type="signal", id=3, pid=4194000, start_ticks=0, signal=9)
    assert collector.next("signal_reply")["error"] == "no such process"
    collector.order(type="quit")
    assert collector.process.wait(timeout=60) == 0


def test_nothing_is_written_to_disk(bench):
    bench.scenario({"gpus": [A6000]})
    home = bench.folder / "home"
    home.mkdir()
    bench.env["HOME"] = bench.env["TMPDIR"] = str(home)
    collector = bench.python("100")
    collector.next("sample")
    collector.order(type="quit")
    assert collector.process.wait(timeout=60) == 0
    assert not list(home.iterdir())


# ---- the process ----


def test_messages_come_in_their_order(bench):
    bench.scenario({"gpus": [A6000, A6000]})
    collector = bench.python("100")
    hello = collector.message()
    assert (hello["type"], hello["protocol"], hello["collector"]) == ("hello", 1, "python")
    assert collector.message() == {"type": "notice", "text": "waking 2 GPUs"}
    assert collector.message()["type"] == "inventory"
    assert [collector.message()["seq"] for _ in range(3)] == [1, 2, 3]
    assert collector.end() == 0


@pytest.mark.parametrize("call", CALLS)
def test_end_of_stdin_ends_it_whatever_the_driver_does(bench, call):
    bench.scenario({"block": [call], "gpus": [A6000]})
    collector = bench.python("100")
    assert collector.message()["type"] == "hello"
    assert collector.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_quietly(bench, number):
    bench.scenario({"block": ["nvmlDeviceGetName"], "gpus": [A6000]})
    collector = bench.python("100")
    collector.next("notice")
    collector.process.send_signal(number)
    assert collector.process.wait(timeout=60) == 0
    assert collector.process.stderr.read() == b""


def test_quit_ends_it(bench):
    collector = bench.python("100")
    collector.next("hello")
    collector.order(type="quit")
    assert collector.process.wait(timeout=60) == 0


def test_reader_that_went_away_ends_it(bench):
    collector = bench.python("3600000")
    collector.next("sample")
    collector.process.stdout.close()
    assert collector.process.wait(timeout=60) == 1


def test_nobody_reading_does_not_keep_it_alive(bench):
    bench.scenario("h200x8")
    collector = bench.python("100")
    collector.next("sample")
    assert collector.end() == 0


def test_bad_orders_are_ignored(bench):
    collector = bench.python("100")
    deep = MARK + b"[" * 2000 + b"]" * 2000 + b"\n"
    orders = [
        b'{"type":"interval","interval_ms":-1}',
        b'{"type":"interval","interval_ms":true}',
        b'{"type":"interval","interval_ms":1e3}',
        b"[]",
        b"7",
        b'{"type":7}',
        b'{"type":"nothing"}',
        b'{"type":"line"}',
        b'{"type":"processes","want":1}',
        b'{"type":"processes"}',
        b'{"type":"signal","id":1,"pid":1,"start_ticks":0,"signal":9}',
        b'{"type":"quit"',
        b"",
        b'{"type":"signal","id":1,"pid":99999999999,"start_ticks":0,"signal":9}',
        b'{"type":"signal","id":1,"pid":4194000,"start_ticks":0,"signal":1}',
    ]
    for junk in (
        b"hello\n",
        b"\n",
        b"x" * 300000 + b"\n",
        b"\xff\xfe\n",
        deep,
        MARK + b"\xff\n",
        b"x" * 5000 + MARK + b'{"type":"quit"}\n',
        *(MARK + order + b"\n" for order in orders),
    ):
        collector.send(junk)
    collector.order(type="signal", id=-7, pid=4194000, start_ticks=0, signal=9)
    # Only the last one is answered, for only that one is an order.
    assert collector.next("signal_reply") == {
        "type": "signal_reply",
        "id": -7,
        "error": "no such process",
    }
    collector.next("sample")
    assert collector.end() == 0


def test_order_in_two_parts_and_two_orders_in_one(bench):
    collector = bench.python("100")
    line = MARK + b'{"type":"signal","id":%d,"pid":4194000,"start_ticks":0,"signal":9}\r\n'
    collector.send((line % 1)[:20])
    collector.next("sample")
    collector.send((line % 1)[20:] + line % 2)
    assert [collector.next("signal_reply")["id"] for _ in range(2)] == [1, 2]


def test_interval_is_changed_at_once(bench):
    collector = bench.python("3600000")
    collector.next("sample")
    collector.order(type="interval", interval_ms=100)
    assert collector.next("sample")["seq"] == 2
    assert collector.next("sample")["seq"] == 3


@pytest.mark.parametrize("blocked", [False, True])
def test_a_signal_reaches_exactly_the_named_process(bench, sleeper, blocked):
    bench.scenario({"block": ["nvmlInit_v2"] if blocked else [], "gpus": [A6000]})
    collector = bench.python("100")
    ticks = start_ticks(sleeper.pid)
    collector.order(type="signal", id=1, pid=sleeper.pid, start_ticks=ticks + 1, signal=9)
    assert collector.next("signal_reply") == {
        "type": "signal_reply",
        "id": 1,
        "error": "no such process",
    }
    assert sleeper.poll() is None
    collector.order(type="signal", id=2, pid=sleeper.pid, start_ticks=ticks, signal=15)
    assert collector.next("signal_reply") == {"type": "signal_reply", "id": 2}
    assert sleeper.wait(timeout=60) == -signal.SIGTERM


def test_a_signal_without_pidfd(agent_py, sleeper, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    proc, ticks = agent_py.Proc(), start_ticks(sleeper.pid)
    assert agent_py.signal_process(proc, sleeper.pid, ticks + 1, 15) == "no such process"
    assert agent_py.signal_process(proc, sleeper.pid, ticks, 15) is None
    assert sleeper.wait(timeout=60) == -signal.SIGTERM
    assert agent_py.signal_process(proc, sleeper.pid, ticks, 15) == "no such process"
    assert agent_py.signal_process(proc, 1 << 31, 0, 15) == "pid 2147483648 cannot be signalled"


def test_a_kernel_without_pidfd(agent_py, sleeper, monkeypatch):
    def refuse(_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    ticks = start_ticks(sleeper.pid)
    assert agent_py.signal_process(agent_py.Proc(), sleeper.pid, ticks, 15) is None
    assert sleeper.wait(timeout=60) == -signal.SIGTERM


# ---- nvidia-smi ----


def test_a_nvidia_smi_that_hangs_ends_with_it(bench):
    bench.smi(
        f"sleep 1000 & echo $! $$ >'{bench.folder}/pids.part'; "
        f"mv '{bench.folder}/pids.part' '{bench.folder}/pids'; trap '' TERM; wait; wait\n"
    )
    collector = bench.python("100")
    assert collector.next("hello")
    assert wait_until((bench.folder / "pids").exists)
    pids = [int(word) for word in (bench.folder / "pids").read_text().split()]
    assert collector.end() == 0
    assert wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


def test_a_nvidia_smi_that_is_late(agent_py, bench, monkeypatch):
    bench.smi("sleep 1000\n")
    monkeypatch.setenv("PATH", bench.env["PATH"])
    monkeypatch.setattr(agent_py, "SMI_DEADLINE_MS", 50)
    with pytest.raises(agent_py.SmiTrouble) as trouble:
        agent_py.Smi().ask(agent_py.smi_programs())
    assert trouble.value.args == ("nvidia-smi did not answer within 0.1 s", "timeout")


def test_a_nvidia_smi_that_prints_without_end(agent_py, bench, monkeypatch):
    bench.smi("yes\n")
    monkeypatch.setenv("PATH", bench.env["PATH"])
    with pytest.raises(agent_py.SmiTrouble) as trouble:
        agent_py.Smi().ask(agent_py.smi_programs())
    assert trouble.value.args == ("nvidia-smi printed more than 16777216 bytes",)


# ---- other systems ----


def test_python_without_ctypes_has_host_facts_and_nvidia_smi(bench):
    code = f"import sys; sys.modules['_ctypes'] = None; b = open({str(AGENT_PY)!r}, 'rb').read(); "
    code += FRONT_RUNS
    bench.scenario({"gpus": [A6000]})
    sample = bench.python("100", argv=[*PYTHON[:-1], "-c", code]).next("sample")
    assert sample["gpus"] == [] and sample["host"]["mem_total_mb"] > 0


def test_a_system_without_proc_has_what_python_knows(agent_py, tmp_path):
    host = agent_py.open_proc(str(tmp_path))
    assert isinstance(host, agent_py.Mac)
    assert host.facts()["cpu_cores"] == os.cpu_count() and host.facts()["hostname"]
    assert host.read_host()["mem_total_mb"] > 0
    assert host.read_processes([1]) == {1: {}}


def test_macos(agent_py, monkeypatch):
    values = {
        "hw.memsize": (16 << 30).to_bytes(8, sys.byteorder),
        "vm.page_free_count": (1000).to_bytes(4, sys.byteorder),
        "vm.page_pageable_external_count": (2000).to_bytes(4, sys.byteorder),
        "vm.page_purgeable_count": (0).to_bytes(4, sys.byteorder),
        "vm.swapusage": b"".join((mb << 20).to_bytes(8, sys.byteorder) for mb in (2048, 2000, 48)),
        "kern.boottime": (1).to_bytes(16, sys.byteorder),
        "kern.osproductversion": b"14.5\0",
        "kern.bootsessionuuid": b"1234-5\0",
    }
    host = agent_py.Mac()
    monkeypatch.setattr(host, "sysctl", values.get)
    monkeypatch.setattr(host, "page_bytes", 16384)
    monkeypatch.setattr(
        os, "uname", lambda: os.uname_result(("Darwin", "mac", "23.5.0", "", "arm64"))
    )
    assert host.facts() == {
        "hostname": "mac",
        "os": "macOS 14.5",
        "cpu_cores": os.cpu_count(),
        "boot_id": "1234-5",
    }
    reading = host.read_host()
    assert reading["uptime_s"] > 0
    assert (reading["mem_total_mb"], reading["mem_used_mb"]) == (
        16384,
        16384 - 3000 * 16384 // 1048576 - 1,
    )
    assert (reading["swap_total_mb"], reading["swap_used_mb"]) == (2048, 48)


# ---- parts ----


@pytest.mark.parametrize(
    "value,text",
    [
        (0.0, "0"),
        (3.0, "3"),
        (0.1, "0.1"),
        (0.05, "0.05"),
        (0.004, "0"),
        (0.005, "0.01"),
        (-0.001, "0"),
        (-1.25, "-1.25"),
        (99.999, "100"),
        (123456.789, "123456.79"),
    ],
)
def test_numbers_are_short(agent_py, value, text):
    assert agent_py.decimal(value) == text


def test_what_is_no_number_is_absent(agent_py):
    fields = {"type": "x", "a": float("nan"), "b": float("inf"), "c": 1e15, "d": None, "e": ""}
    assert agent_py.encode_line(fields) == b'nvidb1 {"type":"x"}\n'


def test_any_text_becomes_json(agent_py):
    for text in ("".join(map(chr, range(0x250))), "\ufffd\U0001f600", '\\"/'):
        line = agent_py.encode_line({"text": text})
        assert json.loads(line[len(MARK) :].decode())["text"] == text
        assert line.count(b"\n") == 1 and not any(byte < 32 for byte in line[:-1])


STAT = (
    b"7 (%s) S 1 7 7 0 -1 4194560 100 0 0 0 11 22 0 0 20 0 3 0 555 1000000 250 "
    b"18446744073709551615 1 1\n"
)


@pytest.mark.parametrize("comm", [b"sh", b"a) R 1 (b", b"(", b")", b"", b"\xff \n"])
def test_stat_of_a_process(agent_py, comm):
    assert agent_py.parse_stat(STAT % comm) == (7, comm, "S", 33, 3, 555, 250)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"7",
        b"7 (sh",
        b"7 (sh)",
        b"7 (sh) S 1 2 3",
        b"x (sh) S " + b"1 " * 30,
        STAT[:60] % b"sh",
        (STAT % b"sh").replace(b" 11 ", b" -1 "),
        (STAT % b"sh").replace(b" 555 ", b" x "),
    ],
)
def test_stat_that_is_none(agent_py, text):
    assert agent_py.parse_stat(text) is None


def test_memory_before_linux_3_14(agent_py):
    found = agent_py.parse_meminfo(
        b"MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 5 kB\nCached: 7 kB\nx\n: 3\nA: b\n"
    )
    assert found[b"MemAvailable"] == 22


@pytest.mark.parametrize(
    "line,name",
    [
        (b'PRETTY_NAME="Debian 12"', "Debian 12"),
        (b"PRETTY_NAME=Arch", "Arch"),
        (b"PRETTY_NAME='a\\b' ", "a\\b"),
        (b'PRETTY_NAME="a\\"b"', 'a"b'),
        (b'PRETTY_NAME=""', None),
        (b"NAME=x", None),
        (b"PRETTY_NAME=" + b"x" * 300, "x" * 256),
    ],
)
def test_name_of_the_system(agent_py, line, name):
    assert agent_py.parse_pretty_name(b"ID=x\n" + line + b"\nZ=1\n") == name


@pytest.mark.parametrize(
    "text,version",
    [
        (
            b"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.54.03  Release",
            "535.54.03",
        ),
        (b"535.54.03", "535.54.03"),
        (b"1", None),
        (b"", None),
        (b"x86_64 a1.2 3.", None),
        (b"so.1 2.3.", "2.3"),
    ],
)
def test_version_in_a_text(agent_py, text, version):
    assert agent_py.find_version(text) == version


@pytest.mark.parametrize(
    "due,interval,now,next_due",
    [
        (0, 100, 50, 100),
        (0, 100, 99, 100),
        (0, 100, 100, 200),
        (0, 100, 350, 400),
        (5, 1000, 5, 1005),
    ],
)
def test_missed_samples_are_skipped(agent_py, due, interval, now, next_due):
    assert agent_py.next_due_ms(due, interval, now) == next_due


@pytest.mark.parametrize(
    "xml",
    [
        b"<nvidia_smi_log>" + b"<a>" * 100 + b"</a>" * 100 + b"</nvidia_smi_log>",
        b"<nvidia_smi_log><a></b></nvidia_smi_log>",
        b"<nvidia_smi_log></nvidia_smi_log></a>",
        b"<nvidia_smi_log>< ></nvidia_smi_log>",
        b"<nvidia_smi_log",
        b"<?xml",
        b"<?xml?><!DOCTYPE a",
    ],
)
def test_xml_that_is_none(agent_py, xml):
    with pytest.raises(agent_py.SmiTrouble):
        agent_py.parse_smi_xml(xml)
