#!/usr/bin/env python3
"""Health, metrics, the contract as served, and `muster dev`."""

import os
import signal
import unittest

import harness
import processes
from harness import read, wait_for


class System(harness.FleetTest):
    AGENTS = ("a1",)

    def test_health_and_metrics(self):
        done = self.fleet.submit("noop")["id"]
        self.fleet.wait_final(done)
        for path in ("/livez", "/readyz", "/version"):
            self.assertEqual(self.fleet.http("GET", path).status, 200, path)
            self.assertEqual(self.fleet.http("GET", path, tcp=True).status, 200, path)
        metrics = self.fleet.expect(200, "GET", "/metrics").text
        self.assertRegex(metrics, r"(?m)^# TYPE muster_\w+ (counter|gauge|histogram)$")
        for line in metrics.splitlines():
            self.assertRegex(line, r"^(#.*|[a-zA-Z_:][\w:]*(\{.*\})? [-+\w.]+)$")

    def test_the_contract_is_served(self):
        contract = self.fleet.expect(200, "GET", "/openapi.json").json
        self.assertTrue(contract["openapi"].startswith("3."))
        self.assertIn("/v1/actions", contract["paths"])
        kinds = {kind["name"] for kind in self.fleet.expect(200, "GET", "/v1/kinds").json["kinds"]}
        self.assertLessEqual({"noop", "sleep", "fail", "http", "exec", "file.put", "file.fetch",
                              "service", "facts"}, kinds)

    def test_status_counts(self):
        self.fleet.submit("noop", hold=True)
        status = self.fleet.expect(200, "GET", "/v1/status").json
        self.assertEqual(status["agents"]["online"], 1)
        self.assertEqual(status["actions"]["INIT"], 1)
        self.assertTrue(status["store"]["ok"])
        term = status["term"]
        self.fleet.server.restart()
        self.assertEqual(self.fleet.expect(200, "GET", "/v1/status").json["term"], term + 1)

    def test_identity_comes_from_the_connection(self):
        over_tcp = self.fleet.expect(202, "POST", "/v1/actions", {"action": {"action": "noop"}},
                                     tcp=True).json["action"]
        self.assertEqual(over_tcp["requested_by"], "anonymous")
        own = self.fleet.submit("noop")
        self.assertEqual(own["requested_by"], processes.pwd.getpwuid(os.geteuid()).pw_name)

    def test_a_clean_stop_leaves_the_runs_alone(self):
        gate = self.fleet.path("gate")
        action = self.fleet.exec("a1", f"until [ -e {gate} ]; do sleep 0.05; done")["id"]
        self.fleet.wait_status(action, "RUNNING")
        self.fleet.agents["a1"].stop()
        self.fleet.server.stop()
        self.fleet.server.start()
        self.fleet.agents["a1"].start()
        open(gate, "w", encoding="utf-8").close()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")


class Dev(harness.FleetTest):
    START = False

    def test_one_command_is_a_fleet(self):
        data = self.fleet.path("dev")
        self.fleet.server.socket = os.path.join(data, "muster.sock")
        log = open(self.fleet.path("dev.log"), "wb")
        self.addCleanup(log.close)
        dev = processes.spawn(
            [harness.BINARY, "dev", "--agents", "2", "--data-dir", data,
             "--listen", f"127.0.0.1:{harness.free_port()}",
             "--agent-listen", f"127.0.0.1:{harness.free_port()}"],
            stdin=harness.subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.fleet.dir,
            start_new_session=True)

        def names():
            try:
                agents = self.fleet.http("GET", "/v1/agents").json["agents"]
            except OSError:
                self.assertIsNone(dev.poll(), read(self.fleet.path("dev.log")))
                return None
            online = [agent["name"] for agent in agents if agent["state"] == "online"]
            return online if len(online) == 2 else None
        for name in wait_for(names, "two agents"):
            done = self.fleet.exec(name, "true")["id"]
            self.assertEqual(self.fleet.wait_final(done)[0]["status"], "SUCCEEDED")

        # What dies is started again.
        server = next(pid for pid in processes.descendants(dev.pid)
                      if b"server" in command_of(pid).split(b"\0"))
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: not processes.is_alive(server), "the server to be gone")
        wait_for(names, "the fleet to come back")

        mark = self.fleet.path("held")
        self.fleet.exec("a1", f"echo $$ > {mark}; exec sleep 600")
        held = int(wait_for(lambda: os.path.exists(mark) and read(mark).strip(), "the start"))

        below = processes.descendants(dev.pid)
        dev.terminate()
        self.assertEqual(dev.wait(harness.DEADLINE), 0, read(self.fleet.path("dev.log")))
        wait_for(lambda: not any(processes.is_alive(pid) for pid in below), "all of it to end")
        wait_for(lambda: not processes.is_alive(held), "what it ran to end")


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main(verbosity=2)
