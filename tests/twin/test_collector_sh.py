# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""collector.sh: the collector for servers without Python, under every sh there is."""

import os
import re
import shutil
import signal
import subprocess

import pytest
from conftest import COLLECTOR_SH, LIMIT_S, ROOT, wait_until

SHELLS = {
    "dash": ("dash",),
    "busybox": ("busybox", "sh"),
    "bash": ("bash",),
    "bash as sh": ("bash", "--posix"),
}
SHELLS = {name: words for name, words in SHELLS.items() if shutil.which(words[0])}
FIXTURES = sorted((ROOT / "tests/fixtures/smi").glob("*.xml"))
FIXTURES += sorted((ROOT.parent / "shared/fixtures/nvidia-smi").glob("*.xml"))
CARD = (
    '<?xml version="1.0" ?>\n<nvidia_smi_log>\n\t<gpu id="00000000:01:00.0">\n{}'
    "\t</gpu>\n</nvidia_smi_log>\n"
)
PROCESS = "\t\t<process_info>\n\t\t\t<pid>{}</pid>\n\t\t</process_info>\n"


@pytest.fixture(params=SHELLS.values(), ids=SHELLS.keys())
def shell(request):
    return request.param


@pytest.fixture
def sleeper():
    program = subprocess.Popen(["sleep", "1000"])
    yield program
    program.kill()
    program.wait()


def start_ticks(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[19])


def test_machine_without_gpus(bench, shell, agent_py):
    collector = bench.shell(shell=shell)
    hello = collector.next("hello")
    assert (hello["protocol"], hello["collector"], hello["pid"]) == (
        1,
        "shell",
        collector.process.pid,
    )
    assert hello["host"] == agent_py.Proc().facts()
    assert collector.message() == {
        "type": "inventory",
        "source": "none",
        "simulated": False,
        "gpus": [],
    }
    first, second = collector.next("sample"), collector.next("sample")
    assert (first["seq"], second["seq"], first["gpus"]) == (1, 2, [])
    assert set(first["host"]) == set(agent_py.Proc().read_host())
    assert 0 <= second["host"]["cpu_percent"] <= 100
    assert collector.end() == 0


def test_what_it_reads_of_the_machine_is_what_python_reads(bench, agent_py):
    collector = bench.shell()
    host = collector.next("sample")["host"]
    expected = agent_py.Proc().read_host()
    for key in ("mem_total_mb", "swap_total_mb"):
        assert host[key] == expected[key]
    assert abs(host["uptime_s"] - expected["uptime_s"]) < LIMIT_S


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_output_of_a_driver_reaches_the_reader(bench, agent_py, path):
    raw = path.read_bytes()
    bench.smi_prints(raw)
    message = bench.shell().next("smi_xml")
    assert message["status"] == 0 and len(message["xml"]) <= len(raw)
    assert agent_py.parse_smi_xml(message["xml"].encode()) == agent_py.parse_smi_xml(raw)


def test_every_shell_sends_the_same(bench, shell):
    bench.smi_prints(b"<?xml\t\\ \"quoted\" \\n 'x' $HOME `id` %s \x01\x7f\n\n\xc3\xa9 & <end>\n")
    message = bench.shell(shell=shell).next("smi_xml")
    assert message["xml"] == "<?xml \\ \"quoted\" \\n 'x' $HOME `id` %s \n\né & <end>"


def test_failures_in_words_and_without(bench, shell, agent_py):
    bench.smi(
        "echo 'NVIDIA-SMI has failed because of 100% \"bad\" luck.'; echo on stderr >&2; exit 9\n"
    )
    message = bench.shell(shell=shell).next("smi_xml")
    assert message["status"] == 9
    with pytest.raises(agent_py.SmiTrouble, match='100% "bad" luck'):
        agent_py.parse_smi_xml(message["xml"].encode())
    bench.smi("exit 3\n")
    message = bench.shell(shell=shell).next("smi_xml")
    assert (message["status"], message["xml"]) == (3, "")


def test_the_reader_is_told_what_is_waited_for(bench):
    bench.smi(f"cat '{bench.folder}/go'; cat '{FIXTURES[0]}'\n")
    os.mkfifo(bench.folder / "go")
    collector = bench.shell()
    assert collector.next("notice")["text"] == "asking nvidia-smi"
    (bench.folder / "go").write_text("")
    assert collector.next("smi_xml")["seq"] == 1


def test_processes_are_described(bench, shell, sleeper, agent_py):
    other = subprocess.Popen(
        ["sh", "-c", "read line", "a\\b", '"\x1b\t\n é'], stdin=subprocess.PIPE
    )
    try:
        pids = [sleeper.pid, other.pid, 1, 4194303, sleeper.pid]
        bench.smi_prints(CARD.format("".join(PROCESS.format(pid) for pid in pids)).encode())
        message = bench.shell(shell=shell).next("smi_xml")
        facts = agent_py.Proc().read_processes(sorted(set(pids)))
    finally:
        other.kill()
        other.wait()
        other.stdin.close()
    found = {process["pid"]: process for process in message["processes"]}
    assert sorted(found) == sorted({sleeper.pid, other.pid, 1})
    for pid, process in found.items():
        for key in ("name", "user", "state", "threads", "start_ticks"):
            assert process[key] == facts[pid][key], (pid, key)
        assert abs(process["rss_mb"] - facts[pid]["rss_mb"]) <= 1
        assert abs(process["host_mem_percent"] - facts[pid]["host_mem_percent"]) < 0.1
        assert abs(process["elapsed_s"] - facts[pid]["elapsed_s"]) < LIMIT_S
    assert found[sleeper.pid]["command"] == "sleep 1000"
    assert found[other.pid]["command"].startswith('sh -c read line a\\b " ')


def test_cpu_share_comes_with_the_second_look(bench, shell):
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        bench.smi_prints(CARD.format(PROCESS.format(busy.pid)).encode())
        text = COLLECTOR_SH.read_text().replace("smi_every_s=5", "smi_every_s=1")
        collector = bench.shell(shell=shell, text=text)
        assert "cpu_percent" not in collector.next("smi_xml")["processes"][0]
        assert 0 < collector.next("smi_xml")["processes"][0]["cpu_percent"] < 110
    finally:
        busy.kill()
        busy.wait()


def test_processes_that_nobody_wants(bench, shell, sleeper):
    bench.smi_prints(CARD.format(PROCESS.format(sleeper.pid)).encode())
    text = COLLECTOR_SH.read_text().replace("smi_every_s=5", "smi_every_s=1")
    collector = bench.shell(shell=shell, text=text)
    assert collector.next("smi_xml")["processes"]
    collector.order(type="processes", want=False)
    collector.next("smi_xml", lambda message: not message["processes"])
    collector.order(type="processes", want=True)
    collector.next("smi_xml", lambda message: message["processes"])


def test_output_longer_than_a_line_stays_below_it(bench):
    bench.smi(
        "yes '<process_name>aaaaaaaaaaaaaaaaaaaaaaaa</process_name>' | head -n 40000\n"
    )
    message = bench.shell().next("smi_xml")
    assert message["xml"] == "nvidia-smi failed: it printed more than 900000 bytes"


def test_nvidia_smi_is_asked_every_five_seconds_at_most(bench):
    bench.smi(f"echo x >>'{bench.folder}/asked'; cat '{FIXTURES[0]}'\n")
    collector = bench.shell(interval_ms=1000)
    first, second = collector.next("smi_xml"), collector.next("smi_xml")
    assert second["host"]["uptime_s"] - first["host"]["uptime_s"] >= 4
    assert (bench.folder / "asked").read_text().count("x") == 2


# ---- orders ----


def test_a_signal_reaches_exactly_the_named_process(bench, shell, sleeper):
    collector = bench.shell(shell=shell)
    ticks = start_ticks(sleeper.pid)
    collector.order(type="signal", id=1, pid=sleeper.pid, start_ticks=ticks + 1, signal=9)
    assert collector.next("signal_reply") == {
        "type": "signal_reply",
        "id": 1,
        "error": "no such process",
    }
    collector.order(type="signal", id=-2, pid=4194303, start_ticks=ticks, signal=9)
    assert collector.next("signal_reply") == {
        "type": "signal_reply",
        "id": -2,
        "error": "no such process",
    }
    assert sleeper.poll() is None
    collector.order(type="signal", id=3, pid=sleeper.pid, start_ticks=ticks, signal=15)
    assert collector.next("signal_reply") == {"type": "signal_reply", "id": 3}
    assert sleeper.wait(timeout=LIMIT_S) == -signal.SIGTERM


def test_a_signal_that_is_not_permitted(bench, shell):
    if os.getuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root to become somebody else")
    text = COLLECTOR_SH.read_text()
    collector = bench.start(
        ["setpriv", "--reuid=65534", "--clear-groups", *shell, "-c", text, "nvidb-agent"], cwd="/"
    )
    collector.order(
        type="signal", id=1, pid=os.getpid(), start_ticks=start_ticks(os.getpid()), signal=15
    )
    assert collector.next("signal_reply") == {
        "type": "signal_reply",
        "id": 1,
        "error": "Operation not permitted",
    }


def test_bad_orders_are_ignored(bench, shell):
    collector = bench.shell(shell=shell)
    orders = [
        '{"type":"interval","interval_ms":-1}',
        '{"type":"interval","interval_ms":99999999999999999999}',
        '{"type":"interval"}',
        "[]",
        '{"type":7}',
        '{"type":"processes","want":1}',
        '{"type":"signal"}',
        '{"type":"signal","id":1,"pid":1,"start_ticks":0,"signal":9}',
        '{"type":"signal","id":1,"pid":-1,"start_ticks":0,"signal":9}',
        '{"type":"signal","id":1,"pid":$(id),"start_ticks":0,"signal":9}',
        '{"type":"signal","id":1,"pid":4194303,"start_ticks":0,"signal":1}',
        "\\",
        "`id`",
        "'",
    ]
    collector.send(b"hello\n\nend of it\n\\\n\xff\n" + b"x" * 6000 + b"\n")
    for order in orders:
        collector.send(b"nvidb1 " + order.encode() + b"\n")
    collector.order(type="signal", id=9, pid=4194303, start_ticks=0, signal=9)
    assert collector.next("signal_reply")["id"] == 9
    collector.next("sample")
    assert collector.end() == 0
    assert collector.process.stderr.read() == b""


def test_quit_ends_it(bench, shell):
    collector = bench.shell(shell=shell)
    collector.next("sample")
    collector.order(type="quit")
    assert collector.process.wait(timeout=LIMIT_S) == 0


def test_interval_is_longer_after_an_order(bench):
    collector = bench.shell()
    collector.next("sample")
    collector.order(type="interval", interval_ms=3000)
    samples = [collector.next("sample") for _ in range(3)]
    gaps = [
        after["host"]["uptime_s"] - before["host"]["uptime_s"]
        for before, after in zip(samples, samples[1:])
    ]
    assert max(gaps) >= 2


def test_interval_is_shorter_after_an_order(bench, shell):
    collector = bench.shell(interval_ms=3600000, shell=shell)
    collector.next("sample")
    collector.order(type="interval", interval_ms=100)
    assert collector.next("sample")["seq"] == 2


# ---- the end ----


def session(pid):
    """Processes of the session of `pid` that are not over."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                words = stat.read().rpartition(")")[2].split()
        except (OSError, NotADirectoryError):
            continue
        if words and words[3] == str(pid) and words[0] != "Z":
            found.append(int(entry))
    return found


def start(bench, shell):
    return bench.start(
        [*shell, "-c", COLLECTOR_SH.read_text(), "nvidb-agent"], start_new_session=True
    )


def test_end_of_stdin_leaves_nothing(bench, shell):
    collector = start(bench, shell)
    collector.next("sample")
    assert collector.end() == 0
    assert wait_until(lambda: not session(collector.process.pid))


def test_end_of_stdin_ends_a_nvidia_smi_that_hangs(bench, shell):
    bench.smi("trap '' TERM; sleep 1000 & wait; wait\n")
    collector = start(bench, shell)
    collector.next("notice")
    assert wait_until(
        lambda: any(
            b"nvidia-smi" in open(f"/proc/{pid}/cmdline", "rb").read()
            for pid in session(collector.process.pid)
        )
    )
    assert collector.end() == 0
    assert wait_until(lambda: not session(collector.process.pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it(bench, shell, number):
    collector = start(bench, shell)
    collector.next("sample")
    collector.process.send_signal(number)
    assert collector.process.wait(timeout=LIMIT_S) == 0
    assert wait_until(lambda: not session(collector.process.pid))


def test_reader_that_went_away_ends_it(bench, shell):
    collector = start(bench, shell)
    collector.next("sample")
    collector.process.stdout.close()
    collector.process.wait(timeout=LIMIT_S)
    assert wait_until(lambda: not session(collector.process.pid))


def test_nothing_is_written_to_disk(bench):
    home = bench.folder / "home"
    home.mkdir()
    bench.env["HOME"] = bench.env["TMPDIR"] = str(home)
    bench.smi_prints(FIXTURES[0].read_bytes())
    collector = bench.start(["dash", "-c", COLLECTOR_SH.read_text(), "nvidb-agent"], cwd=home)
    collector.next("smi_xml")
    assert collector.end() == 0
    assert not list(home.iterdir())


# ---- other systems ----


def test_macos(bench, shell):
    values = {
        "hw.ncpu": "8",
        "hw.memsize": "17179869184",
        "vm.loadavg": "{ 1.52 1.41 1.30 }",
        "kern.boottime": "{ sec = 1700000000, usec = 5 } Tue Nov 14 22:13:20 2023",
        "kern.bootsessionuuid": "1234-5",
        "vm.swapusage": "total = 2048.00M  used = 1024.50M  free = 1023.50M  (encrypted)",
    }
    cases = "".join(f"{name}) echo '{value}' ;;\n" for name, value in values.items())
    bench.program("sysctl", f"#!/bin/sh\ncase $2 in\n{cases}*) exit 1 ;;\nesac\n")
    bench.program("sw_vers", "#!/bin/sh\necho 14.5\n")
    bench.program(
        "vm_stat",
        "#!/bin/sh\necho 'Mach Virtual Memory Statistics: (page size of 16384 bytes)'\n"
        "echo 'Pages free:                  1000.'\necho 'File-backed pages:           2000.'\n",
    )
    text = COLLECTOR_SH.read_text().replace("proc=/proc\n", "proc=/no/such/folder\n")
    text = re.sub(r"/etc/os-release /usr/lib/os-release", "/no/such/file", text)
    collector = bench.shell(shell=shell, text=text)
    hello = collector.next("hello")
    assert (hello["host"]["os"], hello["host"]["cpu_cores"], hello["host"]["boot_id"]) == (
        "macOS 14.5",
        8,
        "1234-5",
    )
    host = collector.next("sample")["host"]
    assert host.pop("uptime_s") > 1000
    assert host == {
        "load1": 1.52,
        "mem_used_mb": 16384 - 3000 * 16384 // 1048576 - 1,
        "mem_total_mb": 16384,
        "swap_used_mb": 1024,
        "swap_total_mb": 2048,
    }
    assert collector.end() == 0


def test_system_that_tells_nothing(bench, shell):
    text = COLLECTOR_SH.read_text().replace("proc=/proc\n", "proc=/no/such/folder\n")
    bench.program("sysctl", "#!/bin/sh\nexit 1\n")
    collector = bench.shell(shell=shell, text=text)
    assert collector.next("sample")["host"] == {}
    assert collector.end() == 0
