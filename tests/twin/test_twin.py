# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`nvidb agent` and agent.py on the same cards and the same trouble must say the same."""

import itertools
import json
import re
import subprocess

import pytest
from conftest import PROFILES, ROOT, SIMULATOR, masked, talk

A6000 = {"model": "RTX A6000", "util_percent": 50}
FIXTURES = sorted((ROOT / "tests/fixtures/smi").glob("*.xml"))
# Real outputs, where this checkout lies beside them.
FIXTURES += sorted((ROOT.parent / "shared/fixtures/nvidia-smi").glob("*.xml"))


def says_the_same(bench):
    """Runs both once; hands back what they said."""
    native, python = (talk(one) for one in (bench.native("--once"), bench.python("once")))
    assert [message["type"] for message in native] == [message["type"] for message in python]
    for expected, actual in zip(native, python):
        assert actual == expected
    return native


@pytest.mark.parametrize("profile", sorted(path.stem for path in PROFILES.glob("*.json")))
def test_shipped_profile(bench, profile):
    bench.scenario(profile)
    assert says_the_same(bench)[-1]["gpus"]


NONSENSE = {
    "all ones": 4294967295,
    "a little over 100": 104,
    "110": 110,
    "111": 111,
    "negative": 4294967290,
}


@pytest.mark.parametrize("value", NONSENSE.values(), ids=NONSENSE.keys())
def test_numbers_that_no_card_has(bench, value):
    keys = (
        "util_percent",
        "mem_util_percent",
        "temperature_c",
        "fan_percent",
        "sm_clock_mhz",
        "mem_clock_mhz",
        "encoder_util_percent",
        "decoder_util_percent",
        "throttle_mask",
    )
    pcie = {key: value for key in ("gen", "width", "gen_max", "width_max", "rx_kb_s", "tx_kb_s")}
    card = {**A6000, **{key: value for key in keys}, "pcie": pcie, "ecc_uncorrected": value}
    bench.scenario({"gpus": [card]})
    says_the_same(bench)


@pytest.mark.parametrize(
    "total,used,reserved",
    [
        (0, 0, 0),
        (None, None, None),
        (49140, 50000, 100),
        (49140, 0, 0),
        (2**30, 5, 5),
        (17592186044415, 1, 1),
    ],
)
def test_memory(bench, total, used, reserved):
    bench.scenario(
        {
            "gpus": [
                {**A6000, "mem_total_mb": total, "mem_used_mb": used, "mem_reserved_mb": reserved}
            ]
        }
    )
    says_the_same(bench)


@pytest.mark.parametrize("power,limit", [(0, 0), (123.456, 300.005), (100000, 100001), (None, 250)])
def test_power(bench, power, limit):
    bench.scenario({"gpus": [{**A6000, "power_w": power, "power_limit_w": limit}]})
    says_the_same(bench)


@pytest.mark.parametrize("mask", [0, 1, 0x1FE, 0x1FF, 0x8000000000000000, 0x204])
def test_throttle_reasons(bench, mask):
    bench.scenario({"gpus": [{**A6000, "throttle_mask": mask}]})
    says_the_same(bench)


@pytest.mark.parametrize("state", [0, 8, 15, 16, 32, -1])
def test_performance_state(bench, state):
    bench.scenario({"gpus": [{**A6000, "performance_state": state}]})
    says_the_same(bench)


@pytest.mark.parametrize("number", [*range(0, 16), None, 4294967295])
def test_architecture(bench, number):
    bench.scenario({"gpus": [{**A6000, "architecture": number}]})
    says_the_same(bench)


def test_nothing_is_supported(bench):
    keys = (
        "name",
        "uuid",
        "pci_bus_id",
        "serial",
        "architecture",
        "util_percent",
        "temperature_c",
        "mem_util_percent",
        "fan_percent",
        "power_w",
        "power_limit_w",
        "sm_clock_mhz",
        "mem_clock_mhz",
        "performance_state",
        "throttle_mask",
        "encoder_util_percent",
        "decoder_util_percent",
        "mem_total_mb",
        "ecc_uncorrected",
        "mig",
    )
    pcie = {key: None for key in ("gen", "width", "gen_max", "width_max", "rx_kb_s", "tx_kb_s")}
    bench.scenario({"gpus": [{**{key: None for key in keys}, "pcie": pcie}]})
    said = says_the_same(bench)
    assert set(said[-1]["gpus"][0]) <= {"index", "processes"}


@pytest.mark.parametrize(
    "versions",
    [
        {"cuda_version": "0.1"},
        {"cuda_version": "13.1"},
        {"driver_version": ""},
        {"string_fill": True},
    ],
    ids=str,
)
def test_versions_and_texts(bench, versions):
    bench.scenario({**versions, "gpus": [A6000]})
    says_the_same(bench)


NAMES = {
    "latin 1": "4e56e9",
    "lone surrogate": "eda080",
    "cut character": "41e282",
    "overlong": "c0af",
    "control": "1b5b324a0d0a09",
    "c1": "c285",
    "delete": "7f",
    "quote": "22225c5c27",
    "wide": "e99aa0",
    "96 bytes of none": "ff" * 95,
    "emoji": "f09f9880",
}


@pytest.mark.parametrize("raw", NAMES.values(), ids=NAMES.keys())
def test_name_of_any_bytes(bench, raw):
    bench.scenario({"gpus": [{**A6000, "name_bytes": raw}]})
    says_the_same(bench)


# ---- older drivers ----


@pytest.mark.parametrize("old", ["r450", "r535_early", "r535_98", "no_count"])
def test_older_driver(bench, old):
    scenario = {
        "gpus": [
            {
                **A6000,
                "processes": [
                    {"pid": 5000001, "mem_mb": 100},
                    {"pid": 5000002, "type": "G", "mem_mb": None},
                    {"pid": 5000003, "type": "CG", "mem_mb": 7},
                    {"pid": 5000004, "type": "MPS", "mem_mb": 9},
                ],
            },
            {**A6000, "no_permission": True},
        ]
    }
    if old == "r535_early":
        scenario["record_bytes"] = 32
    bench.scenario(scenario, bench.older_library("--old", old))
    says_the_same(bench)


def test_wide_records_where_there_is_no_second_version(bench):
    lists = [
        f"nvmlDeviceGet{kind}RunningProcesses_v2" for kind in ("Compute", "Graphics", "MPSCompute")
    ]
    bench.scenario(
        {
            "record_bytes": 32,
            "gpus": [
                {
                    **A6000,
                    "processes": [{"pid": 5000001, "mem_mb": 100}, {"pid": 5000002, "mem_mb": 50}],
                }
            ],
        },
        bench.older_library(*lists, "--old", "r535_early"),
    )
    assert len(says_the_same(bench)[-1]["gpus"][0]["processes"]) == 2


def exported():
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(SIMULATOR)], capture_output=True, text=True
    )
    return sorted(set(re.findall(r" T (nvml\w+)", done.stdout))) or ["nvmlDeviceGetName"]


@pytest.mark.parametrize("symbol", exported() if SIMULATOR.exists() else ["nvmlDeviceGetName"])
def test_one_function_is_missing(bench, symbol):
    try:
        library = bench.older_library(symbol)
    except subprocess.CalledProcessError:
        pytest.skip("the name is part of another")
    bench.scenario(
        {
            "gpus": [
                {**A6000, "processes": [{"pid": 5000001, "mem_mb": 100}]},
                {"model": "A100 MIG"},
            ]
        },
        library,
    )
    says_the_same(bench)


@pytest.mark.parametrize("content", [b"", b"not a library", b"\x7fELF" + b"\0" * 60])
def test_file_that_is_no_library(bench, content):
    path = bench.folder / "libnvidia-ml.so.1"
    path.write_bytes(content)
    bench.env["NVIDB_NVML"] = str(path)
    assert says_the_same(bench)[-2]["error"].startswith("cannot use NVML: ")


# ---- processes ----


def test_lists_that_grow(bench):
    processes = [{"pid": 5000000 + k, "mem_mb": k % 7} for k in range(40)]
    bench.scenario({"grow_lists": True, "gpus": [{**A6000, "processes": processes}]})
    says_the_same(bench)


def test_lists_that_grow_faster_than_anyone_asks(bench):
    processes = [{"pid": 5000000 + k, "mem_mb": k % 7} for k in range(40)]
    bench.scenario({"grow_lists": 100, "gpus": [{**A6000, "processes": processes}]})
    says_the_same(bench)


def test_one_process_on_many_cards_and_in_both_lists(bench):
    processes = [
        {"pid": 5000001, "type": "CG", "mem_mb": 10},
        {"pid": 5000002, "type": "G", "mem_mb": 10},
        {"pid": 5000003, "type": "MPS", "mem_mb": None},
        {"pid": 0, "mem_mb": 5},
        {"pid": 4294967295, "mem_mb": 17592186044415},
    ]
    bench.scenario({"gpus": [{**A6000, "processes": processes, "count": 3}]})
    says_the_same(bench)


def test_facts_that_the_simulator_tells(bench):
    facts = {
        "user": "ålice",
        "name": "x" * 250,
        "command": "python3 " + "é" * 2000,
        "cpu_percent": 0.005,
        "host_mem_percent": 33.335,
        "rss_mb": 0,
        "elapsed_s": 0,
        "threads": 1,
        "start_ticks": 7,
        "state": "D",
    }
    bench.scenario(
        {
            "gpus": [
                {
                    **A6000,
                    "processes": [
                        {"pid": 5000001, "mem_mb": 1, "facts": facts},
                        {"pid": 5000002, "mem_mb": 1, "facts": {}},
                        {
                            "pid": 5000003,
                            "mem_mb": 2,
                            "facts": {"state": "Z", "cpu_percent": 1.995},
                        },
                    ],
                }
            ]
        }
    )
    says_the_same(bench)


# All are sh, which waits for something to read and cares for no argument but these.
WAIT = ["-c", "read line"]
PROGRAMS = {
    "plain": ["sh", *WAIT],
    "spaces and control characters": ["/bin/sh", *WAIT, "a b", "\x1b[2J\r\n", "\x7f", ""],
    "no utf-8": [b"sh\xff", b"-c", b"read line", b"\xff\xfe\xe2\x82"],
    "long": ["sh", *WAIT, *["é" * 500] * 40],
    "name with spaces and arguments": ["worker: idle, /x y/z", *WAIT],
    "no name": ["", *WAIT],
    "only a folder": ["/opt/tool/bin/", *WAIT],
    "title": ["nginx: worker process"],
    "title with path": ["/usr/sbin/nginx: master"],
    "long title": ["x" * 20000],
}


@pytest.mark.parametrize("argv", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_real_process(bench, argv):
    program = subprocess.Popen(argv, executable="/bin/sh", stdin=subprocess.PIPE)
    try:
        bench.scenario({"gpus": [{**A6000, "processes": [{"pid": program.pid, "mem_mb": 12}]}]})
        process = says_the_same(bench)[-1]["gpus"][0]["processes"][0]
        assert process["cpu_percent"] == "*" and process["start_ticks"] > 0
    finally:
        program.kill()
        program.wait()
        program.stdin.close()


def test_zombie_and_thread_and_kernel(bench):
    program = subprocess.Popen(["true"])
    try:
        bench.scenario(
            {
                "gpus": [
                    {
                        **A6000,
                        "processes": [
                            {"pid": program.pid, "mem_mb": 1},
                            {"pid": 2, "mem_mb": 2},
                            {"pid": 1, "mem_mb": 3},
                        ],
                    }
                ]
            }
        )
        says_the_same(bench)
    finally:
        program.wait()


@pytest.mark.parametrize(
    "text", ["x" * 4000, "é" * 1900, '"\\\n\t\x1b\x7f' * 600], ids=["plain", "wide", "escaped"]
)
def test_sample_longer_than_a_line_is_cut_alike(bench, text):
    processes = [{"pid": 5000000 + k, "mem_mb": k, "facts": {"command": text}} for k in range(600)]
    bench.scenario({"gpus": [{**A6000, "processes": processes}]})
    said = says_the_same(bench)
    commands = {len(process["command"]) for process in said[-1]["gpus"][0]["processes"]}
    assert len(commands) == 1 and commands.pop() < len(text)


# ---- trouble ----


@pytest.mark.parametrize("code", [1, 2, 3, 4, 9, 15, 18, 28, 999, 77, -5])
def test_init_fails(bench, code):
    bench.scenario({"init_code": code, "gpus": [A6000]})
    assert says_the_same(bench)[-2]["error"]


def test_init_fails_for_a_library_with_a_version_in_its_name(bench):
    library = bench.folder / "libnvidia-ml.so.535.54.03"
    library.write_bytes(SIMULATOR.read_bytes())
    link = bench.folder / "libnvidia-ml.so.1"
    link.symlink_to(library)
    bench.scenario({"init_code": 18, "gpus": [A6000]}, link)
    assert "library 535.54.03" in says_the_same(bench)[-2]["error"]


CODES = [1, 2, 3, 4, 7, 9, 10, 13, 15, 16, 17, 18, 24, 25, 28, 29, 999, 1234, -3]
CALLS = [
    "*",
    "nvmlDeviceGetCount",
    "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetPcieThroughput",
    "nvmlDeviceGetMigMode",
]


@pytest.mark.parametrize("call", CALLS)
def test_call_answers_a_code(bench, call):
    for code in CODES:
        bench.scenario(
            {
                "codes": {call: code},
                "gpus": [{**A6000, "processes": [{"pid": 5000001, "mem_mb": 100}]}],
            }
        )
        says_the_same(bench)


@pytest.mark.parametrize("code", [3, 4, 15, 16, 999, 1])
def test_one_of_three_cards_is_in_trouble(bench, code):
    bench.scenario({"gpus": [A6000, {**A6000, "codes": {"nvmlDeviceGetClockInfo": code}}, A6000]})
    says_the_same(bench)


@pytest.mark.parametrize("code", [2, 3, 4, 13, 999, 12345])
def test_a_card_that_answers_nothing(bench, code):
    bench.scenario({"gpus": [A6000, {**A6000, "codes": {"*": code}}]})
    says_the_same(bench)


def test_no_cards(bench):
    bench.scenario({"gpus": []})
    said = says_the_same(bench)
    assert (said[1]["source"], said[1]["gpus"]) == ("nvml", [])


def test_no_driver_at_all(bench):
    said = says_the_same(bench)
    assert (said[1]["source"], said[1].get("error")) == ("none", None)


def test_driver_that_chats_on_stdout(bench):
    bench.scenario({"noise": 'nvidb1 {"type":"hello"}', "gpus": [A6000, A6000]})
    says_the_same(bench)


def test_blocked_pcie_measurement_costs_its_values_only(bench):
    bench.scenario({"block": ["nvmlDeviceGetPcieThroughput"], "gpus": [A6000, A6000]})
    assert "pcie_rx_kb_s" not in says_the_same(bench)[-1]["gpus"][0]


def test_crash_comes_after_the_same_words(bench):
    bench.scenario({"crash": ["nvmlDeviceGetName"], "gpus": [A6000]})
    ends = []
    for collector in (bench.native("--once"), bench.python("once")):
        said = [masked(message) for message in iter(collector.message, None)]
        ends.append((said, collector.process.wait() < 0))
    assert ends[0] == ends[1]
    assert ends[0][1]


# ---- nvidia-smi ----


def without_parser_words(said):
    """Each parser has its own words for what is wrong with a text, and its own idea of where."""
    return [
        json.loads(re.sub(r"cut off at byte \d+: [^\"]*", "cut off", json.dumps(message)))
        for message in said
    ]


def smi_says_the_same(bench):
    native, python = (
        without_parser_words(talk(one)) for one in (bench.native("--once"), bench.python("once"))
    )
    assert python == native
    return native


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_output_of_a_driver(bench, path):
    bench.smi_prints(path.read_bytes())
    said = smi_says_the_same(bench)
    assert said[1]["source"] == "nvidia-smi" and said[1]["gpus"]


@pytest.mark.parametrize("path", FIXTURES[:8], ids=lambda path: path.stem)
def test_output_cut_anywhere(bench, path):
    raw = path.read_bytes()
    for size in range(40, len(raw), len(raw) // 9):
        bench.smi_prints(raw[:size])
        smi_says_the_same(bench)


WHOLE = (
    b'<?xml version="1.0" ?>\n<nvidia_smi_log><driver_version>550.1</driver_version>%s'
    b"</nvidia_smi_log>"
)
PROCESS = (
    b'<gpu id="00000000:01:00.0"><processes><process_info><pid>%s</pid><type>%s</type>'
    b"<process_name>%s</process_name><used_memory>%s</used_memory></process_info></processes></gpu>"
)


def process(name, pid=b"12", kind=b"C", memory=b"5 MiB"):
    return WHOLE % (PROCESS % (pid, kind, name, memory))


OUTPUTS = {
    "nothing": b"",
    "blank": b" \n\n",
    "rubbish": b"hello\nworld\n",
    "no devices": b"No devices were found\n",
    "not loaded": b"NVIDIA-SMI has failed because it couldn't communicate. Make sure\n",
    "mismatch": b"Failed to initialize NVML: Driver/library version mismatch\nVersion: 535.1\n",
    "lost": b"Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost. Try...\n",
    "warning before": b"WARNING: infoROM is corrupted at gpu 0000:01:00.0\n"
    + WHOLE % b"<gpu><uuid>a</uuid></gpu>",
    "no declaration": (WHOLE % b"<gpu/>").split(b"\n", 1)[1],
    "no cards": WHOLE % b"",
    "empty card": WHOLE % b"<gpu></gpu>",
    "other root": b'<?xml version="1.0"?><a></a>',
    "comment and cdata": WHOLE % b"<!-- <gpu> --><gpu><uuid><![CDATA[x]]></uuid></gpu>",
    "less than": process(b"a<b"),
    "ampersand": process(b"a&b &lt;c&gt; &#65;&#x42; &nope;"),
    "bytes": process(b"/usr/bin/\xff\xfe\xe2\x82"),
    "control": process(b"a\x01\x1bb"),
    "windows": process(b"C:\\Program Files\\a b.exe"),
    "arguments": process(b"/opt/chrome --type=gpu /x"),
    "insufficient": process(b"[Insufficient Permissions]"),
    "long name": process("é".encode() * 300),
    "name cut in a character": process(b"a" * 253 + "😀".encode() * 3),
    "pid zero": process(b"a", pid=b"0"),
    "pid too large": process(b"a", pid=b"99999999999"),
    "graphics": process(b"a", kind=b"G"),
    "both": process(b"a", kind=b"C+G"),
    "mps": process(b"a", kind=b"M+C"),
    "no memory": process(b"a", memory=b"N/A"),
    "sentinel": process(b"a", memory=b"17592186044415 MiB"),
    "old unit": process(b"a", memory=b"12 MB"),
    "no unit": process(b"a", memory=b"12"),
}


@pytest.mark.parametrize("raw", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_odd_output(bench, raw):
    bench.smi_prints(raw)
    smi_says_the_same(bench)


VALUES = [
    "12",
    "N/A",
    "[N/A]",
    "ERR!",
    "[Unknown Error]",
    "[GPU is lost]",
    "[GPU requires reset]",
    "-5 C",
    "26.78 W",
    "12 %",
    "101 %",
    "1e2 W",
    "inf W",
    "nan W",
    "5 MiB",
    "0 MiB",
    "1998 MB",
    "16x",
    "300 MHz",
    "4000 KB/s",
    "Requested functionality has been deprecated",
    "P8",
    "P16",
    "Active",
    "+3 W",
    "0x10",
    " 7 ",
    "Enabled",
    "9223372036854775808",
    ".5 W",
    "5. W",
    "P 3",
]


def test_odd_values_in_every_element(bench):
    paths = [
        "fan_speed",
        "performance_state",
        "utilization/gpu_util",
        "fb_memory_usage/total",
        "fb_memory_usage/used",
        "fb_memory_usage/reserved",
        "temperature/gpu_temp",
        "gpu_power_readings/power_draw",
        "power_readings/power_limit",
        "clocks/sm_clock",
        "clocks/graphics_clock",
        "pci/rx_util",
        "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
        "pci/pci_gpu_link_info/link_widths/current_link_width",
        "ecc_errors/volatile/dram_uncorrectable",
        "ecc_errors/volatile/double_bit/total",
        "mig_mode/current_mig",
        "clocks_event_reasons/clocks_event_reason_hw_slowdown",
        "product_name",
        "uuid",
        "product_architecture",
    ]
    cards = []
    for path, value in itertools.product(paths, VALUES):
        names = path.split("/")
        cards.append(
            "<gpu>"
            + "".join(f"<{name}>" for name in names)
            + value
            + "".join(f"</{name}>" for name in reversed(names))
            + "</gpu>"
        )
    for k in range(0, len(cards), 300):
        bench.smi_prints(WHOLE % "".join(cards[k : k + 300]).encode())
        smi_says_the_same(bench)


def test_exit_code_without_words(bench):
    for text in ("exit 9\n", "echo 'no luck' >&2; exit 3\n", "kill -9 $$\n", "kill -15 $$\n"):
        bench.smi(text)
        assert smi_says_the_same(bench)[1]["error"].startswith("nvidia-smi failed: ")


def test_words_on_stderr_beside_the_xml(bench):
    bench.smi(f"echo oops >&2; cat '{FIXTURES[0]}'; exit 14\n")
    assert smi_says_the_same(bench)[1]["gpus"]


def test_nvidia_smi_that_cannot_be_started(bench):
    program = bench.program("nvidia-smi", "#!/no/such/interpreter\n")
    smi_says_the_same(bench)
    program.chmod(0o644)
    smi_says_the_same(bench)


def test_driver_in_trouble_while_nvidia_smi_answers(bench):
    bench.scenario({"init_code": 999, "gpus": [A6000]})
    bench.smi_prints(FIXTURES[0].read_bytes())
    assert smi_says_the_same(bench)[1]["source"] == "nvidia-smi"
    bench.smi_prints(b"No devices were found\n")
    assert smi_says_the_same(bench)[1]["source"] == "none"


# ---- changes while they run ----


def both_come_to(bench, twins, is_it, then=lambda: None):
    """Waits until each of both shows what is looked for; they must then show the same."""
    seen = []
    for twin in twins:
        sample = twin.next("sample", lambda message: is_it(twin.inventory, message))
        seen.append((masked(twin.inventory), masked(sample)))
    assert seen[0] == seen[1]
    return seen[0]


def test_cards_that_come_go_and_are_lost(bench):
    bench.scenario({"check_ms": 0, "gpus": [A6000]})
    twins = bench.both()
    both_come_to(bench, twins, lambda inventory, sample: len(inventory["gpus"]) == 1)
    bench.scenario({"check_ms": 0, "gpus": [A6000, A6000]})
    both_come_to(bench, twins, lambda inventory, sample: len(inventory["gpus"]) == 2)
    bench.scenario({"check_ms": 0, "gpus": [A6000, {**A6000, "lost": True}]})
    inventory, sample = both_come_to(
        bench, twins, lambda inventory, sample: any("error" in gpu for gpu in sample["gpus"])
    )
    assert (
        sample["gpus"][1] == {"index": 1, "error": "GPU is lost"} and inventory["gpus"][1]["uuid"]
    )
    bench.scenario({"check_ms": 0, "gpus": [A6000, {**A6000, "lost": True}, A6000]})
    both_come_to(bench, twins, lambda inventory, sample: len(inventory["gpus"]) == 3)


def test_driver_that_goes_and_comes_back(bench):
    bench.scenario({"check_ms": 0, "gpus": [A6000]})
    twins = bench.both()
    both_come_to(bench, twins, lambda inventory, sample: inventory["gpus"])
    bench.scenario({"check_ms": 0, "init_code": 999, "codes": {"*": 1}, "gpus": [A6000]})
    both_come_to(
        bench, twins, lambda inventory, sample: inventory.get("error") and not sample["gpus"]
    )
    bench.scenario({"check_ms": 0, "gpus": [A6000]})
    both_come_to(bench, twins, lambda inventory, sample: inventory["gpus"] and sample["gpus"])


def test_processes_are_left_out_and_come_back(bench):
    bench.scenario({"gpus": [{**A6000, "processes": [{"pid": 5000001, "mem_mb": 4}]}]})
    twins = bench.both()
    for want in (False, True):
        for twin in twins:
            twin.order(type="processes", want=want)
        both_come_to(bench, twins, lambda _, sample: ("processes" in sample["gpus"][0]) == want)


def test_exec_gives_a_process_its_new_name(bench):
    program = subprocess.Popen(["sh", "-c", "read line; exec sleep 1000"], stdin=subprocess.PIPE)
    try:
        bench.scenario({"gpus": [{**A6000, "processes": [{"pid": program.pid, "mem_mb": 12}]}]})
        twins = bench.both()
        both_come_to(
            bench, twins, lambda _, sample: sample["gpus"][0]["processes"][0]["name"] == "sh"
        )
        program.stdin.write(b"go\n")
        program.stdin.flush()
        both_come_to(
            bench, twins, lambda _, sample: sample["gpus"][0]["processes"][0]["name"] == "sleep"
        )
    finally:
        program.kill()
        program.wait()
        program.stdin.close()
