#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Writes a copy of a shared library in which some functions cannot be found.

Drivers differ in the functions they have. This makes an older (or odder) driver of the simulator:
the first letter of each named symbol is overwritten in the dynamic string table, so that looking it
up by hash and name fails as if it had never been there.

    hide_symbols.py LIBRARY OUT [NAME ...] [--old SET ...]

Exit code 0, or 1 with a message where the library has no such symbol.
"""
import argparse
import os
import struct
import sys

V3_LISTS = [
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
]
SINCE_570 = ["nvmlDeviceGetTemperatureV"]
SETS = {
    # What driver 450 does not have.
    "r450": V3_LISTS + SINCE_570 + [
        "nvmlDeviceGetComputeRunningProcesses_v2",
        "nvmlDeviceGetGraphicsRunningProcesses_v2",
        "nvmlDeviceGetMPSComputeRunningProcesses_v2",
        "nvmlDeviceGetMPSComputeRunningProcesses",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetNumFans",
        "nvmlDeviceGetGpuMaxPcieLinkGeneration",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetConfComputeMemSizeInfo",
        "nvmlDeviceGetRunningProcessDetailList",
    ],
    # Early 535: the wide _v3 records (say "record_bytes": 32 in the scenario).
    "r535_early": SINCE_570 + ["nvmlDeviceGetRunningProcessDetailList"],
    # 535.98: no _v3 lists at all.
    "r535_98": SINCE_570 + ["nvmlDeviceGetRunningProcessDetailList"] + V3_LISTS,
    # Not even what must be there.
    "no_count": ["nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"],
}

SHT_STRTAB = 3
SHT_DYNSYM = 11
SYMBOL_BYTES = 24


class Trouble(Exception):
    pass


def find_dynamic_symbols(image):
    """Offset of each dynamic symbol's name in the file, by name."""
    if image[:4] != b"\x7fELF" or image[4] != 2 or image[5] != 1:
        raise Trouble("not a 64-bit little-endian ELF file")
    section_at, = struct.unpack_from("<Q", image, 0x28)
    section_bytes, section_count = struct.unpack_from("<HH", image, 0x3A)
    sections = []
    for i in range(section_count):
        fields = struct.unpack_from("<IIQQQQIIQQ", image, section_at + i * section_bytes)
        sections.append({"type": fields[1], "at": fields[4], "size": fields[5], "link": fields[6]})
    tables = [section for section in sections if section["type"] == SHT_DYNSYM]
    if len(tables) != 1 or sections[tables[0]["link"]]["type"] != SHT_STRTAB:
        raise Trouble("no dynamic symbol table")
    strings_at = sections[tables[0]["link"]]["at"]
    found = {}
    for at in range(tables[0]["at"], tables[0]["at"] + tables[0]["size"], SYMBOL_BYTES):
        name_at = strings_at + struct.unpack_from("<I", image, at)[0]
        name = bytes(image[name_at:image.index(0, name_at)]).decode()
        found[name] = name_at
    return found


def hide(image, names):
    found = find_dynamic_symbols(image)
    for name in names:
        if name not in found:
            raise Trouble("no symbol " + name)
        at = found[name]
        # Linkers may let a name be the tail of another one; that one would change with it.
        if image[at - 1] != 0:
            raise Trouble("the name %s is shared with another symbol" % name)
        image[at] = ord("~")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("out")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--old", action="append", default=[], choices=sorted(SETS), metavar="SET",
                        help="hide what this driver lacks: " + ", ".join(sorted(SETS)))
    options = parser.parse_args()
    names = set(options.names)
    for old in options.old:
        names.update(SETS[old])
    try:
        with open(options.library, "rb") as file:
            image = bytearray(file.read())
        hide(image, sorted(names))
        with open(options.out + ".part", "wb") as file:
            file.write(image)
        os.chmod(options.out + ".part", 0o755)
        os.replace(options.out + ".part", options.out)
    except (OSError, Trouble) as trouble:
        print("hide_symbols: %s" % trouble, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
