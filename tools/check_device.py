#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Compares what nvidb says of a machine's cards with what nvidia-smi says, field by field.

    tools/check_device.py NVIDB.json SMI.xml [SMI.xml ...]

Several nvidia-smi outputs are readings around nvidb's: a value that agrees with any of them is
good. Prints a table in Markdown. Exit code 1 where something differs, a card is missing on either
side, or nothing could be compared.
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree

MEMORY_MIB, WATTS, CELSIUS = 64, 1, 3  # how far two readings a moment apart may be


def number(text):
    """12.0 from `12 MiB`, `12.00 W`, `16x`; None from `N/A` and nothing."""
    found = re.match(r"-?\d+(?:\.\d+)?", (text or "").strip())
    return float(found.group()) if found else None


def first(gpu, *paths):
    """The text of the first of these elements that has a value: drivers renamed some."""
    for path in paths:
        text = (gpu.findtext(path) or "").strip()
        if text and text not in ("N/A", "[N/A]", "Unknown"):
            return text
    return None


def smi_cards(text):
    """Card by uuid: what one `nvidia-smi -q -x` says."""
    cards = {}
    for gpu in ElementTree.fromstring(text).iter("gpu"):
        link = "pci/pci_gpu_link_info/"
        pids = [
            int(pid.text) for pid in gpu.iterfind("processes/process_info/pid") if number(pid.text)
        ]
        cards[first(gpu, "uuid")] = {
            "name": first(gpu, "product_name"),
            "pci_bus_id": (gpu.get("id") or first(gpu, "pci/pci_bus_id") or "").upper(),
            "mem_total_mb": number(first(gpu, "fb_memory_usage/total")),
            "mem_used_mb": number(first(gpu, "fb_memory_usage/used")),
            "mem_reserved_mb": number(first(gpu, "fb_memory_usage/reserved")),
            "power_limit_w": number(
                first(
                    gpu,
                    "gpu_power_readings/current_power_limit",
                    "power_readings/enforced_power_limit",
                    "power_readings/power_limit",
                )
            ),
            "temperature_c": number(first(gpu, "temperature/gpu_temp")),
            "pcie.gen": number(first(gpu, link + "pcie_gen/current_link_gen")),
            "pcie.gen_max": number(first(gpu, link + "pcie_gen/max_link_gen")),
            "pcie.width": number(first(gpu, link + "link_widths/current_link_width")),
            "pcie.width_max": number(first(gpu, link + "link_widths/max_link_width")),
            "pids": sorted(set(pids)),
        }
    return cards


def nvidb_cards(document):
    cards = {}
    for node in document["nodes"]:
        for gpu in node["gpus"]:
            card = {
                key: gpu[key] for key in ("name", "pci_bus_id", "temperature_c", "power_limit_w")
            }
            card["pci_bus_id"] = (card["pci_bus_id"] or "").upper()
            for key in ("mem_total_mb", "mem_used_mb", "mem_reserved_mb"):
                card[key] = gpu[key]
            for key in ("gen", "gen_max", "width", "width_max"):
                card[f"pcie.{key}"] = gpu["pcie"][key]
            card["pids"] = sorted({process["pid"] for process in gpu["processes"]})
            cards[gpu["uuid"]] = card
    return cards


TOLERANCES = {
    "mem_total_mb": MEMORY_MIB,
    "mem_used_mb": MEMORY_MIB,
    "mem_reserved_mb": MEMORY_MIB,
    "power_limit_w": WATTS,
    "temperature_c": CELSIUS,
}


def agrees(field, ours, theirs):
    if ours is None or theirs is None or isinstance(ours, (str, list)):
        return ours == theirs
    return abs(ours - theirs) <= TOLERANCES.get(field, 0)


def compare(ours, readings):
    """Rows (uuid, field, nvidb's value, nvidia-smi's, `ok` or `only nvidb` or `DIFFERS`)."""
    rows = []
    uuids = list(ours) + [uuid for uuid in readings[0] if uuid not in ours]
    for uuid in uuids:
        theirs = [reading[uuid] for reading in readings if uuid in reading]
        if uuid not in ours or not theirs:
            rows.append((uuid, "card", uuid in ours, [bool(theirs)], "DIFFERS"))
            continue
        for field, value in ours[uuid].items():
            values = [card[field] for card in theirs]
            if any(agrees(field, value, one) for one in values):
                verdict = "ok"
            elif all(one is None for one in values):
                verdict = "only nvidb"  # older nvidia-smi does not print every field
            else:
                verdict = "DIFFERS"
            rows.append((uuid, field, value, values, verdict))
    return rows


def table(rows):
    lines = ["| card | field | nvidb | nvidia-smi | verdict |", "| --- | --- | --- | --- | --- |"]
    for uuid, field, value, values, verdict in rows:
        shown = " then ".join(str(one) for one in dict.fromkeys(map(str, values)))
        lines.append(f"| {str(uuid)[:12]} | {field} | {value} | {shown} | {verdict} |")
    return "\n".join(lines)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def main(arguments):
    document = json.loads(read(arguments[0]))
    readings = [smi_cards(read(path)) for path in arguments[1:]]
    rows = compare(nvidb_cards(document), readings)
    node = document["nodes"][0]
    print(
        f"nvidb {document['version']}, driver {node['driver_version']}, source {node['source']}\n"
    )
    print(table(rows))
    bad = sum(verdict == "DIFFERS" for *_, verdict in rows)
    print(f"\n{len(rows)} fields compared, {bad} differ")
    return 1 if bad or not rows or node["source"] == "none" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
