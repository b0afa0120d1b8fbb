#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Prints src/base/width_table.cc: tools/width_table.py > src/base/width_table.cc

Made from the Unicode data of Python's unicodedata (14.0 in Debian 12, as in its glibc):
  wide     2 columns: East Asian Width W or F, which includes every emoji shown as one by default
  combining 0: general categories Mn and Me, and the conjoining Hangul vowels and finals
  format   dropped from text: Cf, Zl, Zp
  none     never shown: Cn, Co, Cs (unassigned, private use, surrogates)
Every other code point takes one column and is not in the table, nor are controls (Cc), which are
few and known.
"""
import sys
import unicodedata

# Not wide by the data, but drawn so by glibc, tmux and xterm: circled numbers, hexagrams.
ALSO_WIDE = ((0x3248, 0x324F), (0x4DC0, 0x4DFF))
HANGUL_COMBINING = ((0x1160, 0x11FF), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB))


def within(code_point, ranges):
    return any(first <= code_point <= last for first, last in ranges)


def kind(code_point):
    char = chr(code_point)
    category = unicodedata.category(char)
    if category in ("Cn", "Co", "Cs"):
        return "N"
    if category in ("Cf", "Zl", "Zp"):
        return "F"
    if category in ("Mn", "Me") or within(code_point, HANGUL_COMBINING):
        return "C"
    wide = unicodedata.east_asian_width(char) in "WF" or within(code_point, ALSO_WIDE)
    return "W" if wide else ""


def main():
    ranges = []
    for code_point in range(0x80, sys.maxunicode + 1):
        this = kind(code_point)
        if ranges and ranges[-1][2] == this and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        elif this:
            ranges.append([code_point, code_point, this])
    print("// SPDX-License-Identifier: MIT")
    print("// Copyright (c) 2026 the nvidb authors")
    version = unicodedata.unidata_version
    print(f"// Made by tools/width_table.py from Unicode {version}; not edited by hand.")
    print('#include "base/width_table.h"\n\nnamespace nvidb::base {\nnamespace {\n')
    print("constexpr auto C = WidthKind::combining;\nconstexpr auto F = WidthKind::format;")
    print("constexpr auto N = WidthKind::none;\nconstexpr auto W = WidthKind::wide;\n")
    print("// clang-format off\nconstexpr WidthRange kRanges[] = {")
    line = "   "
    for first, last, this in ranges:
        item = f" {{0x{first:x}, 0x{last:x}, {this}}},"
        if len(line) + len(item) > 99:
            print(line)
            line = "   "
        line += item
    print(line + "\n};\n// clang-format on\n\n}  // namespace\n")
    print("std::span<const WidthRange> width_ranges() {\n  return kRanges;\n}\n")
    print("}  // namespace nvidb::base")


main()
