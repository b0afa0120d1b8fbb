# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The comparison that runs on machines with a GPU, on outputs written by hand."""

import copy
import json
import pathlib
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS))

import check_device  # noqa: E402

UUID = "GPU-00000000-1111-2222-3333-444444444444"


def smi(**changes):
    values = {
        "uuid": UUID, "name": "NVIDIA Test 9", "total": "24576 MiB", "used": "1000 MiB",
        "reserved": "300 MiB", "limit": "450.00 W", "temp": "41 C", "gen": "4", "pid": "77",
        **changes,
    }  # fmt: skip
    return """<?xml version="1.0" ?><nvidia_smi_log><gpu id="00000000:0A:00.0">
      <product_name>{name}</product_name><uuid>{uuid}</uuid>
      <pci><pci_gpu_link_info>
        <pcie_gen><max_link_gen>4</max_link_gen>
          <current_link_gen>{gen}</current_link_gen></pcie_gen>
        <link_widths><max_link_width>16x</max_link_width>
          <current_link_width>8x</current_link_width></link_widths>
      </pci_gpu_link_info></pci>
      <fb_memory_usage><total>{total}</total><reserved>{reserved}</reserved>
        <used>{used}</used></fb_memory_usage>
      <temperature><gpu_temp>{temp}</gpu_temp></temperature>
      <gpu_power_readings><current_power_limit>{limit}</current_power_limit></gpu_power_readings>
      <processes><process_info><pid>{pid}</pid></process_info></processes>
    </gpu></nvidia_smi_log>""".format(**values)


def document(**changes):
    gpu = {
        "uuid": UUID, "name": "NVIDIA Test 9", "pci_bus_id": "00000000:0a:00.0",
        "mem_total_mb": 24576, "mem_used_mb": 1020, "mem_reserved_mb": 300, "power_limit_w": 450,
        "temperature_c": 43, "pcie": {"gen": 4, "gen_max": 4, "width": 8, "width_max": 16},
        "processes": [{"pid": 77}], **changes,
    }  # fmt: skip
    node = {"driver_version": "1.2", "source": "nvml", "gpus": [gpu]}
    return {"version": "0.1.0", "nodes": [node]}


def differing(ours, *readings):
    rows = check_device.compare(
        check_device.nvidb_cards(ours), [check_device.smi_cards(text) for text in readings]
    )
    return [field for _, field, _, _, verdict in rows if verdict == "DIFFERS"]


def test_equal_machines_agree():
    assert differing(document(), smi()) == []


@pytest.mark.parametrize(
    "field,changes",
    [
        ("name", {"name": "NVIDIA Test 8"}),
        ("pci_bus_id", {"pci_bus_id": "00000000:0B:00.0"}),
        ("mem_total_mb", {"mem_total_mb": 24576 * 1024}),
        ("mem_used_mb", {"mem_used_mb": 1065}),
        ("mem_reserved_mb", {"mem_reserved_mb": None}),
        ("power_limit_w", {"power_limit_w": 450000}),
        ("temperature_c", {"temperature_c": 45}),
        ("pcie.gen", {"pcie": {"gen": 1, "gen_max": 4, "width": 8, "width_max": 16}}),
        ("pcie.width", {"pcie": {"gen": 4, "gen_max": 4, "width": 16, "width_max": 16}}),
        ("pids", {"processes": []}),
        ("pids", {"processes": [{"pid": 77}, {"pid": 78}]}),
    ],
)
def test_each_field_is_compared(field, changes):
    assert differing(document(**changes), smi()) == [field]


def test_a_value_may_agree_with_either_reading():
    assert (
        differing(document(pcie={"gen": 1, "gen_max": 4, "width": 8, "width_max": 16}), smi()) != []
    )
    moved = document(pcie={"gen": 1, "gen_max": 4, "width": 8, "width_max": 16})
    assert differing(moved, smi(), smi(gen="1")) == []


def test_what_nvidia_smi_does_not_print_is_no_difference():
    assert differing(document(), smi(reserved="N/A", limit="[N/A]")) == []


def test_a_card_on_one_side_only_differs():
    assert differing(document(uuid="GPU-other"), smi()) == ["card", "card"]
    alone = copy.deepcopy(document())
    alone["nodes"][0]["gpus"] = []
    assert differing(alone, smi()) == ["card"]


def run(tmp_path, ours, *readings):
    paths = [tmp_path / "nvidb.json"]
    paths[0].write_text(json.dumps(ours))
    for i, text in enumerate(readings):
        paths.append(tmp_path / f"smi{i}.xml")
        paths[-1].write_text(text)
    words = [sys.executable, str(TOOLS / "check_device.py"), *map(str, paths)]
    return subprocess.run(words, capture_output=True, text=True)


def test_program_prints_a_table_and_fails_on_a_difference(tmp_path):
    done = run(tmp_path, document(), smi(), smi())
    assert done.returncode == 0, done.stderr
    assert "| mem_used_mb | 1020 | 1000.0 | ok |" in done.stdout
    assert done.stdout.endswith("12 fields compared, 0 differ\n")
    done = run(tmp_path, document(temperature_c=90), smi())
    assert done.returncode == 1
    assert "12 fields compared, 1 differ" in done.stdout


def test_nothing_to_compare_fails(tmp_path):
    nothing = {
        "version": "0.1.0",
        "nodes": [{"driver_version": None, "source": "none", "gpus": []}],
    }
    empty = "<nvidia_smi_log></nvidia_smi_log>"
    assert run(tmp_path, nothing, empty).returncode == 1
