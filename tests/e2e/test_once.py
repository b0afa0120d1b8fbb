# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`nvidb --once` over the simulator: what is shown, what goes wrong, and how that is told."""

import csv
import io
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata

import pytest

from conftest import PROFILES, ROOT, SIMULATOR, agents_of, wait_until

CARD = {"model": "RTX 3090 Ti", "util_percent": 87, "mem_used_mb": 20480}


def columns(line):
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in line
    )


def test_json_has_the_documented_shape(nvidb):
    nvidb.scenario("h200x8")
    document = nvidb.json("--once", "--json")
    assert list(document) == ["schema", "version", "generated_at", "simulated", "nodes", "users"]
    assert document["schema"] == 1
    assert document["simulated"] is True
    assert document["generated_at"].endswith("+00:00")
    (node,) = document["nodes"]
    assert list(node) == [
        "name",
        "address",
        "port",
        "username",
        "local",
        "state",
        "age_s",
        "error",
        "source",
        "collector",
        "driver_version",
        "cuda_version",
        "sampled_at",
        "sample_ms",
        "host",
        "gpus",
        "users",
    ]
    assert (node["local"], node["state"], node["source"], node["collector"]) == (
        True,
        "up",
        "nvml",
        "native",
    )
    assert node["error"] is None
    assert len(node["gpus"]) == 8
    for index, gpu in enumerate(node["gpus"]):
        assert gpu["index"] == index
        assert list(gpu) == [
            "index",
            "uuid",
            "name",
            "pci_bus_id",
            "architecture",
            "util_percent",
            "mem_util_percent",
            "mem_used_mb",
            "mem_total_mb",
            "mem_reserved_mb",
            "mem_used_percent",
            "temperature_c",
            "fan_percent",
            "power_w",
            "power_limit_w",
            "performance_state",
            "sm_clock_mhz",
            "mem_clock_mhz",
            "encoder_util_percent",
            "decoder_util_percent",
            "pcie",
            "ecc_uncorrected",
            "throttle_reasons",
            "mig",
            "error",
            "processes",
        ]
        assert list(gpu["pcie"]) == [
            "gen",
            "width",
            "gen_max",
            "width_max",
            "rx_kb_s",
            "tx_kb_s",
            "rx_percent",
            "tx_percent",
        ]
        assert gpu["pcie"]["rx_kb_s"] is not None
        for process in gpu["processes"]:
            assert list(process) == [
                "pid",
                "type",
                "name",
                "command",
                "user",
                "mem_mb",
                "mem_percent",
                "cpu_percent",
                "host_mem_percent",
                "rss_mb",
                "elapsed_s",
                "state",
                "threads",
            ]
    assert sum(len(gpu["processes"]) for gpu in node["gpus"]) == 32
    assert node["host"]["cpu_cores"] == os.cpu_count()
    assert node["host"]["cpu_percent"] is not None
    assert node["host"]["mem_total_mb"] > 0


def test_a_real_process_is_known_by_its_facts(nvidb):
    worker = subprocess.Popen([sys.executable, "-c", "while True: pass", "--epochs", "3"])
    try:
        nvidb.scenario(
            {"gpus": [{**CARD, "processes": [{"pid": worker.pid, "type": "C", "mem_mb": 4096}]}]}
        )
        document = nvidb.json("--once", "--json")
        (process,) = document["nodes"][0]["gpus"][0]["processes"]
        assert process["pid"] == worker.pid
        assert process["command"].endswith("--epochs 3")
        assert process["mem_mb"] == 4096
        assert process["mem_percent"] == pytest.approx(16.7, abs=0.2)
        assert process["user"] and process["state"] and process["threads"] >= 1
        assert process["cpu_percent"] > 1
        assert document["users"] == [{"user": process["user"], "mem_mb": 4096}]
    finally:
        worker.kill()
        worker.wait()


def test_csv_has_a_header_and_a_row_a_card(nvidb):
    nvidb.scenario("h200x8")
    rows = list(csv.DictReader(io.StringIO(nvidb.run("--once", "--csv").stdout)))
    assert len(rows) == 8
    assert [row["index"] for row in rows] == [str(i) for i in range(8)]
    for key in ("node", "uuid", "name", "util_percent", "mem_used_mb", "pcie.gen", "error"):
        assert key in rows[0]


@pytest.mark.parametrize("width", [60, 61, 79, 80, 100, 120, 200, 500])
@pytest.mark.parametrize(
    "profile", sorted(path.stem for path in (ROOT / "fakes/nvml/profiles").glob("*.json"))
)
def test_text_fits_any_width_and_shows_every_card(nvidb, profile, width):
    nvidb.scenario(profile)
    done = nvidb.run("--once", env={"COLUMNS": str(width)})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(columns, lines)) <= width
    assert "SIMULATED" in done.stdout
    count = len(nvidb.json("--once", "--json")["nodes"][0]["gpus"])
    shown = {int(words[0]) for words in map(str.split, lines) if words and words[0].isdigit()}
    assert set(range(count)) <= shown


@pytest.mark.parametrize("columns_value", ["", "0", "-5", "wide", "99999999999999999999", "1e3"])
def test_odd_columns_are_not_a_problem(nvidb, columns_value):
    nvidb.scenario("rtx3090ti")
    assert nvidb.run("--once", env={"COLUMNS": columns_value}).returncode == 0


def test_without_utf8_everything_is_ascii(nvidb):
    nvidb.scenario("demo")
    assert nvidb.run("--once", env={"LANG": "C"}).stdout.isascii()
    assert not nvidb.run("--once", env={"LANG": "en_US.UTF-8"}).stdout.isascii()


def test_colour_only_where_it_is_wanted(nvidb):
    nvidb.scenario("demo")
    assert "\x1b" not in nvidb.run("--once").stdout
    assert "\x1b[" in nvidb.run("--once", "--color", "always").stdout
    plain = nvidb.run("--once", "--color=never", env={"COLUMNS": "100"}).stdout
    assert "\x1b" not in plain
    terminal = "stty cols 100 rows 50; exec " + nvidb.word + " --once"

    def on_terminal(**env):
        done = subprocess.run(
            ["script", "-qec", terminal, "/dev/null"],
            env={**nvidb.env, **env},
            timeout=60,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "\x1b[" in on_terminal()
    assert "\x1b" not in on_terminal(NO_COLOR="1")
    assert "\x1b" not in on_terminal(TERM="dumb")


def test_a_terminal_sees_what_is_waited_for(nvidb):
    nvidb.scenario({"attach_delay_ms": 1500, "gpus": [CARD]})
    done = subprocess.run(
        ["script", "-qec", nvidb.word + " --once", "/dev/null"],
        env=nvidb.env,
        timeout=60,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert "waking 1 GPU" in done.stdout
    assert nvidb.run("--once").stderr == ""


def test_hostile_names_are_shown_not_obeyed(nvidb, tmp_path):
    nvidb.scenario(
        {
            "gpus": [
                {
                    **CARD,
                    "name": "evil\x1b[2J\r\n\x07 card" + "x" * 60,
                    "processes": [
                        {
                            "pid": 4000000,
                            "type": "C",
                            "mem_mb": 1,
                            "facts": {
                                "user": "\x1b]0;owned\x07",
                                "name": "\x9b31m",
                                "command": "a\nb\x1b[31m\u202e",
                                "cpu_percent": 1,
                            },
                        }
                    ],
                },
                {**CARD, "name_bytes": "4755ff5055fe8080"},
                {**CARD, "string_fill": True},
                {**CARD, "name": "日本語のカード👩‍💻é" * 5},
            ]
        }
    )
    for words in (["--once"], ["--once", "--csv"], ["--once", "--json"], ["info"]):
        done = nvidb.run(*words, text=False)
        assert done.returncode == 0
        text = done.stdout.decode("utf-8")
        bad = [c for c in text if c != "\n" and (unicodedata.category(c) == "Cc")]
        assert bad == []
    lines = nvidb.run("--once", env={"COLUMNS": "80"}).stdout.splitlines()
    assert max(map(columns, lines)) <= 80


def test_no_driver_is_a_normal_answer(nvidb):
    done = nvidb.run("--once")
    assert done.returncode == 0
    assert "no NVIDIA GPU" in done.stdout
    node = nvidb.json("--once", "--json")["nodes"][0]
    assert (node["state"], node["source"], node["gpus"], node["error"]) == ("up", "none", [], None)
    assert node["host"]["mem_total_mb"] > 0
    assert nvidb.run("--once", "--csv").stdout.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_path_that_may_not_be_searched_is_no_error(nvidb):
    locked = nvidb.home / "locked"
    locked.mkdir(mode=0o700)
    program = pathlib.Path(tempfile.mkdtemp(prefix="nvb-")) / "nvidb"
    try:
        shutil.copy(nvidb.binary, program)
        program.parent.chmod(0o755)
        become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        done = subprocess.run(
            [*become, str(program), "--once"],
            env={"PATH": f"/usr/bin:/bin:{locked}", "HOME": "/nonexistent", "NVIDB_NVML": "/none"},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        shutil.rmtree(program.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no NVIDIA GPU" in done.stdout


@pytest.mark.parametrize(
    "code,words",
    [
        (9, "not loaded"),
        (18, "differ"),
        (999, "unknown"),
        (15, "lost"),
        (28, "found"),
        (12345, "12345"),
    ],
)
def test_init_failures_are_told_in_plain_words(nvidb, code, words):
    nvidb.scenario({"init_code": code, "driver_version": "570.124.04", "gpus": [CARD]})
    done = nvidb.run("--once", "--json")
    assert done.returncode == 1
    node = json.loads(done.stdout)["nodes"][0]
    assert words.lower() in node["error"].lower()
    assert node["host"]["mem_total_mb"] > 0
    text = nvidb.run("--once")
    assert text.returncode == 1
    assert words.lower() in " ".join(text.stdout.lower().split())


def test_a_lost_card_keeps_its_row_and_the_others_go_on(nvidb):
    nvidb.scenario({"gpus": [CARD, {**CARD, "lost": True}, CARD]})
    done = nvidb.run("--once", "--json")
    assert done.returncode == 0
    gpus = json.loads(done.stdout)["nodes"][0]["gpus"]
    assert [gpu["index"] for gpu in gpus] == [0, 1, 2]
    assert "lost" in gpus[1]["error"]
    assert gpus[1]["util_percent"] is None
    assert gpus[0]["util_percent"] == gpus[2]["util_percent"] == 87
    assert "lost" in nvidb.run("--once").stdout


@pytest.mark.parametrize(
    "call",
    [
        "nvmlInit_v2",
        "nvmlDeviceGetHandleByIndex_v2",
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetComputeRunningProcesses_v3",
    ],
)
def test_a_driver_call_that_never_returns_is_given_up(nvidb, call):
    nvidb.scenario({"block": [call], "gpus": [CARD]})
    done = nvidb.run("--once", "--json", "--timeout", "0.5")
    assert done.returncode == 1
    node = json.loads(done.stdout)["nodes"][0]
    assert node["state"] == "down"
    assert "no sample within 0.5 s" in node["error"]
    assert nvidb.run("--once", "--timeout", "0.5").returncode == 1
    assert wait_until(lambda: agents_of(str(nvidb.home)) == [])


def test_a_blocked_pcie_call_costs_only_its_own_fields(nvidb):
    nvidb.scenario({"block": ["nvmlDeviceGetPcieThroughput"], "gpus": [CARD]})
    gpu = nvidb.json("--once", "--json")["nodes"][0]["gpus"][0]
    assert gpu["util_percent"] == 87
    assert gpu["pcie"]["rx_kb_s"] is None


def test_a_driver_that_crashes_takes_only_the_collector(nvidb):
    nvidb.scenario({"crash": ["nvmlDeviceGetUtilizationRates"], "gpus": [CARD]})
    done = nvidb.run("--once", "--json")
    assert done.returncode == 1
    assert "the collector" in json.loads(done.stdout)["nodes"][0]["error"]


def test_a_driver_that_prints_does_not_disturb(nvidb):
    nvidb.scenario({"noise": 'nvidb1 {"type":"sample"} rubbish\n', "gpus": [CARD]})
    node = nvidb.json("--once", "--json")["nodes"][0]
    assert node["gpus"][0]["util_percent"] == 87


@pytest.mark.parametrize(
    "script,words",
    [
        ("echo rubbish; exit 3", "exit status 3: rubbish"),
        ("exit 0", "exit status 0"),
        ("kill -9 $$", "signal 9"),
        (
            'echo \'nvidb1 {"type":"hello","protocol":99,"collector":"native","version":"9",'
            '"pid":1,'
            '"host":{}}\'; sleep 60',
            "protocol 99",
        ),
        ("sleep 60", "did not answer within 0.5 s"),
        ("yes | tr -d '\\n' | head -c 30000000; sleep 60", "longer than 1048576 bytes"),
        ("cat /dev/urandom", "did not answer within 0.5 s"),
    ],
)
def test_a_collector_that_misbehaves_is_an_error_row(nvidb, script, words):
    collector = nvidb.home / "collector"
    collector.write_text("#!/bin/sh\n" + script + "\n")
    collector.chmod(0o755)
    done = nvidb.run(
        "--once", "--json", "--timeout", "0.5", env={"NVIDB_COLLECTOR": str(collector)}
    )
    assert done.returncode == 1
    node = json.loads(done.stdout)["nodes"][0]
    assert node["state"] == "down"
    assert words in node["error"]


def test_missing_symbols_cost_only_their_fields(nvidb):
    library = nvidb.home / "old.so"
    subprocess.run(
        [
            sys.executable,
            ROOT / "fakes/nvml/hide_symbols.py",
            SIMULATOR,
            library,
            "nvmlDeviceGetFanSpeed",
            "nvmlDeviceGetMemoryInfo_v2",
        ],
        check=True,
    )
    nvidb.scenario({"gpus": [CARD]}, library=library)
    gpu = nvidb.json("--once", "--json")["nodes"][0]["gpus"][0]
    assert gpu["fan_percent"] is None
    assert gpu["mem_used_mb"] is not None
    assert gpu["util_percent"] == 87


def smi_on_path(nvidb, script):
    folder = nvidb.home / "bin"
    folder.mkdir(exist_ok=True)
    smi = folder / "nvidia-smi"
    smi.write_text("#!/bin/sh\n" + script + "\n")
    smi.chmod(0o755)
    nvidb.env["PATH"] = f"{folder}:{nvidb.env['PATH']}"


def test_nvidia_smi_is_the_fallback(nvidb):
    fixture = sorted((ROOT / "tests/fixtures/smi").glob("*.xml"))[0]
    smi_on_path(nvidb, f'[ "$*" = "-q -x" ] && cat {shlex.quote(str(fixture))}')
    node = nvidb.json("--once", "--json")["nodes"][0]
    assert node["source"] == "nvidia-smi"
    assert node["gpus"]
    assert "nvidia-smi" in nvidb.run("--once").stdout


@pytest.mark.parametrize(
    "script",
    [
        "echo 'Failed to initialize NVML: Unknown Error'; exit 255",
        "echo '<?xml version=\"1.0\"?><nvidia_smi_log><gpu>'; exit 0",
        "yes '<?xml'",
        "exit 9",
        "kill -11 $$",
    ],
)
def test_an_nvidia_smi_that_fails_is_an_error_row(nvidb, script):
    smi_on_path(nvidb, script)
    done = nvidb.run("--once", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["nodes"][0]["error"]


def test_an_nvidia_smi_that_hangs_is_given_up_and_killed(nvidb):
    smi_on_path(nvidb, "trap '' TERM INT HUP; while :; do sleep 1; done")
    done = nvidb.run("--once", "--json", "--timeout", "0.5")
    assert done.returncode == 1
    marker = f"HOME={nvidb.home}".encode()

    def left():
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and marker in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_bytes())
            except OSError:
                pass
        return found

    assert wait_until(lambda: left() == []), left()


def test_a_closed_pipe_ends_quietly(nvidb):
    nvidb.scenario("h200x8")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {nvidb.word} --once --json | head -c 1 >/dev/null"],
        env=nvidb.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    reader_gone = subprocess.run(
        ["bash", "-c", f"{{ {nvidb.word} --once; echo code $? >&2; }} | true"],
        env=nvidb.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert reader_gone.stderr == "code 0\n"


def test_a_full_disk_is_an_error(nvidb):
    nvidb.scenario("rtx3090ti")
    with open("/dev/full", "w") as full:
        done = nvidb.run("--once", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "nvidb: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_descriptors_do_no_harm(nvidb, closed):
    nvidb.scenario("rtx3090ti")
    done = subprocess.run(
        ["bash", "-c", f"{nvidb.word} --once --json {closed}"],
        env=nvidb.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if ">&-" in closed.replace("2>&-", ""):
        assert done.returncode == 1
    else:
        assert done.returncode == 0
        assert json.loads(done.stdout)["nodes"][0]["gpus"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_with_130_and_leaves_nothing(nvidb, number):
    nvidb.scenario({"block": ["nvmlInit_v2"], "gpus": [CARD]})
    running = nvidb.start("--once", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert wait_until(lambda: agents_of(str(nvidb.home)) != [])
    running.send_signal(number)
    assert running.wait(timeout=60) == 130
    assert wait_until(lambda: agents_of(str(nvidb.home)) == [])


def test_kill_9_leaves_no_collector(nvidb):
    nvidb.scenario({"block": ["nvmlInit_v2"], "gpus": [CARD]})
    running = nvidb.start("--once", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert wait_until(lambda: agents_of(str(nvidb.home)) != [])
    running.kill()
    running.wait()
    assert wait_until(lambda: agents_of(str(nvidb.home)) == [])


def test_the_parent_never_loads_the_driver(nvidb):
    nvidb.scenario({"block": ["nvmlInit_v2"], "gpus": [CARD]})
    running = nvidb.start("--once", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        maps = pathlib.Path("/proc")
        assert wait_until(
            lambda: any(
                "libnvidia-ml" in (maps / str(pid) / "maps").read_text()
                for pid in agents_of(str(nvidb.home))
            )
        )
        assert "libnvidia-ml" not in (maps / str(running.pid) / "maps").read_text()
    finally:
        running.kill()
        running.wait()


def test_demo_needs_no_driver_and_is_labelled(nvidb):
    document = nvidb.json("--demo", "--once", "--json")
    assert document["simulated"] is True
    assert len(document["nodes"][0]["gpus"]) >= 4
    assert document["users"]
    assert "SIMULATED" in nvidb.run("--demo", "--once").stdout.splitlines()[0]


def test_every_profile_reads_without_an_error(nvidb):
    for profile in PROFILES.glob("*.json"):
        nvidb.scenario(profile.stem)
        assert nvidb.json("--once", "--json")["nodes"][0]["error"] is None, profile
