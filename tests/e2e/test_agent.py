# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""`nvidb agent` as another program sees it: lines out, orders in, gone when stdin ends."""

import json
import os
import signal
import subprocess
import sys

import pytest

from conftest import wait_until

CARD = {"model": "RTX A6000", "util_percent": 50}
MARK = b"nvidb1 "


class Agent:
    def __init__(self, nvidb, *words):
        self.process = nvidb.start(
            "agent", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def line(self):
        line = self.process.stdout.readline()
        assert line.startswith(MARK), line
        return json.loads(line[len(MARK) :])

    def next(self, kind, tries=200):
        for _ in range(tries):
            message = self.line()
            if message["type"] == kind:
                return message
        raise AssertionError(f"no {kind}")

    def order(self, **fields):
        self.process.stdin.write(MARK + json.dumps(fields).encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


@pytest.fixture
def agent(nvidb):
    running = []

    def start(scenario, *words):
        if scenario is not None:
            nvidb.scenario(scenario)
        running.append(Agent(nvidb, *words))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()


def test_hello_comes_first_then_inventory_then_samples(agent):
    watched = agent({"gpus": [CARD, CARD]}, "--interval", "0.1")
    hello = watched.line()
    assert (hello["type"], hello["protocol"], hello["collector"]) == ("hello", 1, "native")
    inventory = watched.next("inventory")
    assert [gpu["index"] for gpu in inventory["gpus"]] == [0, 1]
    first, second = watched.next("sample"), watched.next("sample")
    assert (first["seq"], second["seq"]) == (1, 2)
    assert first["host"]["cpu_percent"] is not None
    assert watched.end() == 0


def test_hello_comes_though_the_driver_hangs(agent):
    watched = agent({"block": ["nvmlInit_v2"], "gpus": [CARD]})
    assert watched.line()["type"] == "hello"
    assert watched.end() == 0


@pytest.mark.parametrize(
    "call", ["nvmlInit_v2", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPcieThroughput"]
)
def test_end_of_stdin_ends_it_whatever_the_driver_does(agent, call):
    watched = agent({"block": [call], "gpus": [CARD]})
    watched.line()
    assert watched.end() == 0


def test_interval_and_processes_are_changed_by_orders(agent):
    pid = os.getpid()
    watched = agent(
        {"gpus": [{**CARD, "processes": [{"pid": pid, "type": "C", "mem_mb": 10}]}]},
        "--interval",
        "0.1",
    )
    assert watched.next("sample")["gpus"][0]["processes"][0]["pid"] == pid
    watched.order(type="processes", want=False)
    assert any(not watched.next("sample")["gpus"][0].get("processes") for _ in range(20))
    watched.order(type="processes", want=True)
    assert any(watched.next("sample")["gpus"][0].get("processes") for _ in range(20))
    watched.order(type="interval", interval_ms=3600000)
    watched.order(type="quit")
    assert watched.process.wait(timeout=60) == 0


def test_bad_orders_are_ignored(agent):
    watched = agent({"gpus": [CARD]}, "--interval", "0.1")
    for junk in (
        b"hello\n",
        b"nvidb1 {\n",
        MARK + b'{"type":"interval","interval_ms":-1}\n',
        MARK + b"[]\n",
        b"x" * 3000000 + b"\n",
        b"\xff\xfe\n",
        MARK + b'{"type":"signal","id":1,"pid":1,"start_ticks":0}\n',
    ):
        watched.process.stdin.write(junk)
    watched.process.stdin.flush()
    before = watched.next("sample")["seq"]
    assert watched.next("sample")["seq"] == before + 1
    assert watched.end() == 0


def start_ticks(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[19])


def test_a_signal_reaches_exactly_the_named_process(agent):
    target = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    try:
        watched = agent({"gpus": [CARD]}, "--interval", "0.1")
        ticks = start_ticks(target.pid)
        watched.order(type="signal", id=1, pid=target.pid, start_ticks=ticks + 1, signal=9)
        reply = watched.next("signal_reply")
        assert (reply["id"], "no such process" in reply["error"]) == (1, True)
        assert target.poll() is None
        watched.order(type="signal", id=2, pid=target.pid, start_ticks=ticks, signal=15)
        reply = watched.next("signal_reply")
        assert reply["id"] == 2 and not reply.get("error")
        assert target.wait(timeout=60) == -signal.SIGTERM
    finally:
        target.kill()
        target.wait()


def test_a_signal_works_though_the_driver_hangs(agent):
    target = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    try:
        watched = agent({"block": ["nvmlDeviceGetUtilizationRates"], "gpus": [CARD]})
        watched.order(
            type="signal", id=5, pid=target.pid, start_ticks=start_ticks(target.pid), signal=2
        )
        assert watched.next("signal_reply")["id"] == 5
        assert target.wait(timeout=60) != 0
    finally:
        target.kill()
        target.wait()


def test_a_card_that_comes_and_goes_makes_a_new_inventory(agent, nvidb):
    watched = agent({"gpus": [CARD]}, "--interval", "0.1")
    assert len(watched.next("inventory")["gpus"]) == 1
    nvidb.scenario({"gpus": [CARD, CARD]})
    assert len(watched.next("inventory")["gpus"]) == 2
    assert watched.end() == 0


def test_nobody_reading_does_not_keep_it_alive(agent):
    watched = agent("h200x8", "--interval", "0.1")
    assert wait_until(lambda: watched.process.poll() is None)
    watched.process.stdin.close()
    assert wait_until(lambda: watched.process.poll() is not None)


def test_a_reader_that_went_away_ends_it(agent):
    watched = agent({"gpus": [CARD]}, "--interval", "0.1")
    watched.line()
    watched.process.stdout.close()
    assert wait_until(lambda: watched.process.poll() is not None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it_quietly(agent, number):
    watched = agent({"gpus": [CARD]}, "--interval", "0.1")
    watched.line()
    watched.process.send_signal(number)
    watched.process.wait(timeout=60)
    assert watched.process.stderr.read() == b""
