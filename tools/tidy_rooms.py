# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Rules about src/ROOMS: which room may include what of which other."""

import re

# What a header of others is called in src/ROOMS, by the beginning of its path.
THIRD_PARTY = {
    "nlohmann/": "json",
    "asio.hpp": "asio",
    "asio/": "asio",
    "CLI/": "cli11",
    "pugixml": "pugixml",
    "yaml-cpp/": "yaml",
    "fmt/": "fmt",
    "tl/": "expected",
    "sqlite3": "sqlite",
    "SQLiteCpp/": "sqlite",
    "httplib": "httplib",
    "gtest/": "gtest",
    "gmock/": "gtest",
    "benchmark/": "benchmark",
}
# They take seconds to parse, in every file that includes the header that includes them.
HEAVY = ("nlohmann/json.hpp", "CLI/", "asio.hpp", "asio/", "pugixml", "yaml-cpp/", "httplib")
SYSTEM_FOLDERS = ("sys", "linux", "net", "netinet", "arpa", "experimental", "sanitizer")
TEST_ONLY = {"gtest"}
# Rooms that decide and draw but touch nothing: what they would need to reach the machine.
PURE_ROOMS = {"model", "screen", "sched", "ui"}
IMPURE_HEADERS = {
    "fstream",
    "filesystem",
    "mutex",
    "thread",
    "random",
    "iostream",
    "unistd.h",
    "fcntl.h",
    "dirent.h",
}


class Room:
    def __init__(self, line, tier, arrows, door, third):
        self.line, self.tier, self.arrows, self.door, self.third = line, tier, arrows, door, third


def words(field):
    return [] if field == "-" else field.split()


def parse_rooms(source, problems):
    """Room by name, in the order of the file."""
    rooms = {}
    for number, line in enumerate(source.lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("|")]
        if (
            len(fields) != 5
            or not fields[1].isdigit()
            or not re.fullmatch(r"[a-z][a-z0-9_]*", fields[0])
        ):
            problems.append(
                (source.path, number, "rooms", "not 'room | tier | rooms | door | third party'")
            )
            continue
        name, tier, arrows, door, third = fields
        if name in rooms:
            problems.append((source.path, number, "rooms", f"{name} is there twice"))
            continue
        arrows = list(rooms) if arrows == "*" else words(arrows)
        rooms[name] = Room(number, int(tier), arrows, words(door), words(third))
    return rooms


def check_arrows(source, rooms, problems):
    for name, room in rooms.items():
        for other in room.arrows:
            if other not in rooms:
                problems.append(
                    (
                        source.path,
                        room.line,
                        "rooms",
                        f"{name} may include {other}, which has no line",
                    )
                )
            elif rooms[other].tier >= room.tier:
                problems.append(
                    (
                        source.path,
                        room.line,
                        "tiers",
                        f"{name} (tier {room.tier}) may not include {other} "
                        f"(tier {rooms[other].tier}): "
                        "arrows go to lower tiers, so that there is no cycle",
                    )
                )


def check_folders(source, rooms, sources, problems):
    files = {}
    for one in sources:
        if one.room():
            files.setdefault(one.room(), set()).add(one.path.split("/", 2)[2])
    for name in sorted(files.keys() - rooms.keys()):
        problems.append(
            (source.path, 1, "rooms", f"src/{name} has no line (a new room needs an ADR)")
        )
    for name in sorted(rooms.keys() - files.keys()):
        problems.append((source.path, rooms[name].line, "rooms", f"there is no src/{name}"))
    for name in sorted(rooms.keys() & files.keys()):
        for header in rooms[name].door:
            if header not in files[name]:
                problems.append(
                    (
                        source.path,
                        rooms[name].line,
                        "door",
                        f"{name}'s door {header} does not exist",
                    )
                )


def third_party_name(path):
    for start, name in THIRD_PARTY.items():
        if path.startswith(start):
            return name
    folder, slash, _ = path.partition("/")
    return f"'{folder}'" if slash and folder not in SYSTEM_FOLDERS else None


def check_third_party(one, number, path, allowed, problems):
    name = third_party_name(path)
    if name and name not in allowed and not (name in TEST_ONLY and one.is_test()):
        problems.append(
            (
                one.path,
                number,
                "third-party",
                f"<{path}>: src/ROOMS does not give {name} to {one.room()}",
            )
        )
    if name and one.is_header() and path.startswith(HEAVY):
        problems.append(
            (
                one.path,
                number,
                "heavy-header",
                f"<{path}> belongs in a .cc: it costs seconds to parse",
            )
        )
    if (
        one.room() in PURE_ROOMS
        and path in IMPURE_HEADERS
        and not one.is_test()
        and not one.has_reason(number)
    ):
        problems.append(
            (one.path, number, "purity", f"{one.room()} is pure and has no use for <{path}>")
        )


def check_own(one, number, path, rooms, problems):
    target, _, header = path.partition("/")
    if target in rooms and header:
        if target == one.room():
            return
        if target not in rooms[one.room()].arrows:
            problems.append(
                (one.path, number, "arrow", f"{one.room()} may not include {target} (src/ROOMS)")
            )
        elif header not in rooms[target].door:
            problems.append(
                (
                    one.path,
                    number,
                    "door",
                    f'"{path}" is private to {target} (src/ROOMS lists its door)',
                )
            )
        return
    if one.is_test() and path.startswith(("support/", "tests/support/", "../fakes/")):
        return
    problems.append(
        (one.path, number, "include-root", f'"{path}" is not rooted at src, or not of a room')
    )


def check(root, sources, problems, notes):
    (source,) = [one for one in sources if one.path == "src/ROOMS"] or [None]
    if source is None:
        problems.append(("src/ROOMS", 1, "rooms", "is missing"))
        return
    rooms = parse_rooms(source, problems)
    check_arrows(source, rooms, problems)
    check_folders(source, rooms, sources, problems)
    # What the lowest room has in its headers everyone has.
    common = {name for room in rooms.values() if room.tier == 0 for name in room.third}
    for one in sources:
        if not one.is_cpp() or one.room() not in rooms:
            continue
        allowed = common | set(rooms[one.room()].third)
        for number, opened, path in one.includes:
            if opened == "<":
                check_third_party(one, number, path, allowed, problems)
            elif third_party_name(path) in THIRD_PARTY.values():
                problems.append(
                    (one.path, number, "include-root", f'"{path}" is of others: use <>')
                )
            else:
                check_own(one, number, path, rooms, problems)
