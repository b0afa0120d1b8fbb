# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The collector that nvidb sends to a server with Python: the twin of `nvidb agent`.

Speaks docs/agent-protocol.md, reads what docs/nvml.md says, and gives the answers of the C++
collector (src/agent/*.cc, same names, same order) to the last letter; tests/twin compares them.
Python 3.8, standard library, one text, nothing written. Started for each connection, so what costs
milliseconds (os, ctypes, threading, json, subprocess) is left out or imported when needed.

Half of what a start costs is compiling, so only what is used is compiled. Form feeds divide the
text: this front part, which is all that the command of agent::remote_command compiles; what each
collector needs; and sections for `later`. A definition is compiled by itself, for the memory of one
is then used for the next: two blank lines end it, here and inside of nothing.

    python3 -S -I -B -u agent.py [INTERVAL_MS] [once] nvidb-agent
"""

import _thread
import posix
import select
import sys
import time

LATER, LATER_LOCK = [], _thread.allocate_lock()


def define(section, line):
    for part in section.split(b"\n\n\n"):
        exec(compile(part, "agent.py from line %d" % line, "exec"), globals())
        line += part.count(b"\n") + 3


def later(name):
    """The function or class of this name in one of the sections that are compiled when needed."""
    heads = [head % name.encode() for head in (b"\ndef %s(", b"\nclass %s(", b"\nclass %s:")]
    with LATER_LOCK:
        for section, line in LATER:
            if any(head in section for head in heads):
                define(section, line)
                LATER.remove((section, line))
                break
    return globals()[name]


def start(text):
    line, sections = 1, []
    for section in text.split(b"\f"):
        sections.append((section, line))
        line += section.count(b"\n")
    LATER.extend(sections[2:])
    define(*sections[1])
    main(sys.argv[1:])


def own_text():
    with open(__file__, "rb") as file:
        return file.read()


if __name__ == "__main__":
    start(globals().get("b") or own_text())  # `b` is what the command has read


VERSION = "0.1.0"
MARK = "nvidb1 "
MAX_LINE, MAX_COMMAND, MAX_ORDER = 1 << 20, 16 << 10, 4096  # bytes
MAX_GPUS, MAX_PROCESSES, MAX_NAME, MAX_ERROR = 1024, 16384, 256, 4096
NVML_PATHS = ["libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"]
RETRY_MS = (1000, 2000, 5000, 10000, 30000)
PRIME_MS, SLOW_MS, UUID_MS, SMI_MS, SMI_DEADLINE_MS = 100, 3000, 5000, 5000, 25000
STOP_WAIT_S, REPLY_WAIT_S, PCIE_WAIT_S = 0.5, 0.5, 0.05


def steady_ms():
    return time.monotonic_ns() // 1000000


def utf8(raw):
    return raw.decode("utf-8", "replace")


def from_system(text):
    """What the system said, which Python takes for text of the locale."""
    return utf8(text.encode(sys.getfilesystemencoding(), "surrogateescape"))


def bounded(raw, limit):
    """Valid UTF-8 of at most `limit` bytes, cut between two characters."""
    return cut(utf8(raw[:limit]), limit)


def cut(text, limit):
    if len(text) * 4 <= limit:
        return text
    raw = text.encode()
    return text if len(raw) <= limit else raw[:limit].decode("utf-8", "ignore")


def sane(value, lowest, highest):
    return value if value is not None and lowest <= value <= highest else None


# ---- lines ----

LONG_TEXTS = {"error": MAX_ERROR, "text": MAX_ERROR, "nvml_path": MAX_ERROR}
# What a message may take: bytes of a command, processes, bytes of any other text.
CAPS = (MAX_COMMAND, MAX_PROCESSES, MAX_ERROR)


def quoted(text):
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return '"' + text + '"'
    return '"' + later("escaped")(text) + '"'


def decimal(value):
    hundredths = int(abs(value) * 100 + 0.5)
    sign = "-" if value < 0 and hundredths else ""
    if hundredths % 100 == 0:
        return sign + str(hundredths // 100)
    return sign + ("%d.%02d" % divmod(hundredths, 100)).rstrip("0")


def encode(value, caps, key=""):
    """JSON; None where there is nothing to write."""
    if value is None:
        return None
    if isinstance(value, str):
        if key == "command":
            value = cut(value, caps[0])
        else:
            value = cut(value, min(LONG_TEXTS.get(key, MAX_NAME), caps[2]))
        return quoted(value) if value else None
    if isinstance(value, dict):
        pairs = []
        for name, item in value.items():
            text = encode(item, caps, name)
            if text is not None:
                pairs.append('"%s":%s' % (name, text))
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        if not value and key != "gpus":
            return None
        limit = caps[1] if key == "processes" else MAX_GPUS
        return "[" + ",".join([encode(item, caps) for item in value[:limit]]) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return decimal(value) if abs(value) < 1e15 else None  # NaN is not below it either


def encode_line(message):
    line = encode_within(message, CAPS)
    return line if len(line) <= MAX_LINE else later("shortened_line")(message)


def encode_within(message, caps):
    return (MARK + encode(message, caps) + "\n").encode()


class LineOut:
    """Takes standard output for itself, so that a chatty driver cannot write between the lines."""

    def __init__(self):
        self.fd = posix.dup(1)
        posix.dup2(2, 1)
        self.lock = _thread.allocate_lock()
        self.broken = False

    def write(self, message):
        with self.lock:
            return self.send(encode_line(message))

    def send(self, line):
        try:
            while line:
                try:
                    line = line[posix.write(self.fd, line):]
                except BlockingIOError:
                    poll = select.poll()
                    poll.register(self.fd, select.POLLOUT)
                    poll.poll()
            return True
        except OSError:
            self.broken = True
            return False


# ---- /proc ----

def read_file(path, limit):
    """The front of the file; None where it cannot be read."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NOCTTY | posix.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        parts, left = [], limit
        while left > 0:
            part = posix.read(fd, left)
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        posix.close(fd)


def to_int(token, most=1 << 63):
    try:
        number = int(token)
    except ValueError:
        return None
    return number if -most <= number < most else None


def leading_number(text):
    try:
        return sane(float((text or b"").split(None, 1)[0]), 0, 1e12)
    except (IndexError, ValueError):
        return None


def parse_cpu_ticks(text):
    """(busy, idle) of all cores."""
    line = (text or b"").split(b"\n", 1)[0]
    if not line.startswith(b"cpu "):
        return None
    ticks = []
    for token in line.split()[1:9]:
        number = sane(to_int(token), 0, 1 << 56)
        if number is None:
            break
        ticks.append(number)
    if len(ticks) < 4:
        return None
    ticks += [0] * (8 - len(ticks))
    return sum(ticks[:3]) + sum(ticks[5:]), ticks[3] + ticks[4]


def busy_percent(before, now):
    busy, idle = max(now[0] - before[0], 0), max(now[1] - before[1], 0)
    return 100.0 * busy / (busy + idle) if busy + idle else None


def parse_meminfo(text):
    """{b"MemTotal": KiB ...}"""
    found = {}
    for line in (text or b"").split(b"\n"):
        key, _, rest = line.partition(b":")
        number = sane(to_int((rest.split() or [b""])[0]), 0, 1 << 50)
        if number is not None:
            found[key] = number
    if b"MemAvailable" not in found and b"MemFree" in found:
        found[b"MemAvailable"] = (
            found[b"MemFree"] + found.get(b"Buffers", 0) + found.get(b"Cached", 0))
    return found


def parse_pretty_name(text):
    for line in (text or b"").split(b"\n"):
        if line.startswith(b"PRETTY_NAME="):
            name = line[12:].rstrip(b" \t\r")
            quote = name[:1]
            if quote in (b'"', b"'"):
                name = name[1:-1] if name.endswith(quote, 1) else name[1:]
            if b"\\" in name and quote != b"'":
                name = later("without_backslashes")(name)
            return bounded(name, MAX_NAME) or None
    return None


def sysconf(name, otherwise):
    try:
        return max(posix.sysconf(name), 1)
    except (OSError, ValueError):
        return otherwise


class Proc:
    def __init__(self, root="/proc"):
        self.root = root
        self.ticks_per_s = sysconf("SC_CLK_TCK", 100)
        self.page_bytes = sysconf("SC_PAGE_SIZE", 4096)
        self.cpu = self.total_kib = None
        self.known, self.users, self.turn = {}, {}, 0

    def read(self, path, limit=8192):
        return read_file(self.root + "/" + path, limit)

    def facts(self):
        cores = 0
        for line in (self.read("stat", 512 << 10) or b"").split(b"\n"):
            if not line.startswith(b"cpu"):
                break
            cores += line[3:4].isdigit()
        name = None
        for path in ("etc/os-release", "usr/lib/os-release"):
            name = name or parse_pretty_name(self.read("../" + path, 16 << 10))
        boot = (self.read("sys/kernel/random/boot_id", 64) or b"").split(b"\n", 1)[0]
        return {"hostname": from_system(posix.uname().nodename), "os": name,
                "cpu_cores": cores or None, "boot_id": utf8(boot)}

    def read_memory(self):
        memory = parse_meminfo(self.read("meminfo"))
        self.total_kib = memory.get(b"MemTotal") or None
        return memory

    def read_host(self):
        cpu = parse_cpu_ticks(self.read("stat", 512))
        host = {"cpu_percent": busy_percent(self.cpu, cpu) if cpu and self.cpu else None,
                "load1": leading_number(self.read("loadavg", 128))}
        self.cpu = cpu
        memory = self.read_memory()
        total, available = self.total_kib, memory.get(b"MemAvailable")
        swap, free = memory.get(b"SwapTotal"), memory.get(b"SwapFree")
        if total is not None:
            if available is not None:
                host["mem_used_mb"] = max(total - available, 0) // 1024
            host["mem_total_mb"] = total // 1024
        if swap is not None:
            if free is not None:
                host["swap_used_mb"] = max(swap - free, 0) // 1024
            host["swap_total_mb"] = swap // 1024
        uptime = leading_number(self.read("uptime", 128))
        host["uptime_s"] = None if uptime is None else int(uptime)
        return host

    def read_processes(self, pids):
        """{pid: what /proc knows of it}, each read once however many cards list it."""
        self.turn += 1
        if self.total_kib is None:
            self.read_memory()
        uptime = leading_number(self.read("uptime", 128))
        facts = {}
        for pid in pids:
            stat = self.read("%d/stat" % pid, 2048) if pid > 0 else None
            facts[pid] = later("read_process")(self, pid, uptime, stat) if stat else {}
        self.known = {pid: seen for pid, seen in self.known.items() if seen["turn"] == self.turn}
        return facts


def open_proc(root="/proc"):
    try:
        posix.stat(root + "/stat")
    except OSError:
        return later("Mac")(root)
    return Proc(root)


# ---- words ----

ARCHITECTURES = {2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere",
                 8: "Ada", 9: "Hopper", 10: "Blackwell", 13: "Rubin"}
THROTTLE_WORDS = ((0x2, "applications_clocks"), (0x4, "sw_power_cap"), (0x8, "hw_slowdown"),
                  (0x10, "sync_boost"), (0x20, "sw_thermal"), (0x40, "hw_thermal"),
                  (0x80, "hw_power_brake"), (0x100, "display_clocks"))
GONE_BY_CARD = (1, 9, 18)  # the driver has gone, says a call about one card
GONE = GONE_BY_CARD + (15, 28, 999)  # says a call about all
CARD_GONE = (15, 16)


def throttle_words(reasons):
    reasons &= ~1
    words = []
    for bit, word in THROTTLE_WORDS:
        if reasons & bit:
            words.append(word)
        reasons &= ~bit
    return words + ["other_0x%x" % reasons] if reasons else words


def sane_percent(value):
    return float(min(value, 100)) if value <= 110 else None


def sane_mb(size):
    return size >> 20 if size < 1 << 50 else None


# ---- NVML ----

# Name of ours: names of the library, the suffixed ones first. docs/nvml.md, "Loading".
SYMBOLS = {
    "driver_version": "SystemGetDriverVersion",
    "nvml_version": "SystemGetNVMLVersion",
    "cuda_version": "SystemGetCudaDriverVersion SystemGetCudaDriverVersion_v2",
    "name": "DeviceGetName",
    "uuid": "DeviceGetUUID",
    "pci_info": "DeviceGetPciInfo_v3 DeviceGetPciInfo_v2",
    "architecture": "DeviceGetArchitecture",
    "pcie_gen_max_of_card": "DeviceGetGpuMaxPcieLinkGeneration",
    "pcie_gen_max_of_link": "DeviceGetMaxPcieLinkGeneration",
    "pcie_width_max": "DeviceGetMaxPcieLinkWidth",
    "utilization": "DeviceGetUtilizationRates",
    "encoder_utilization": "DeviceGetEncoderUtilization",
    "decoder_utilization": "DeviceGetDecoderUtilization",
    "memory_v2": "DeviceGetMemoryInfo_v2",
    "memory_v1": "DeviceGetMemoryInfo",
    "temperature": "DeviceGetTemperature",
    "temperature_v": "DeviceGetTemperatureV",
    "fan_speed": "DeviceGetFanSpeed",
    "power_usage": "DeviceGetPowerUsage",
    "power_limit_enforced": "DeviceGetEnforcedPowerLimit",
    "power_limit": "DeviceGetPowerManagementLimit",
    "performance_state": "DeviceGetPerformanceState",
    "clock": "DeviceGetClockInfo",
    "clock_reasons": "DeviceGetCurrentClocksEventReasons DeviceGetCurrentClocksThrottleReasons",
    "pcie_gen": "DeviceGetCurrPcieLinkGeneration",
    "pcie_width": "DeviceGetCurrPcieLinkWidth",
    "pcie_throughput": "DeviceGetPcieThroughput",
    "ecc_errors": "DeviceGetTotalEccErrors",
    "mig_mode": "DeviceGetMigMode",
    "mig_count_max": "DeviceGetMaxMigDeviceCount",
    "mig_handle": "DeviceGetMigDeviceHandleByIndex",
}


class C:
    """What there is in ctypes for us, without the milliseconds that importing all of it costs."""

    def __init__(self):
        import _ctypes

        def simple(code):
            base = _ctypes._SimpleCData
            return type(base)("c_" + code, (base,), {"_type_": code})

        self.c_char, self.c_void_p, self.c_char_p = simple("c"), simple("P"), simple("z")
        self.c_int32, self.c_uint32, self.c_uint64 = simple("i"), simple("I"), simple("Q")
        self.byref, self.dlopen, self.dlclose = _ctypes.byref, _ctypes.dlopen, _ctypes.dlclose
        base = _ctypes.CFuncPtr
        self.function = type(base)("Function", (base,), {
            "_flags_": _ctypes.FUNCFLAG_CDECL, "_restype_": self.c_int32})


class Shared:
    """A library that is loaded; OSError or ValueError where it cannot be."""

    def __init__(self, c, path):
        self.function, self._handle = c.function, c.dlopen(path, 0)

    def find(self, *names):
        for name in names:
            try:
                return self.function((name, self))
            except AttributeError:
                pass
        return None


class Library:
    """The driver's library: every function it has, and None for what it lacks."""

    def __init__(self, c, so, asked):
        self.c, self.so, self.pinned = c, so, False
        find = so.find
        self.path = self.loaded_path(asked)
        self.init = find("nvmlInit_v2", "nvmlInit")
        self.shutdown = find("nvmlShutdown")
        # A pair: the old count skips cards we may not open, and the old handles are numbered by it.
        self.count = find("nvmlDeviceGetCount_v2")
        self.handle_by_index = find("nvmlDeviceGetHandleByIndex_v2")
        if not self.count or not self.handle_by_index:
            self.count = find("nvmlDeviceGetCount")
            self.handle_by_index = find("nvmlDeviceGetHandleByIndex")
        self.missing = ("nvmlInit" if not self.init else
                        "nvmlShutdown" if not self.shutdown else
                        "nvmlDeviceGetCount" if not self.count else
                        "nvmlDeviceGetHandleByIndex" if not self.handle_by_index else None)
        if self.missing:
            return
        for name, symbols in SYMBOLS.items():
            setattr(self, name, find(*["nvml" + symbol for symbol in symbols.split()]))
        # Early 535 libraries have the first and lack the second; their _v3 records are wider.
        wide = (find("nvmlDeviceGetConfComputeMemSizeInfo") is not None
                and find("nvmlDeviceGetRunningProcessDetailList") is None)
        self.process_lists = [
            (*self.find_list("nvmlDeviceGet" + kind + "RunningProcesses", wide), kind == "Graphics")
            for kind in ("Compute", "MPSCompute", "Graphics")]
        self.simulated = find("nvidb_sim_version") is not None
        self.sim_facts = find("nvidb_sim_process_facts") if self.simulated else None

    def find_list(self, name, v3_is_wide):
        """The function and how many 8-byte words a record of it has."""
        v3, v2 = self.so.find(name + "_v3"), self.so.find(name + "_v2")
        if v3 and not v3_is_wide:
            return v3, 3
        if v2:
            return v2, 3
        return (v3, 4) if v3 else (self.so.find(name), 2)

    def loaded_path(self, asked):
        c, link = self.c, self.c.c_void_p()
        dlinfo = Shared(c, None).find("dlinfo")
        if dlinfo and dlinfo(c.c_void_p(self.so._handle), 2, c.byref(link)) == 0 and link.value:
            name = (c.c_char_p * 2).from_address(link.value)[1]  # struct link_map: l_addr, l_name
            return utf8(name) if name else asked
        return asked

    def text(self, function, size, *first):
        """(code, text) of a function that fills a buffer."""
        if function is None:
            return 13, None
        raw = (self.c.c_char * size)()
        code = function(*first, raw, size)
        return code, utf8(raw.value) or None if code == 0 else None


def open_library(paths):
    """(library, None) or (None, why not); (None, None) where there is none."""
    try:
        c = C()
    except (ImportError, AttributeError):
        return None, None
    unusable = None
    for path in paths:
        try:
            so = Shared(c, path)
        except (OSError, ValueError) as error:
            words = str(error)
            if "No such file or directory" not in words and unusable is None:
                unusable = words
            continue
        library = Library(c, so, path)
        if not library.missing:
            return library, None
        if unusable is None:
            unusable = "%s has no %s" % (library.path, library.missing)
        later("unload")(library)
    return None, "cannot use NVML: " + unusable if unusable else None


class Card:
    def __init__(self, library, index, handle, open_code):
        self.library, self.index, self.handle, self.open_code = library, index, handle, open_code
        self.fatal = self.refusal = 0
        self.did_answer = False  # any call of this reading
        self.slow, self.slow_at = {}, None
        self.facts = {"index": index}
        if handle is not None:
            self.read_facts()

    def ask(self, name, *args):
        function = getattr(self.library, name)
        if function is None or self.fatal:
            return False
        code = function(self.handle, *args)
        if code == 0:
            self.did_answer = True
            return True
        if code in CARD_GONE or code in GONE_BY_CARD:
            self.fatal = code
        if code not in (3, 13):  # not supported, not there
            self.refusal = code
        return False

    def ask_number(self, name, lowest, highest, *kind):
        value = self.library.c.c_uint32(0)
        if not self.ask(name, *kind, self.library.c.byref(value)):
            return None
        return sane(value.value, lowest, highest)

    def ask_watts(self, name):
        milliwatts = self.ask_number(name, 0, 100000000)
        return None if milliwatts is None else milliwatts / 1000

    def ask_percent(self, name):
        c = self.library.c
        percent, period_us = c.c_uint32(0), c.c_uint32(0)
        if self.ask(name, c.byref(percent), c.byref(period_us)):
            return sane_percent(percent.value)
        return None

    def ask_text(self, name):
        raw = (self.library.c.c_char * 96)()
        return utf8(raw.value) or None if self.ask(name, raw, 96) else None

    def ask_uuid(self):
        if self.handle is None:
            return None
        self.fatal = 0
        return self.ask_text("uuid")

    def read_facts(self):
        c, facts = self.library.c, self.facts
        facts["uuid"] = self.ask_uuid()
        facts["name"] = self.ask_text("name")
        pci = (c.c_char * 72)()  # bus id, short form, at 0; long form at 36
        if self.ask("pci_info", pci):
            raw = pci.raw
            facts["pci_bus_id"] = (utf8(raw[36:68].split(b"\0", 1)[0])
                                   or utf8(raw[:16].split(b"\0", 1)[0]) or None)
        architecture = c.c_uint32(0xffffffff)
        if self.ask("architecture", c.byref(architecture)):
            facts["architecture"] = ARCHITECTURES.get(architecture.value)
        # What the card can do wherever it is plugged in, else what this slot allows.
        facts["pcie_gen_max"] = (self.ask_number("pcie_gen_max_of_card", 1, 15)
                                 or self.ask_number("pcie_gen_max_of_link", 1, 15))
        facts["pcie_width_max"] = self.ask_number("pcie_width_max", 1, 64)

    def read(self, now):
        self.fatal = self.open_code if self.handle is None else 0
        self.did_answer, self.refusal = False, 0
        if self.slow_at is None or now - self.slow_at >= SLOW_MS:
            self.read_slow(now)
        reading = {"index": self.index, "error": None, **self.slow}
        self.read_activity(reading)
        self.read_memory(reading)
        reading["power_w"] = self.ask_watts("power_usage")
        reading["pcie_gen"] = self.ask_number("pcie_gen", 1, 15)
        reading["pcie_width"] = self.ask_number("pcie_width", 1, 64)
        reasons = self.library.c.c_uint64(0)
        if self.ask("clock_reasons", self.library.c.byref(reasons)):
            reading["throttle_reasons"] = throttle_words(reasons.value)
        # A card that answers nothing at all is no healthy card of which nothing is known.
        trouble = self.fatal or (0 if self.did_answer else self.refusal)
        if trouble:
            self.slow, self.slow_at = {}, None
            return {"index": self.index, "error": later("code_words")(trouble)}
        return reading

    def read_slow(self, now):
        c, slow = self.library.c, {}
        self.slow, self.slow_at = slow, now
        slow["temperature_c"] = self.ask_temperature()
        slow["fan_percent"] = self.ask_number("fan_speed", 0, 255)
        slow["power_limit_w"] = self.ask_watts("power_limit_enforced")
        if slow["power_limit_w"] is None:
            slow["power_limit_w"] = self.ask_watts("power_limit")
        state = c.c_int32(32)
        if self.ask("performance_state", c.byref(state)) and 0 <= state.value <= 15:
            slow["performance_state"] = "P%d" % state.value
        errors = c.c_uint64(0)
        if self.ask("ecc_errors", 1, 0, c.byref(errors)) and errors.value < 1 << 53:
            slow["ecc_uncorrected"] = errors.value
        now_on, after_reset = c.c_uint32(0), c.c_uint32(0)
        if self.ask("mig_mode", c.byref(now_on), c.byref(after_reset)):
            slow["mig"] = now_on.value == 1

    def ask_temperature(self):
        c = self.library.c
        celsius = c.c_int32(0)
        if self.ask("temperature", 0, c.byref(celsius)):
            return sane(celsius.value, -50, 200)
        versioned = (c.c_int32 * 3)(0x0100000c, 0, 0)
        return sane(versioned[2], -50, 200) if self.ask("temperature_v", versioned) else None

    def read_activity(self, reading):
        # The parent of MIG devices has no utilisation of its own, whatever a driver may answer.
        encoder = decoder = None
        if not self.slow.get("mig"):
            both = (self.library.c.c_uint32 * 2)()
            if self.ask("utilization", both):
                reading["util_percent"] = sane_percent(both[0])
                reading["mem_util_percent"] = sane_percent(both[1])
            encoder = self.ask_percent("encoder_utilization")
            decoder = self.ask_percent("decoder_utilization")
        reading["sm_clock_mhz"] = self.ask_number("clock", 0, 20000, 1)
        reading["mem_clock_mhz"] = self.ask_number("clock", 0, 20000, 2)
        reading["encoder_util_percent"], reading["decoder_util_percent"] = encoder, decoder

    def read_memory(self, reading):
        def take(total, used):
            # A total of 0 is how machines answer whose memory is the system's: unknown.
            reading["mem_total_mb"] = sane_mb(total) or None
            if reading["mem_total_mb"] is None:
                return False
            reading["mem_used_mb"] = sane_mb(used) if used <= total else None
            return True

        c = self.library.c
        words = (c.c_uint64 * 5)(0x02000028)  # version, total, reserved, free, used
        if self.ask("memory_v2", words) and take(words[1], words[4]):
            reading["mem_reserved_mb"] = sane_mb(words[2])
            return
        words = (c.c_uint64 * 3)()  # total, free, used
        if self.ask("memory_v1", words):
            take(words[0], words[2])


class ProcessLists:
    """Who uses a card, as the driver's three lists tell it, merged by pid."""

    def __init__(self, library):
        self.library, self.capacity = library, 32  # records; grows with the longest list seen

    def add(self, device, processes):
        for call, words, graphics in self.library.process_lists:
            if call is not None:
                self.add_list(call, words, graphics, device, processes)

    def add_list(self, call, words, graphics, device, processes):
        c = self.library.c
        for _ in range(5):
            # Room for the widest record, whatever the driver is thought to write.
            records, count = (c.c_uint64 * (self.capacity * 4))(), c.c_uint32(self.capacity)
            code = call(device, c.byref(count), records)
            if code == 0:
                for k in range(min(count.value, self.capacity)):
                    pid = records[k * words] & 0xffffffff
                    if pid != 0 and len(processes) < MAX_PROCESSES:
                        self.merge(pid, sane_mb(records[k * words + 1]), graphics, processes)
                return
            if code != 7 or self.capacity == MAX_PROCESSES:
                return
            wanted = min(max(count.value, self.capacity), MAX_PROCESSES)
            self.capacity = min(wanted + wanted // 2 + 16, MAX_PROCESSES)

    def merge(self, pid, mem_mb, graphics, processes):
        kind = "G" if graphics else "C"
        known = processes.setdefault(pid, {"pid": pid, "type": kind, "mem_mb": None})
        if known["type"] != kind:
            known["type"] = "CG"
        if mem_mb is not None and (known["mem_mb"] is None or mem_mb > known["mem_mb"]):
            known["mem_mb"] = mem_mb


def by_memory(process):
    mem_mb = process["mem_mb"]
    return (1, 0, process["pid"]) if mem_mb is None else (0, -mem_mb, process["pid"])


def release(lock):
    try:
        lock.release()
    except RuntimeError:
        pass  # it is free already: whoever waits is told


class PcieSampler:
    """PCIe traffic of all cards at once, measured beside the rest: the driver sleeps 20 ms."""

    def __init__(self, library, handles):
        self.library = library
        self.mutex = _thread.allocate_lock()
        self.answered = _thread.allocate_lock()
        self.answered.acquire()
        self.directions = [{"card": handle, "counter": counter, "off": handle is None, "kb_s": None,
                            "at": 0} for handle in handles for counter in (1, 0)]  # rx, tx
        self.workers = []
        self.round = self.running = 0
        self.stopping = False

    def kick(self):
        with self.mutex:
            if not self.workers:
                self.start()
            self.round += 1
            for worker in self.workers:
                release(worker["go"])

    def start(self):
        for i in range(min(len(self.directions), 64)):
            worker = {"go": _thread.allocate_lock(), "done": 0, "late": False}
            worker["go"].acquire()
            self.workers.append(worker)
        for i, worker in enumerate(self.workers):
            mine = self.directions[i::len(self.workers)]
            try:
                _thread.start_new_thread(self.work, (worker, mine))
                self.running += 1
            except RuntimeError:
                worker["late"] = True  # no thread to be had: its directions stay unknown

    def work(self, worker, mine):
        while True:
            worker["go"].acquire()
            answering = self.round
            if self.stopping:
                break
            asked = [self.ask(direction) for direction in mine if not self.stopping]
            with self.mutex:
                # Nothing left to ask for: as if every later kick were answered.
                worker["done"] = answering if any(asked) else 1 << 62
                worker["late"] = False
            release(self.answered)
        with self.mutex:
            self.running -= 1
        release(self.answered)

    def ask(self, direction):
        if direction["off"]:
            return False
        value = self.library.c.c_uint32(0)
        code = self.library.pcie_throughput(direction["card"], direction["counter"],
                                            self.library.c.byref(value))
        with self.mutex:
            direction["off"] = code in (3, 13)
            direction["kb_s"] = value.value if code == 0 and value.value <= 1 << 30 else None
            direction["at"] = steady_ms()
        return True

    def wait_for(self, is_done, wait_s):
        end = time.monotonic() + wait_s
        while True:
            with self.mutex:
                if is_done():
                    return True
            left = end - time.monotonic()
            if left <= 0 or not self.answered.acquire(timeout=left):
                with self.mutex:
                    return is_done()

    def wait(self):
        self.wait_for(lambda: all(worker["late"] or worker["done"] >= self.round
                                  for worker in self.workers), PCIE_WAIT_S)
        with self.mutex:
            for worker in self.workers:
                worker["late"] = worker["late"] or worker["done"] < self.round

    def traffic(self, card, max_age_ms):
        oldest = steady_ms() - max_age_ms
        with self.mutex:
            return [direction["kb_s"] if direction["at"] >= oldest else None
                    for direction in self.directions[2 * card:2 * card + 2]]

    def stop(self):
        """False where a thread is still inside the driver."""
        with self.mutex:
            self.stopping = True
            for worker in self.workers:
                release(worker["go"])
        return self.wait_for(lambda: self.running == 0, PCIE_WAIT_S)


class NvmlGone(Exception):
    """The driver went away, or did not start; args[0] is the code."""


class NvmlReader:
    """All cards through NVML, from one initialisation of the driver to its end."""

    def __init__(self, library, on_waking):
        self.library, self.on_waking = library, on_waking
        self.cards, self.pcie, self.kicked, self.uuids_at = [], None, False, 0
        self.lists = ProcessLists(library)
        code = library.init()
        if code != 0:
            raise NvmlGone(code)
        try:
            code, count = self.ask_count()
            if code != 0:
                raise NvmlGone(code)
            self.inventory = self.read_system_facts()
            self.enumerate(count)
        except NvmlGone:
            self.close()
            raise

    def close(self):
        # Shutting down under a blocked call would block as well, or crash.
        if self.pcie and not self.pcie.stop():
            self.library.pinned = True
            return
        self.library.shutdown()

    def ask_count(self):
        count = self.library.c.c_uint32(0)
        return self.library.count(self.library.c.byref(count)), count.value

    def read_system_facts(self):
        library = self.library
        cuda = library.c.c_int32(0)
        if library.cuda_version is None or library.cuda_version(library.c.byref(cuda)) != 0:
            cuda.value = 0
        version = None
        if 1000 <= cuda.value < 1001000:
            version = "%d.%d" % (cuda.value // 1000, cuda.value % 1000 // 10)
        return {"source": "nvml", "simulated": library.simulated, "error": None,
                "driver_version": library.text(library.driver_version, 80)[1],
                "cuda_version": version, "nvml_path": library.path,
                "nvml_version": library.text(library.nvml_version, 80)[1], "gpus": []}

    def ask_handle(self, index):
        handle = self.library.c.c_void_p()
        code = self.library.handle_by_index(index, self.library.c.byref(handle))
        return code, handle if code == 0 and handle.value else None

    def enumerate(self, count):
        self.count = count
        count = min(count, MAX_GPUS)
        if count > 0:
            self.on_waking(count)
        before, self.inventory = self.inventory["gpus"], dict(self.inventory, gpus=[])
        if self.pcie and not self.pcie.stop():
            self.library.pinned = True
        self.pcie, self.cards, handles = None, [], []
        for i in range(count):
            code, handle = self.ask_handle(i)
            if code in GONE_BY_CARD:
                raise NvmlGone(code)
            self.cards.append(Card(self.library, i, handle, code or 999))
            handles.append(handle)
        # A card that went away keeps the name it had, unless the driver has renumbered its cards.
        uuids = [card.facts.get("uuid") for card in self.cards]
        for card in self.cards if len(before) == len(self.cards) else ():
            uuid = before[card.index].get("uuid")
            if not card.facts.get("uuid") and uuid and uuid not in uuids:
                card.facts = before[card.index]
        self.inventory["gpus"] = [card.facts for card in self.cards]
        self.uuids_at = steady_ms()
        if self.library.pcie_throughput is not None and self.cards:
            self.pcie = PcieSampler(self.library, handles)
        self.kicked = False

    def look_again(self):
        """Notices cards that came, went or changed places."""
        code, count = self.ask_count()
        if code in GONE:
            raise NvmlGone(code)
        changed = code == 0 and count != self.count
        if not changed and steady_ms() - self.uuids_at >= UUID_MS:
            self.uuids_at = steady_ms()
            changed = self.uuids_changed()
        if changed:
            self.enumerate(count if code == 0 else self.count)

    def uuids_changed(self):
        for card in self.cards:
            if card.handle is None:
                if self.ask_handle(card.index)[0] == 0:
                    return True
                continue
            uuid = card.ask_uuid()
            if uuid and uuid != card.facts.get("uuid"):
                return True
        return False

    def prime(self, want_processes):
        found = [{"processes": self.read_processes(card)} for card in self.cards if want_processes]
        if self.pcie:  # at last, for there is time until the sample, and threads slow the rest down
            self.pcie.kick()
            self.kicked = True
        return found

    def read(self, want_processes, interval_ms):
        self.look_again()
        if self.pcie and not self.kicked:
            self.pcie.kick()
        self.kicked = False
        readings = []
        for card in self.cards:
            reading = card.read(steady_ms())
            if card.fatal in GONE_BY_CARD:
                raise NvmlGone(card.fatal)
            if want_processes and not reading["error"]:
                reading["processes"] = self.read_processes(card)
            readings.append(reading)
        if self.pcie:
            self.pcie.wait()
            for card, reading in zip(self.cards, readings):
                if not reading["error"]:
                    reading["pcie_rx_kb_s"], reading["pcie_tx_kb_s"] = self.pcie.traffic(
                        card.index, 2 * interval_ms)
        return readings

    def read_processes(self, card):
        if card.handle is None:
            return []
        found = {}
        self.lists.add(card.handle, found)
        if card.slow.get("mig"):
            later("add_mig_processes")(self.library, self.lists, card.handle, found)
        return sorted(found.values(), key=by_memory)


# ---- where the numbers come from right now ----

class GpuSource:
    """NVML while it works. What else there is to do is in the section "without NVML"."""

    def __init__(self, proc, paths, on_waking):
        self.proc, self.paths, self.on_waking = proc, paths, on_waking
        self.smi = None
        self.library = self.reader = self.nvml_error = self.report = self.smi_error = None
        self.nvml_failures = self.smi_failures = 0
        self.nvml_due = self.smi_due = steady_ms()
        self.inventory = None

    def refresh(self, interval_ms):
        if self.reader:
            return
        if steady_ms() >= self.nvml_due:
            self.try_nvml()
        if not self.reader and steady_ms() >= self.smi_due:
            later("try_smi")(self, interval_ms)
        self.inventory = self.reader.inventory if self.reader else later("describe")(self)

    def try_nvml(self):
        if not self.library:
            self.library, self.nvml_error = open_library(self.paths)
            if not self.library:
                later("on_no_library")(self)
                return
        try:
            self.reader = NvmlReader(self.library, self.on_waking)
        except NvmlGone as gone:
            later("on_init_failure")(self, gone.args[0])
            return
        self.nvml_failures = self.smi_failures = 0
        self.nvml_error = self.report = self.smi_error = None

    def prime(self, want_processes):
        if self.reader:
            readings = self.reader.prime(want_processes)
            if want_processes:
                self.add_process_facts(self.library, readings)
        elif self.report and want_processes:
            later("read_report")(self, True)

    def read(self, want_processes, interval_ms):
        if not self.reader:
            return later("read_report")(self, want_processes) if self.report else []
        try:
            readings = self.reader.read(want_processes, interval_ms)
        except NvmlGone as gone:
            later("on_driver_gone")(self, gone.args[0])
            return []
        self.inventory = self.reader.inventory
        if want_processes:
            self.add_process_facts(self.library, readings)
        return readings

    def add_process_facts(self, library, readings):
        pids = sorted({process["pid"] for reading in readings
                       for process in reading.get("processes", ())})
        facts = self.proc.read_processes(pids)
        if library is not None and library.sim_facts is not None:
            for pid in pids:
                facts[pid] = later("simulated_facts")(library, pid) or facts[pid]
        for reading in readings:
            if "processes" not in reading:
                continue
            reading["processes"] = [
                {**process, **facts[process["pid"]],
                 "name": facts[process["pid"]].get("name") or process.get("name")}
                for process in reading["processes"]]

    def close(self):
        if self.reader:
            self.reader.close()


# ---- the two threads ----

def next_due_ms(due, interval, now):
    if now < due + interval:
        return due + interval
    return due + ((now - due) // interval + 1) * interval


class Collector:
    """The thread that asks the driver. `end_fd` becomes readable when it has ended."""

    def __init__(self, out, interval_ms, once):
        self.out, self.interval_ms, self.once = out, interval_ms, once
        self.want_processes, self.stopping = True, False
        self.changed = _thread.allocate_lock()  # held but while there is something new to see
        self.changed.acquire()
        self.source = None
        self.end_fd, self.ended_fd = posix.pipe()
        _thread.start_new_thread(self.run, ())

    def run(self):
        try:
            self.collect()
        except BaseException:
            if not self.stopping:
                import traceback

                traceback.print_exc()
                posix._exit(70)
        posix.close(self.ended_fd)

    def set_interval(self, interval_ms):
        self.interval_ms = interval_ms
        release(self.changed)

    def stop(self):
        self.stopping = True
        release(self.changed)
        poll = select.poll()
        poll.register(self.end_fd, select.POLLIN)
        poll.poll(STOP_WAIT_S * 1000)
        if self.source and self.source.smi:
            self.source.smi.end()

    def wait_until(self, due):
        """False where the collector is to end."""
        while not self.stopping:
            left = due() - steady_ms()
            if left <= 0:
                return True
            self.changed.acquire(timeout=left / 1000)
        return False

    def collect(self):
        proc = open_proc()
        proc.read_host()
        primed = steady_ms()
        path = posix.environ.get(b"NVIDB_NVML")
        paths = [path.decode("utf-8", "surrogateescape")] if path else NVML_PATHS
        source = self.source = GpuSource(proc, paths, self.on_waking)
        source.refresh(self.interval_ms)
        source.prime(True)
        if source.inventory["gpus"]:
            primed = steady_ms()
        sent = source.inventory
        if self.emit("inventory", sent) and self.wait_until(lambda: primed + PRIME_MS):
            self.sample(proc, source, sent)
        source.close()

    def on_waking(self, count):
        self.emit("notice", {"text": "waking %d GPU%s" % (count, "" if count == 1 else "s")})

    def emit(self, kind, fields):
        return self.out.write(dict({"type": kind}, **fields))

    def sample(self, proc, source, sent):
        due, seq = steady_ms(), 0
        while not self.stopping:
            seq += 1
            processes, interval, began = self.want_processes, self.interval_ms, steady_ms()
            at_ms = time.time_ns() // 1000000
            if seq > 1:
                source.refresh(interval)
            gpus = source.read(processes, interval)
            host = proc.read_host()
            if source.inventory != sent:
                sent = source.inventory
                if not self.emit("inventory", sent):
                    return
            if not self.emit("sample", {"seq": seq, "at_ms": at_ms, "read_ms": steady_ms() - began,
                                        "host": host, "gpus": gpus}) or self.once:
                return
            before, ended = due, steady_ms()
            if not self.wait_until(lambda: next_due_ms(before, self.interval_ms, ended)):
                return
            due = next_due_ms(before, self.interval_ms, ended)


class Listener:
    """Reads orders until there is a reason to end."""

    def __init__(self, out, collector):
        self.out, self.collector = out, collector
        self.rest, self.dropping, self.quit = b"", False, False

    def run(self, listening=True):
        """False where the reader of standard output has gone."""
        poll = select.poll()
        poll.register(self.collector.end_fd, select.POLLIN)
        poll.register(self.out.fd, 0)  # only errors: they say that the reader has gone
        if listening:
            poll.register(0, select.POLLIN)
        while not self.quit:
            for fd, _ in poll.poll():
                if fd == self.collector.end_fd:
                    return not self.out.broken
                if fd == self.out.fd:
                    return False
                if self.read_some():
                    continue
                if not self.collector.once:
                    return True
                poll.unregister(0)
        return True

    def read_some(self):
        """False at the end of stdin."""
        try:
            part = posix.read(0, 4096)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not part:
            return False
        later("on_orders")(self, part)
        return True


def interrupt(*_):
    raise KeyboardInterrupt


def end_at_signals():
    try:
        import _signal as signals  # the module around it costs milliseconds
    except ImportError:
        import signal as signals
    for number in (signals.SIGINT, signals.SIGTERM, signals.SIGHUP):
        signals.signal(number, interrupt)


def main(words):
    numbers = [int(word) for word in words if word.isdigit()]
    interval_ms = min(max(numbers[-1], 100), 3600000) if numbers else 1000
    once = "once" in words
    collector = None
    code = 0
    try:
        end_at_signals()
        out = LineOut()
        # Before the driver is touched: whatever it does, the reader knows who is there.
        hello = {"type": "hello", "protocol": 1, "collector": "python", "version": VERSION,
                 "pid": posix.getpid(), "host": open_proc().facts()}
        if not out.write(hello):
            posix._exit(1)
        collector = Collector(out, interval_ms, once)
        if not Listener(out, collector).run():
            code = 1
    except KeyboardInterrupt:
        pass
    except OSError:
        code = 1
    if collector:
        collector.stop()
        if collector.out.broken:
            code = 1
    # Not the ordinary way: it would wait for a thread that is stuck in the driver.
    posix._exit(code)


# ---- later: text that is odd or long ----

ESCAPES = {code: "\\u%04x" % code for code in (*range(32), *range(127, 160))}
ESCAPES.update({34: '\\"', 92: "\\\\", 10: "\\n", 9: "\\t"})


def escaped(text):
    return text.translate(ESCAPES)


def without_backslashes(text):
    plain, i = bytearray(), 0
    while i < len(text):
        if text[i] == 92 and i + 1 < len(text):
            i += 1
        plain.append(text[i])
        i += 1
    return bytes(plain)


def shortened_line(message):
    """Takes from the commands, then the processes, then the other texts, until it fits."""
    caps = list(CAPS)
    for i in range(len(caps)):
        good, bad = 0, caps[i]  # the largest that fits is looked for in between
        caps[i] = 0
        line = encode_within(message, caps)
        while len(line) <= MAX_LINE and bad - good > 1:
            middle = (good + bad) // 2
            caps[i] = middle
            longer = encode_within(message, caps)
            if len(longer) <= MAX_LINE:
                good, line = middle, longer
            else:
                bad = middle
        caps[i] = good
        if len(line) <= MAX_LINE:
            break
    return line


# ---- later: processes of /proc ----

def read_process(proc, pid, uptime, raw):
    stat = parse_stat(raw)
    now = steady_ms()
    if not stat or stat[0] != pid:
        return {}
    _, comm, state, ticks, threads, start, pages = stat
    seen = proc.known.get(pid)
    fresh = seen is None or seen["start"] != start
    if fresh:
        seen = proc.known[pid] = {"start": start, "ticks": ticks, "at": now}
    # A process is a copy of its parent until it calls exec, which gives it another name.
    if fresh or (state not in "ZX" and (seen["comm"] != comm or not seen["command"])):
        cmdline = proc.read("%d/cmdline" % pid, MAX_COMMAND + 1) or b""
        seen.update(comm=comm, user=read_user(proc, pid), command=command_text(cmdline),
                    name=process_name(cmdline, comm))
    seen["turn"] = proc.turn
    facts = {"name": seen["name"], "command": seen["command"], "user": seen["user"]}
    if not fresh and now > seen["at"]:
        used = max(ticks - seen["ticks"], 0)
        facts["cpu_percent"] = 100.0 * 1000.0 * used / proc.ticks_per_s / (now - seen["at"])
        seen["ticks"], seen["at"] = ticks, now
    if 0 <= pages < 1 << 40:
        rss_kib = pages * proc.page_bytes // 1024
        if proc.total_kib and rss_kib <= proc.total_kib:
            facts["host_mem_percent"] = 100.0 * rss_kib / proc.total_kib
        facts["rss_mb"] = rss_kib // 1024
    if uptime is not None:
        elapsed = uptime - start / proc.ticks_per_s
        if elapsed > -1.0:  # else it is the uptime of a container and tells nothing
            facts["elapsed_s"] = int(max(elapsed, 0.0))
    facts["state"] = state
    facts["threads"] = threads if threads > 0 else None
    facts["start_ticks"] = start
    return facts


def read_user(proc, pid):
    # The folder and not a file in it: those of a process that may not be traced are root's.
    try:
        uid = posix.stat("%s/%d" % (proc.root, pid)).st_uid
    except OSError:
        return None
    if uid not in proc.users:
        if len(proc.users) >= 4096:
            proc.users.clear()
        name = None
        try:
            import pwd

            name = cut(from_system(pwd.getpwuid(uid).pw_name), MAX_NAME)
        except (ImportError, KeyError, OSError):
            pass
        proc.users[uid] = name or str(uid)
    return proc.users[uid]


def command_text(cmdline):
    return bounded(cmdline.rstrip(b"\0").replace(b"\0", b" "), MAX_COMMAND) or None


def process_name(cmdline, comm):
    first, _, rest = cmdline.partition(b"\0")
    rest = rest.lstrip(b"\0")
    name = first.rpartition(b"/")[2]
    is_comm = comm and name[:15] == comm
    # Programs that overwrite their arguments leave one long one: `nginx: master process` is nginx.
    if not rest and not is_comm and b" " in first:
        name = first.split(b" ", 1)[0].rpartition(b"/")[2].rstrip(b":")
    return bounded(name or comm, MAX_NAME) or None


def parse_stat(text):
    """(pid, comm, state, cpu ticks, threads, start ticks, rss pages) of /proc/PID/stat."""
    begin, end = text.find(b"("), text.rfind(b")")
    if begin < 0 or end < begin:
        return None
    pid, rest = to_int(text[:begin]), text[end + 1:].split()
    numbers = [to_int(token) for token in rest[1:22]]  # fields 4 to 24
    if pid is None or len(numbers) < 21:
        return None
    # An unsigned number that does not fit is one of those that are not wanted.
    if any(number is None and not token.isdigit() for number, token in zip(numbers, rest[1:22])):
        return None
    user, system = numbers[10] or 0, numbers[11] or 0
    if not 0 <= user <= 1 << 60 or not 0 <= system <= 1 << 60:
        return None
    return (pid, text[begin + 1:end], utf8(rest[0][:1]), user + system,
            numbers[16] or 0, numbers[18] or 0, numbers[20] or 0)


# ---- later: systems without /proc ----

import os


class Mac(Proc):
    """Host facts of macOS, and of any other system without /proc as far as it has them."""

    def __init__(self, root="/proc"):
        Proc.__init__(self, root)
        self.libc = None
        try:
            import ctypes

            self.ctypes, self.libc = ctypes, ctypes.CDLL(None)
            self.libc.sysctlbyname
        except (ImportError, OSError, AttributeError):
            self.libc = None

    def sysctl(self, name):
        """The bytes of a value of the kernel; None where it has none of that name."""
        if self.libc is None:
            return None
        size = self.ctypes.c_size_t(1024)
        raw = self.ctypes.create_string_buffer(1024)
        if self.libc.sysctlbyname(name.encode(), raw, self.ctypes.byref(size), None, 0) != 0:
            return None
        return raw.raw[:size.value]

    def number(self, name):
        raw = self.sysctl(name)
        return int.from_bytes(raw[:8], sys.byteorder) if raw else None

    def text(self, name):
        return utf8((self.sysctl(name) or b"").split(b"\0", 1)[0]) or None

    def facts(self):
        system, version = os.uname().sysname, self.text("kern.osproductversion")
        system = "macOS" if system == "Darwin" else system
        return {"hostname": from_system(os.uname().nodename),
                "os": system + " " + (version or os.uname().release), "cpu_cores": os.cpu_count(),
                "boot_id": self.text("kern.bootsessionuuid")}

    def read_ticks(self):
        try:
            ticks, count = (self.ctypes.c_uint32 * 4)(), self.ctypes.c_uint32(4)
            if self.libc.host_statistics(self.libc.mach_host_self(), 3, ticks,
                                         self.ctypes.byref(count)) != 0:
                return None
            return ticks[0] + ticks[1] + ticks[3], ticks[2]  # user, system, idle, nice
        except AttributeError:
            return None

    def read_host(self):
        cpu = self.read_ticks()
        host = {"cpu_percent": busy_percent(self.cpu, cpu) if cpu and self.cpu else None}
        self.cpu = cpu
        try:
            host["load1"] = os.getloadavg()[0]
        except OSError:
            pass
        total, page = self.number("hw.memsize"), self.page_bytes
        if total is None and sysconf("SC_PHYS_PAGES", 0):
            total = sysconf("SC_PHYS_PAGES", 0) * page
        names = ("vm.page_free_count", "vm.page_pageable_external_count", "vm.page_purgeable_count")
        free = [self.number(name) for name in names]
        if total and None not in free:
            host["mem_used_mb"] = max(total - sum(free) * page, 0) >> 20
        host["mem_total_mb"] = total >> 20 if total else None
        swap = self.sysctl("vm.swapusage") or b""
        if len(swap) >= 24:
            host["swap_used_mb"] = int.from_bytes(swap[16:24], sys.byteorder) >> 20
            host["swap_total_mb"] = int.from_bytes(swap[:8], sys.byteorder) >> 20
        boot = self.number("kern.boottime")
        if boot:
            host["uptime_s"] = sane(int(time.time()) - boot, 0, 1 << 40)
        return host


# ---- later: orders ----

import json
import os


def on_orders(listener, part):
    lines = (listener.rest + part).split(b"\n")
    listener.rest = lines.pop()
    for line in lines:
        if not listener.dropping and len(line) < MAX_ORDER and line.startswith(MARK.encode()):
            on_order(listener, utf8(line[len(MARK):]))
        listener.dropping = False
    if len(listener.rest) >= MAX_ORDER:
        listener.rest, listener.dropping = b"", True


def on_order(listener, text):
    """A malformed order is ignored."""
    try:
        order = json.loads(text)
        ORDERS[order["type"]](listener, order)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass


def integer(order, key, lowest, highest):
    if type(order[key]) is not int or not lowest <= order[key] <= highest:
        raise ValueError(key)
    return order[key]


def on_interval(listener, order):
    listener.collector.set_interval(integer(order, "interval_ms", 100, 3600000))


def on_processes(listener, order):
    if type(order["want"]) is not bool:
        raise ValueError("want")
    listener.collector.want_processes = order["want"]


def on_quit(listener, _):
    listener.quit = True


def on_signal(listener, order):
    number = integer(order, "id", -(1 << 63), (1 << 63) - 1)
    pid = integer(order, "pid", 2, (1 << 32) - 1)
    start_ticks = integer(order, "start_ticks", 0, (1 << 63) - 1)
    if integer(order, "signal", 1, 64) not in (2, 9, 15):
        raise ValueError("signal")
    error = signal_process(Proc(), pid, start_ticks, order["signal"])
    write_short(listener.out, {"type": "signal_reply", "id": number, "error": error})


ORDERS = {"interval": on_interval, "processes": on_processes, "signal": on_signal, "quit": on_quit}


def write_short(out, message):
    """Gives up where nobody reads: a reply is not worth a collector that hears no orders."""
    if not out.lock.acquire(timeout=REPLY_WAIT_S):
        return
    try:
        poll = select.poll()
        poll.register(out.fd, select.POLLOUT)
        if poll.poll(REPLY_WAIT_S * 1000):
            out.send(encode_line(message))
    finally:
        out.lock.release()


def signal_process(proc, pid, start, number):
    """None where the signal was sent, else why not."""
    gone = "no such process"
    if pid > 0x7fffffff:
        return "pid %d cannot be signalled" % pid

    def is_it():
        stat = later("parse_stat")(proc.read("%d/stat" % pid, 2048) or b"")
        return stat is not None and stat[0] == pid and stat[5] == start

    fd = -1
    try:
        # First hold the process, whichever it is, then look which one: the number cannot change
        # hands from then on. Python 3.9 and Linux 5.3; without them the look comes just before.
        try:
            fd = os.pidfd_open(pid)
        except AttributeError:
            pass
        if not is_it():
            return gone
        if fd >= 0:
            import signal

            signal.pidfd_send_signal(fd, number)
        else:
            os.kill(pid, number)
    except OSError as error:
        import errno

        if error.errno == errno.ENOSYS and is_it():
            try:
                os.kill(pid, number)
                return None
            except OSError as again:
                error = again
        return gone if error.errno in (errno.ESRCH, errno.EINVAL, errno.ENOENT) else os.strerror(
            error.errno)
    finally:
        if fd >= 0:
            os.close(fd)
    return None


# ---- later: words of NVML's codes ----

CODE_WORDS = {
    0: "no error", 1: "NVML is not initialised", 2: "invalid argument", 3: "not supported",
    4: "no permission", 5: "NVML is initialised already", 6: "not found", 7: "buffer too small",
    8: "GPU has no power cable connected", 9: "NVIDIA driver is not loaded",
    10: "GPU did not answer in time", 11: "kernel has an interrupt problem with a GPU",
    12: "NVML library not found", 13: "function missing in this driver",
    14: "GPU's infoROM is corrupted", 15: "GPU is lost", 16: "GPU needs a reset",
    17: "blocked by the operating system", 18: "driver and library differ", 19: "GPU is in use",
    20: "out of memory", 21: "no data", 22: "not supported by the vGPU host",
    23: "out of resources", 24: "frequency not supported", 25: "structure version not supported",
    26: "no longer supported",
    27: "GPU is not ready", 28: "no GPU found", 29: "GPU is in an invalid state",
    30: "reset type not supported", 999: "unknown NVML error"}


def code_words(code):
    return CODE_WORDS.get(code) or "NVML error %d" % code


# ---- later: without NVML ----

import os


INIT_WORDS = {
    1: "NVML lost its connection to the driver", 9: "the NVIDIA driver is not loaded",
    4: "no permission to talk to the NVIDIA driver",
    15: "the driver lost a GPU: see dmesg; a reboot may be needed", 28: "the driver found no GPU",
    999: "NVML failed with an unknown error; inside a container, restart the container"}


def init_failure_words(code, kernel_version, library_version):
    if code != 18:
        return INIT_WORDS.get(code) or "NVML did not start: " + later("code_words")(code)
    versions = ""
    if kernel_version or library_version:
        versions = " (driver %s, library %s)" % (kernel_version or "unknown",
                                                 library_version or "unknown")
    return "the NVIDIA driver and its library differ" + versions + ": reboot, or reload the driver"


def find_version(text):
    """The first `535.54.03` in a text."""
    begin = 0
    while begin < len(text):
        if not text[begin:begin + 1].isdigit():
            begin += 1
            continue
        end = begin
        while end < len(text) and text[end:end + 1] in b"0123456789.":
            end += 1
        word = text[begin:end].rstrip(b".")
        # A whole word: not the 86_64 of the machine's name, not the lone number of `.so.1`.
        starts = begin == 0 or text[begin - 1:begin] in (b" ", b".")
        if starts and 3 <= len(word) <= 32 and b"." in word:
            return word.decode()
        begin = end + 1
    return None


def kernel_version(source):
    return find_version(source.proc.read("driver/nvidia/version", 64 << 10) or b"")


def file_version(library):
    _, mark, rest = os.fsencode(os.path.realpath(library.path)).rpartition(b".so.")
    return find_version(rest) if mark else None


def unload(library):
    if library.pinned:
        return  # a thread is blocked inside
    try:
        library.c.dlclose(library.so._handle)
    except OSError:
        pass


def retry_at(failures):
    return steady_ms() + RETRY_MS[min(failures, len(RETRY_MS)) - 1]


def on_no_library(source):
    source.nvml_failures += 1
    source.nvml_due = retry_at(source.nvml_failures)


def on_init_failure(source, code):
    library = source.library
    version = file_version(library) or library.text(library.nvml_version, 80)[1]
    source.nvml_error = init_failure_words(code, kernel_version(source), version)
    on_no_library(source)
    # The driver was changed under us: the file on disk may be the one that fits by now.
    if code == 18:
        unload(library)
        source.library = None


def on_driver_gone(source, code):
    source.reader.close()
    source.reader = None
    on_init_failure(source, code)
    source.smi_due = source.nvml_due  # the driver is in trouble: not asked by another way
    source.inventory = describe(source)


def describe(source):
    """What there is without NVML."""
    if source.report and (source.report[0]["gpus"] or not source.nvml_error):
        return source.report[0]
    inventory = {"source": "none", "simulated": False, "error": source.nvml_error}
    if source.nvml_error:
        inventory["driver_version"] = kernel_version(source)
    if source.library:
        inventory["nvml_path"] = source.library.path
    inventory["gpus"] = []
    words, kind = source.smi_error or ("", "not_found")
    if kind != "not_found":
        if not inventory["error"]:
            inventory["error"] = words
        elif kind == "timeout":
            inventory["error"] += "; " + words
    return inventory


class SmiTrouble(Exception):
    """args: the sentence, and whether nvidia-smi was missing ("not_found") or late ("timeout")."""


def smi_programs():
    """Looked for before anything is compiled, imported and started for it."""
    found = []
    # In WSL it is where no login through ssh looks for it.
    for program in ("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"):
        folders = [""] if "/" in program else os.environ.get("PATH", os.defpath).split(":")
        if any(os.path.exists(os.path.join(folder, program)) for folder in folders):
            found.append(program)
    return found


def try_smi(source, interval_ms):
    source.report = source.smi_error = None
    try:
        if source.smi is None and smi_programs():
            source.smi = later("Smi")()
        if source.smi is None:
            raise SmiTrouble("no nvidia-smi", "not_found")
        source.report = source.smi.ask(smi_programs())
        source.smi_failures = 0
        source.smi_due = steady_ms() + max(interval_ms, SMI_MS)
    except SmiTrouble as trouble:
        source.smi_error = (trouble.args + ("",))[:2]
        source.smi_failures += 1
        source.smi_due = retry_at(source.smi_failures)


def read_report(source, want_processes):
    readings = [dict(reading) for reading in source.report[1]]
    if want_processes:
        source.add_process_facts(None, readings)
    else:
        for reading in readings:
            reading.pop("processes", None)
    # As describe() has it: no cards where NVML knows better why there are none.
    return readings if len(source.inventory["gpus"]) == len(readings) else []


# ---- later: MIG ----

def add_mig_processes(library, lists, handle, found):
    # A MIG parent names its processes only to privileged callers; each instance names its own.
    slots = library.c.c_uint32(0)
    if (library.mig_handle is None or library.mig_count_max is None
            or library.mig_count_max(handle, library.c.byref(slots)) != 0):
        return
    for i in range(min(slots.value, 64)):
        instance = library.c.c_void_p()  # asked each time: these handles are reused
        if library.mig_handle(handle, i, library.c.byref(instance)) == 0:
            lists.add(instance, found)


# ---- later: nvidb's simulator of NVML ----

import struct


def simulated_facts(library, pid):
    """What the simulator (fakes/nvml/sim_abi.h) says of a process that it made up."""
    raw = (library.c.c_char * 4472)()
    if library.sim_facts(library.c.c_uint32(pid), raw) != 0:
        return None
    user, name, command, cpu, memory, rss, elapsed, threads, start, state = struct.unpack_from(
        "=64s256s4096sddqqqqs", raw.raw)

    def text(field):
        return utf8(field.split(b"\0", 1)[0]) or None

    def number(value):
        return None if value < 0 else value

    return {"name": text(name), "command": text(command), "user": text(user),
            "cpu_percent": number(cpu), "host_mem_percent": number(memory), "rss_mb": number(rss),
            "elapsed_s": number(elapsed), "state": text(state), "threads": number(threads),
            "start_ticks": number(start)}


# ---- later: nvidia-smi -q -x ----

import os


MISSING, TROUBLE, RESET, LOST = 1, 2, 3, 4
TOKENS = {
    b"N/A": MISSING, b"Not Supported": MISSING, b"Not Available": MISSING, b"Not Found": MISSING,
    b"No Permission": MISSING, b"Insufficient Permissions": MISSING, b"Function Not Found": MISSING,
    b"Requested functionality has been deprecated": MISSING,
    b"Not available in WDDM driver model": MISSING, b"ERR!": TROUBLE, b"Unknown Error": TROUBLE,
    b"Unknown": MISSING, b"GPU requires reset": RESET, b"GPU is lost": LOST}
BLANKS = b" \t\n\r"
REASON_ENDINGS = (
    ("gpu_idle", 0x1), ("applications_clocks_setting", 0x2), ("sw_power_cap", 0x4),
    ("hw_slowdown", 0x8), ("sync_boost", 0x10), ("sw_thermal_slowdown", 0x20),
    ("hw_thermal_slowdown", 0x40), ("hw_power_brake_slowdown", 0x80),
    ("display_clocks_setting", 0x100))
FAILURE_WORDS = (b"fail", b"unable", b"error", b"gpu is lost", b"not found", b"permission",
                 b"couldn't", b"mismatch")
BRACKETS = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"), (b"<", b">"))
ENTITIES = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"apos": b"'", b"quot": b'"'}


class Node:
    """An element. Its text is raw bytes: a name may hold any."""

    __slots__ = ("name", "head", "children", "texts")

    def __init__(self, name, head=b""):
        self.name, self.head, self.children, self.texts = name, head, [], []

    def child(self, name):
        name = name.encode()
        return next((node for node in self.children if node.name == name), Node(b""))

    def text(self, *path):
        node = self
        for name in path:
            node = node.child(name)
        return node.texts[0] if node.texts else b""

    def all_texts(self):
        found, left = [], [self]
        while left:
            node = left.pop()
            found += node.texts
            left += node.children
        return found


def unescape(raw):
    parts = raw.split(b"&")
    out = [parts[0]]
    for part in parts[1:]:
        name, end, rest = part.partition(b";")
        code = None
        if end and name in ENTITIES:
            out.append(ENTITIES[name] + rest)
            continue
        if end and name[:1] == b"#":
            try:
                code = int(name[2:], 16) if name[1:2] == b"x" else int(name[1:])
                out.append(chr(code).encode("utf-8", "surrogatepass") + rest)
                continue
            except (ValueError, OverflowError):
                pass
        out.append(b"&" + part)
    return b"".join(out)


def parse_xml(xml):
    """The elements of the document.

    A few lines instead of a parser of the whole language, for the text is not always XML: names are
    neither escaped nor checked by nvidia-smi.
    """

    def broken(at, words):
        return SmiTrouble("nvidia-smi's XML is broken or cut off at byte %d: %s" % (at, words))

    top = Node(b"")
    stack, at = [top], 0
    while True:
        begin = xml.find(b"<", at)
        text = xml[at:begin if begin >= 0 else len(xml)].strip(BLANKS)
        if text and len(stack) > 1:
            stack[-1].texts.append(unescape(text))
        if begin < 0:
            break
        for opening, closing in BRACKETS:
            if xml.startswith(opening, begin):
                break
        end = xml.find(closing, begin + len(opening))
        if end < 0:
            raise broken(len(xml), "a tag that does not end")
        at = end + len(closing)
        if opening != b"<" or xml.startswith(b"<!", begin):
            continue
        inside = xml[begin + 1:end]
        if inside[:1] == b"/":
            if len(stack) < 2 or inside[1:].strip(BLANKS) != stack[-1].name:
                raise broken(begin, "an end that has no beginning")
            stack.pop()
            continue
        empty = inside.endswith(b"/")
        name = (inside[:-1] if empty else inside).split(None, 1)
        if not name:
            raise broken(begin, "a tag without a name")
        node = Node(name[0], name[1] if len(name) > 1 else b"")
        stack[-1].children.append(node)
        if not empty:
            stack.append(node)
        if len(stack) > 66:
            raise SmiTrouble("nvidia-smi's XML is deeper than 64 levels")
    if len(stack) > 1:
        raise broken(len(xml), "an element that does not end")
    return top


def smi_token(text):
    text = text.strip(BLANKS)
    if len(text) >= 2 and text[:1] == b"[" and text[-1:] == b"]":
        text = text[1:-1]
    return TOKENS.get(text, 0)


def smi_text(text):
    text = text.strip(BLANKS)
    return None if not text or smi_token(text) else bounded(text, MAX_NAME)


def smi_number(text, unit, lowest, highest, fraction=True):
    """The number in front of exactly this unit."""
    text = text.strip(BLANKS)
    end = 1 if text[:1] == b"-" else 0
    while text[end:end + 1].isdigit():
        end += 1
    if fraction and text[end:end + 1] == b".":
        end += 1
        while text[end:end + 1].isdigit():
            end += 1
    if fraction and text[end:end + 1] in (b"e", b"E"):
        digits = end + 2 if text[end + 1:end + 2] in (b"+", b"-") else end + 1
        while text[digits:digits + 1].isdigit():
            digits += 1
            end = digits
    if text[end:].strip(BLANKS) != unit:
        return None
    try:
        return sane(float(text[:end]) if fraction else int(text[:end]), lowest, highest)
    except ValueError:
        return None


def smi_integer(text, unit, lowest, highest):
    return smi_number(text, unit, lowest, highest, False)


def smi_mb(text):
    found = smi_integer(text, b"MiB", 0, (1 << 30) - 1)
    return smi_integer(text, b"MB", 0, (1 << 30) - 1) if found is None else found


def smi_program_name(text):
    text = text.strip(BLANKS)
    if not text or smi_token(text):
        return None
    windows = len(text) > 2 and text[1:3] == b":\\"
    if not windows:
        # Browsers overwrite their argv with one long text: what looks like a path has arguments.
        text = text.split(b" ", 1)[0]
    return smi_text(text.rpartition(b"\\" if windows else b"/")[2] or text)


def first_of(*values):
    return next((value for value in values if value is not None), None)


def smi_card_facts(gpu, index):
    gen = gpu.child("pci").child("pci_gpu_link_info").child("pcie_gen")
    widths = gpu.child("pci").child("pci_gpu_link_info").child("link_widths")
    bus_id = smi_text(gpu.text("pci", "pci_bus_id"))
    if bus_id is None:
        _, _, after = gpu.head.partition(b'id="')
        bus_id = smi_text(after.split(b'"', 1)[0])
    architecture = smi_text(gpu.text("product_architecture"))
    return {
        "index": index, "uuid": smi_text(gpu.text("uuid")),
        "name": smi_text(gpu.text("product_name")), "pci_bus_id": bus_id,
        "architecture": "Ada" if architecture == "Ada Lovelace" else architecture,
        "pcie_gen_max": first_of(smi_integer(gen.text("max_device_link_gen"), b"", 1, 15),
                                 smi_integer(gen.text("max_link_gen"), b"", 1, 15)),
        "pcie_width_max": smi_integer(widths.text("max_link_width"), b"x", 1, 64)}


def smi_power(gpu, names):
    for block in ("gpu_power_readings", "power_readings"):
        for name in names:
            value = smi_number(gpu.text(block, name), b"W", 0, 100000)
            if value is not None:
                return value
    return None


def smi_ecc(gpu):
    errors = gpu.child("ecc_errors").child("volatile")
    counts = [smi_integer(errors.text(name), b"", 0, 1 << 53)
              for name in ("sram_uncorrectable", "sram_uncorrectable_parity",
                           "sram_uncorrectable_secded", "dram_uncorrectable")]
    counts = [count for count in counts if count is not None]
    if counts:
        return sum(counts)
    return smi_integer(errors.text("double_bit", "total"), b"", 0, 1 << 53)


def smi_throttle(gpu):
    bits = 0
    for word in ("event", "throttle"):
        reasons = gpu.child("clocks_%s_reasons" % word)
        for ending, bit in REASON_ENDINGS:
            if reasons.text("clocks_%s_reason_%s" % (word, ending)) == b"Active":
                bits |= bit
    return throttle_words(bits)


def smi_processes(gpu):
    found = {}
    for block in ("processes", "compute_processes"):
        for info in gpu.child(block).children:
            if info.name != b"process_info":
                continue
            if len(found) >= MAX_PROCESSES:
                break
            pid = smi_integer(info.text("pid"), b"", 1, 0x7fffffff)
            if pid is None:
                continue
            kind = {b"G": "G", b"C+G": "CG", b"M+C+G": "CG"}.get(info.text("type"), "C")
            mem_mb = smi_mb(info.text("used_memory"))
            name = smi_program_name(info.text("process_name"))
            process = {"pid": pid, "type": kind, "mem_mb": mem_mb, "name": name}
            known = found.setdefault(pid, process)
            if known["type"] != kind:
                known["type"] = "CG"
            if mem_mb is not None and (known["mem_mb"] is None or mem_mb > known["mem_mb"]):
                known["mem_mb"] = mem_mb
            known["name"] = known["name"] or name
    return sorted(found.values(), key=by_memory)


def smi_card_error(gpu, reading):
    """What all of a dead card's values say instead of a value, if this is one."""
    worst = max([smi_token(text) for text in gpu.all_texts()] or [0])
    if worst == LOST:
        return later("code_words")(15)
    names = ("mem_total_mb", "temperature_c", "util_percent", "power_w")
    if any(reading.get(name) is not None for name in names):
        return None
    if worst == RESET:
        return later("code_words")(16)
    return "nvidia-smi reads nothing from this GPU" if worst == TROUBLE else None


def smi_reading(gpu, index):
    def percent(name):
        return smi_number(gpu.text("utilization", name), b"%", 0, 100)

    def clock(name):
        return smi_integer(gpu.text("clocks", name), b"MHz", 0, 100000)

    pci = gpu.child("pci")
    gen = pci.child("pci_gpu_link_info").child("pcie_gen")
    widths = pci.child("pci_gpu_link_info").child("link_widths")
    # Cards that share the machine's memory say 0; then the other figures mean nothing either.
    total = smi_mb(gpu.text("fb_memory_usage", "total"))
    shared = total == 0
    state = gpu.text("performance_state")
    is_state = state[:1] == b"P" and smi_integer(state[1:], b"", 0, 15) is not None
    reading = {
        "index": index, "error": None, "util_percent": percent("gpu_util"),
        "mem_util_percent": percent("memory_util"),
        "mem_used_mb": None if shared else smi_mb(gpu.text("fb_memory_usage", "used")),
        "mem_total_mb": None if shared else total,
        "mem_reserved_mb": None if shared else smi_mb(gpu.text("fb_memory_usage", "reserved")),
        "temperature_c": smi_integer(gpu.text("temperature", "gpu_temp"), b"C", -50, 200),
        "fan_percent": smi_integer(gpu.text("fan_speed"), b"%", 0, 255),
        "power_w": smi_power(gpu, ("power_draw", "average_power_draw", "instant_power_draw")),
        "power_limit_w": smi_power(
            gpu, ("enforced_power_limit", "current_power_limit", "power_limit")),
        "performance_state": utf8(state) if is_state else None,
        "sm_clock_mhz": first_of(clock("sm_clock"), clock("graphics_clock")),
        "mem_clock_mhz": clock("mem_clock"), "encoder_util_percent": percent("encoder_util"),
        "decoder_util_percent": percent("decoder_util"),
        "pcie_gen": first_of(smi_integer(gen.text("current_link_gen"), b"", 1, 15),
                             smi_integer(gen.text("device_current_link_gen"), b"", 1, 15)),
        "pcie_width": smi_integer(widths.text("current_link_width"), b"x", 1, 64),
        "pcie_rx_kb_s": smi_integer(pci.text("rx_util"), b"KB/s", 0, 1 << 40),
        "pcie_tx_kb_s": smi_integer(pci.text("tx_util"), b"KB/s", 0, 1 << 40),
        "ecc_uncorrected": smi_ecc(gpu), "throttle_reasons": smi_throttle(gpu),
        "mig": {b"Enabled": True, b"Disabled": False}.get(gpu.text("mig_mode", "current_mig")),
        "processes": smi_processes(gpu)}
    error = smi_card_error(gpu, reading)
    return {"index": index, "error": error} if error else reading


def smi_inventory():
    return {"source": "nvidia-smi", "simulated": False, "error": None, "driver_version": None,
            "cuda_version": None, "gpus": []}


def smi_plain_text(output):
    """nvidia-smi printed no XML: a failure in its own words, no cards, or rubbish."""
    def sentence(line):
        return utf8(line.rstrip(b".")[:512])

    first = None
    for line in output[:64 << 10].split(b"\n"):
        line = line.rstrip(b"\r \t").lstrip(b" \t")
        if not line:
            continue
        first = first or line
        if line.startswith(b"No devices were found"):
            return smi_inventory(), []
        lower = line.lower()
        if not line.startswith((b"WARNING", b"Warning")) and any(
                word in lower for word in FAILURE_WORDS):
            raise SmiTrouble(sentence(line))
    if first is None:
        raise SmiTrouble("nvidia-smi printed nothing")
    raise SmiTrouble("nvidia-smi printed no XML: '%s'" % sentence(first))


def parse_smi_xml(output):
    """(inventory, readings)"""
    begin = output.find(b"<?xml")
    if begin < 0:
        begin = output.find(b"<nvidia_smi_log")
    if begin < 0:
        return smi_plain_text(output)
    # A program may have `<` in its name; that must not cost the numbers of every card.
    parts = output[begin:].split(b"<process_name>")
    for i in range(1, len(parts)):
        name, end, rest = parts[i].partition(b"</process_name>")
        if end:
            parts[i] = name.replace(b"<", b"?") + end + rest
    top = parse_xml(b"<process_name>".join(parts))
    root = top.child("nvidia_smi_log")
    if not root.name:
        raise SmiTrouble("nvidia-smi's XML has no <nvidia_smi_log>")
    inventory, readings = smi_inventory(), []
    inventory["driver_version"] = smi_text(root.text("driver_version"))
    inventory["cuda_version"] = smi_text(root.text("cuda_version"))
    for gpu in root.children:
        if gpu.name != b"gpu":
            continue
        if len(readings) >= MAX_GPUS:
            raise SmiTrouble("nvidia-smi lists more than %d GPUs" % MAX_GPUS)
        inventory["gpus"].append(smi_card_facts(gpu, len(readings)))
        readings.append(smi_reading(gpu, len(readings)))
    return inventory, readings


def first_words(text):
    text = text.lstrip(b" \r\n\t")[:300]
    return utf8(text.replace(b"\r", b"\n").split(b"\n", 1)[0])


class Smi:
    """Runs nvidia-smi. `child` is the running one, for whoever has to end it."""

    def __init__(self):
        self.child = None

    def ask(self, programs):
        for program in programs:
            self.child = self.start(program)
            if self.child:
                return self.run(program, self.child)
        raise SmiTrouble("no nvidia-smi", "not_found")

    def start(self, program):
        import subprocess

        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(["nvidia-smi", "-q", "-x"], executable=program, stdout=pipe,
                                    stderr=pipe, stdin=subprocess.DEVNULL, start_new_session=True)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SmiTrouble("cannot start %s: %s" % (program, os.strerror(error.errno)))

    def run(self, program, child):
        try:
            out, err = self.drain(program, child)
        finally:
            self.end()
        if not first_words(out):
            words = first_words(err)
            if not words:
                words = "exit status %d" % child.returncode
                if child.returncode < 0:
                    import signal

                    number = -child.returncode
                    words = "killed by signal %d (%s)" % (number, signal.strsignal(number))
            raise SmiTrouble("nvidia-smi failed: " + words)
        return parse_smi_xml(out)

    def drain(self, program, child):
        end_ms = steady_ms() + SMI_DEADLINE_MS
        streams = {child.stdout.fileno(): [], child.stderr.fileno(): []}
        poll = select.poll()
        for fd in streams:
            poll.register(fd, select.POLLIN)
        opened, sizes = set(streams), dict.fromkeys(streams, 0)
        late = SmiTrouble("%s did not answer within %.1f s" % (program, SMI_DEADLINE_MS / 1000),
                          "timeout")
        while opened:
            left = end_ms - steady_ms()
            if left <= 0:
                raise late
            for fd, _ in poll.poll(left):
                part = os.read(fd, 65536)
                if not part:
                    poll.unregister(fd)
                    opened.discard(fd)
                streams[fd].append(part)
                sizes[fd] += len(part)
                if sizes[fd] > 16 << 20:
                    raise SmiTrouble("%s printed more than %d bytes" % (program, 16 << 20))
        while child.poll() is None:
            if steady_ms() >= end_ms:
                raise late
            time.sleep(0.001)
        out, err = streams.values()
        return b"".join(out), b"".join(err)

    def end(self):
        """Kills it and what it started. One that is stuck in the driver is left to init."""
        child, self.child = self.child, None
        if child is None:
            return
        if child.returncode is None:
            try:
                os.killpg(child.pid, 9)
            except OSError:
                pass
            for _ in range(50):
                if child.poll() is not None:
                    break
                time.sleep(0.01)
        child.stdout.close()
        child.stderr.close()
