# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The first process of one fake node: the parent of its sshd and of everything that logs in there.

It exists so that a node can be stopped as one thing and can never outlive the bench. It is a child
subreaper, so a process that detaches itself becomes its child and is still found; it reads commands
from stdin and, when that closes (the bench ended, however it ended), kills all of them and exits.
Where the machine allows it lives in a mount namespace of its own, and on wish in a network
namespace; both vanish with the last process, so nothing has to be cleaned up.

Started by cluster_node.py. One JSON object a line in, one JSON object a line out.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWNET = 0x40000000
MS_BIND, MS_REC, MS_SLAVE = 4096, 16384, 1 << 19

START_LIMIT_S = 15
STOP_LIMIT_S = 10
POLL_S = 0.004
LINE_LIMIT_BYTES = 1 << 20
DISK_BLOCK_BYTES = 65536
LOG_TAIL_BYTES = 2000

_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """A command that cannot be done; its text goes back to the bench."""


def _must(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise Refused(f"{what}: {os.strerror(code)}")


def _mount(source, target, kind, flags, data=None):
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    _must(
        _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]),
        f"mount on {target}",
    )


def _stat_fields(pid):
    """(state, parent) of a process, or None where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, IndexError, ValueError):
        return None


def descendants():
    """All living processes below this one, as {pid: state}."""
    children, states = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat_fields(name)
            if fields:
                states[int(name)] = fields[0]
                children.setdefault(fields[1], []).append(int(name))
    found, waiting = {}, [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            waiting.append(child)
            if states[child] not in "ZX":
                found[child] = states[child]
    return found


def is_sshd(pid):
    """Whether a process is an sshd, by its name: of others' processes the file is hidden."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip() == "sshd"
    except OSError:
        return False


def is_listening(address, port):
    """Whether a socket listens at exactly this place in our network; makes no connection."""
    wanted = "%08X:%04X" % (int.from_bytes(socket.inet_aton(address), sys.byteorder), port)
    with open("/proc/self/net/tcp", encoding="ascii") as file:
        return any(fields[1] == wanted and fields[3] == "0A" for fields in map(str.split, file))


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Init:
    def __init__(self, options):
        self.listener = None  # pid
        self.link = None  # (pid, stdin, stdout) of the delay proxy
        self.held = None  # "frozen" or "cut"
        self.disk_home = None
        _must(_libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")
        self.mounts = _libc.unshare(CLONE_NEWNS) == 0
        if self.mounts:
            # A slave: mounts made here stay here, mounts made outside are still seen.
            _mount("none", "/", None, MS_REC | MS_SLAVE)
        if _libc.unshare(CLONE_NEWUTS) == 0:
            socket.sethostname(options["name"])
        if options.get("net"):
            _must(_libc.unshare(CLONE_NEWNET), "a network namespace")
            self._run(["ip", "link", "set", "lo", "up"])
        if options.get("shadow"):
            if not self.mounts:
                raise Refused(
                    "passwords need a mount namespace, which this machine or user does not allow"
                )
            _mount(options["shadow"], "/etc/shadow", None, MS_BIND)

    # Processes.

    def _spawn(self, argv, stdin=None, stdout=None):
        pid = os.fork()
        if pid:
            return pid
        try:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            # What this process ignores would be ignored by every login too.
            for number in (
                signal.SIGPIPE,
                signal.SIGINT,
                signal.SIGQUIT,
                signal.SIGTERM,
                signal.SIGHUP,
                signal.SIGXFSZ,
            ):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            os.dup2(null if stdin is None else stdin, 0)
            os.dup2(null if stdout is None else stdout, 1)
            os.dup2(null, 2)
            os.execvp(argv[0], argv)
        finally:
            os._exit(127)

    def _run(self, argv):
        """Runs a short command to its end; its failure is the caller's."""
        out, into = os.pipe()
        pid = self._spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", *argv], stdout=into)
        os.close(into)
        with os.fdopen(out, "rb") as file:
            text = file.read(LINE_LIMIT_BYTES).decode(errors="replace").strip()
        if os.waitpid(pid, 0)[1]:
            raise Refused(f"{' '.join(argv)}: {text}")

    def reap(self):
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.listener:
                self.listener = None
            if self.link and pid == self.link[0]:
                os.close(self.link[1])
                os.close(self.link[2])
                self.link = None

    def _until(self, done, limit_s, what):
        end = time.monotonic() + limit_s
        while not done():
            if time.monotonic() > end:
                raise Refused(f"{what} took more than {limit_s} s")
            time.sleep(POLL_S)
            self.reap()

    def kill_all(self):
        def done():
            alive = descendants()
            for pid in alive:
                _signal(pid, signal.SIGKILL)
            return not alive

        self._until(done, STOP_LIMIT_S, "ending the node's processes")
        self.reap()
        self.held = None

    # Commands; each answers a dict that is added to the reply.

    def do_start(self, request):
        """Starts sshd, and the delay proxy where asked for; answers when both listen."""
        self.reap()
        if self.held:
            raise Refused(f"the node is {self.held}")
        self._stop_listener()
        log = request["log"]
        offset = os.path.getsize(log) if os.path.exists(log) else 0
        self.listener = self._spawn(request["argv"])
        self._until(
            lambda: self.listener is None or is_listening(request["address"], request["port"]),
            START_LIMIT_S,
            "starting sshd",
        )
        if self.listener is None:
            with open(log, encoding="utf-8", errors="replace") as file:
                file.seek(offset)
                raise Refused("sshd ended: " + file.read()[-LOG_TAIL_BYTES:].strip())
        if request.get("link"):
            self._start_link(request["link"])
        return {}

    def _stop_listener(self):
        if self.listener is not None:
            _signal(self.listener, signal.SIGTERM)
            self._until(lambda: self.listener is None, STOP_LIMIT_S, "stopping sshd")

    def _start_link(self, link):
        if self.link:
            return
        command_out, command_in = os.pipe()
        answer_out, answer_in = os.pipe()
        pid = self._spawn(link["argv"], stdin=command_out, stdout=answer_in)
        os.close(command_out)
        os.close(answer_in)
        self.link = (pid, command_in, answer_out)
        self._until(
            lambda: self.link is None or is_listening(link["address"], link["port"]),
            START_LIMIT_S,
            "starting the delay proxy",
        )
        if self.link is None:
            raise Refused("the delay proxy ended")

    def do_delay(self, request):
        if self.held:
            raise Refused(f"the node is {self.held}")
        if not self.link:
            raise Refused("no delay proxy")
        os.write(self.link[1], json.dumps({"delay_ms": request["delay_ms"]}).encode() + b"\n")
        ready, _, _ = select.select([self.link[2]], [], [], START_LIMIT_S)
        if not ready or os.read(self.link[2], 100) != b"ok\n":
            raise Refused("the delay proxy does not answer")
        return {}

    def do_drop_sessions(self, _request):
        """Ends all connections; the listener and detached processes go on."""
        for pid in descendants():
            if pid != self.listener and is_sshd(pid):
                _signal(pid, signal.SIGKILL)
        return {}

    def do_stop(self, _request):
        self.kill_all()
        return {}

    def do_hold(self, request):
        """Stops (SIGSTOP) every process of the node, or only its sshd processes ("cut")."""
        only_sshd = request["state"] == "cut"
        if self.held and self.held != request["state"]:
            raise Refused(f"the node is {self.held}")
        if self.listener is None:
            raise Refused("the node is down")

        def done():
            # A process that was just made may have been missed: look again until none is left.
            moving = [
                pid
                for pid, state in descendants().items()
                if state not in "Tt"
                and (not only_sshd or is_sshd(pid) or self.link and pid == self.link[0])
            ]
            for pid in moving:
                _signal(pid, signal.SIGSTOP)
            return not moving

        self._until(done, STOP_LIMIT_S, "stopping the processes")
        self.held = request["state"]
        return {}

    def do_release(self, _request):
        for pid in descendants():
            _signal(pid, signal.SIGCONT)
        self.held = None
        return {}

    def do_disk(self, request):
        """Puts a small disk (tmpfs) over the home, then fills it or makes room again."""
        home = request["home"]
        ballast = os.path.join(home, ".ballast")
        if self.disk_home is None:
            if not self.mounts:
                raise Refused("a small disk needs a mount namespace, which is not allowed here")
            self._mount_disk(home, request["size_mb"])
        if not request["full"]:
            if os.path.exists(ballast):
                os.unlink(ballast)
            return {}
        with open(ballast, "ab", buffering=0) as file:
            for size in (DISK_BLOCK_BYTES, 4096, 1):
                try:
                    while file.write(b"\0" * size) == size:
                        pass
                except OSError:
                    pass
        return {}

    def _mount_disk(self, home, size_mb):
        used = sum(
            os.lstat(os.path.join(folder, name)).st_size + 4096
            for folder, _, names in os.walk(home)
            for name in names
        )
        staging = home + ".disk"
        os.makedirs(staging, exist_ok=True)
        _mount("disk", staging, "tmpfs", 0, f"size={size_mb * (1 << 20) + used},mode=0700")
        shutil.copytree(home, staging, symlinks=True, dirs_exist_ok=True)
        _mount(staging, home, None, MS_BIND)
        _must(_libc.umount2(os.fsencode(staging), 2), "umount")
        os.rmdir(staging)
        self.disk_home = home

    def do_run(self, request):
        """Runs a command inside the node's namespaces (the bench's own `ip ...`)."""
        self._run(request["argv"])
        return {}

    def do_status(self, _request):
        self.reap()
        return {
            "listening": self.listener is not None,
            "held": self.held,
            "link": bool(self.link),
            "pids": sorted(descendants()),
        }


def answer(init, line):
    try:
        request = json.loads(line)
        return {"ok": True, **getattr(init, "do_" + request["do"])(request)}
    except Refused as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:  # The bench must hear of every mistake; silence would be a hang.
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def say(reply):
    try:
        os.write(1, json.dumps(reply).encode() + b"\n")
    except BrokenPipeError:
        pass  # The bench is gone; stdin will say so.


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    wake_out, wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        init = Init(json.loads(sys.argv[1]))
    except Refused as error:
        say({"ok": False, "error": str(error)})
        return 1
    say({"ok": True, "mounts": init.mounts})
    pending = b""
    while True:
        ready, _, _ = select.select([0, wake_out], [], [])
        if wake_out in ready:
            os.read(wake_out, 4096)
            init.reap()
        if 0 not in ready:
            continue
        data = os.read(0, 65536)
        pending += data
        if not data or len(pending) > LINE_LIMIT_BYTES:
            break
        *lines, pending = pending.split(b"\n")
        for line in lines:
            say(answer(init, line))
    try:
        init.kill_all()
    except Refused:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
