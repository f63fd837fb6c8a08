#!/usr/bin/env python3
"""Actions per second, end to end, through a real controller and real agents with their journals.

Prints one JSON line per benchmark. Everything runs on this machine, SQLite with full sync; the
client is this script, so the rates are what a plain client sees, not the limit of the engine.

    MUSTER_BINARY=build/release/muster bench/actions.py [--count N] [--agents N]
"""

import argparse
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))

import harness  # noqa: E402


def wait_all(fleet, ids):
    """Until none of them is live; watched through the status counts, not one by one."""
    def idle():
        counts = fleet.expect(200, "GET", "/v1/status").json["actions"]
        return sum(counts.values()) == 0
    harness.wait_for(idle, f"{len(ids)} actions to end", deadline=600)


def memory_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def batches(fleet, name, count, make):
    began = time.monotonic()
    ids = []
    while len(ids) < count:
        size = min(500, count - len(ids))
        made = fleet.submit_all([make(len(ids) + i) for i in range(size)])
        ids += [action["id"] for action in made]
    wait_all(fleet, ids)
    seconds = time.monotonic() - began
    failed = len(fleet.actions(status="FAILED"))
    print(json.dumps({"bench": name, "count": count, "seconds": round(seconds, 3),
                      "rate_per_s": round(count / seconds, 1), "failed": failed,
                      "rss_kib": memory_kib(fleet.server.process.pid)}), flush=True)


def one_by_one(fleet, count):
    times = []
    for _ in range(count):
        began = time.monotonic()
        action = fleet.submit("noop", "a1")
        fleet.wait_final(action["id"])
        times.append((time.monotonic() - began) * 1000)
    times.sort()
    print(json.dumps({"bench": "noop-one-by-one", "count": count,
                      "p50_ms": round(times[len(times) // 2], 2),
                      "p99_ms": round(times[int(len(times) * 0.99)], 2)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--agents", type=int, default=10)
    options = parser.parse_args()
    names = [f"a{i + 1}" for i in range(options.agents)]
    fleet = harness.Fleet(["--log-level", "warn"])
    try:
        fleet.start(*names)
        target = lambda i: names[i % len(names)]  # noqa: E731
        batches(fleet, "noop-engine", options.count, lambda i: {"action": "noop"})
        batches(fleet, "noop-agents", options.count,
                lambda i: {"action": "noop", "target": target(i)})
        true = {"argv": ["/bin/true"]}
        batches(fleet, "exec-true", options.count,
                lambda i: {"action": "exec", "target": target(i), "inputs": true})
        one_by_one(fleet, 200)
    finally:
        fleet.close()


if __name__ == "__main__":
    main()
