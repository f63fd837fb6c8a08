#!/usr/bin/env python3
"""Actions scheduled on the agent itself, and how agent and controller agree."""

import json
import os
import unittest

import harness
import processes
from harness import wait_for


class Local(harness.FleetTest):
    START = False

    def setUp(self):
        super().setUp()
        self.agent = self.fleet.add_agent("a1", "--label", "rack=r1", start=False)

    def start_alone(self):
        self.agent.start(wait=False)
        self.agent.wait_local()

    def schedule(self, **action):
        action.setdefault("action", "exec")
        answer = self.agent.http("POST", "/v1/actions", {"action": action})
        self.assertIn(answer.status, (200, 201, 202), answer)
        return answer.json["action"]

    def local(self, ref):
        return self.agent.http("GET", f"/v1/actions/{ref}").json["action"]

    def local_final(self, ref):
        return wait_for(lambda: self.local(ref)["status"] in ("DONE", *harness.FINAL) and
                        self.local(ref), f"{ref} to end on the agent")

    def test_without_a_controller(self):
        self.start_alone()
        made = harness.new_id()
        self.schedule(id=made, name="alone",
                      inputs={"script": f"echo x > {self.fleet.path('ran')}"})
        self.assertIn(self.local_final(made)["status"], ("DONE", "SUCCEEDED"))
        self.assertEqual(self.lines("ran"), ["x"])
        listed = self.agent.http("GET", "/v1/actions").json
        self.assertIn(made, json.dumps(listed))

    def test_short_ids_and_names_work_on_the_command_line(self):
        self.start_alone()
        made = harness.new_id()
        self.schedule(id=made, name="by-name", inputs={"argv": ["echo", "said"]})
        self.local_final(made)
        where = ("--socket", self.agent.socket)
        for ref in (made, made[:8], "by-name"):
            shown = self.fleet.cli("agent", "actions", "show", ref, "-o", "json", *where)
            self.assertEqual(json.loads(shown.stdout)["action"]["id"], made)
            self.assertEqual(self.fleet.cli("agent", "actions", "logs", ref, *where).stdout,
                             "said\n")
        missing = self.fleet.cli("agent", "actions", "show", "nobody", *where, code=1)
        self.assertIn("muster agent actions list", missing.stderr)
        queue = self.fleet.cli("agent", "actions", "list", "--state", "queue", "-o", "name", *where)
        self.assertEqual(queue.stdout, "")

    def test_a_damaged_journal_tells_what_to_do(self):
        state = self.fleet.path("damaged")
        os.mkdir(state)
        with open(os.path.join(state, "journal.db"), "wb") as file:
            file.write(b"g" * 10000)
        done = processes.run([harness.BINARY, "agent", "--name", "d1", "--state-dir", state])
        self.assertEqual(done.returncode, 1)
        self.assertIn("new, empty --state-dir", done.stderr)
        self.assertNotIn("muster restore", done.stderr)

    def test_an_id_is_scheduled_once(self):
        self.start_alone()
        made = harness.new_id()
        for _ in range(3):
            self.agent.http("POST", "/v1/actions", {"action": {
                "id": made, "action": "exec",
                "inputs": {"script": f"echo x >> {self.fleet.path('ran')}"}}})
        self.local_final(made)
        self.assertEqual(self.lines("ran"), ["x"])

    def test_the_queue_survives_a_crash_of_the_agent(self):
        self.start_alone()
        gate = self.fleet.path("gate")
        first = self.schedule(inputs={"script": f"until [ -e {gate} ]; do sleep 0.05; done"})
        rest = [self.schedule(inputs={"script": f"echo {i} >> {self.fleet.path('order')}"})
                for i in range(3)]
        self.agent.kill9()
        self.start_alone()
        open(gate, "w", encoding="utf-8").close()
        for action in [first, *rest]:
            self.assertIn(self.local_final(action["id"])["status"], ("DONE", "SUCCEEDED"))
        self.assertEqual(self.lines("order"), ["0", "1", "2"])

    def test_cancel_on_the_agent(self):
        self.start_alone()
        running = self.schedule(inputs={"argv": ["sleep", "600"]})
        queued = self.schedule(inputs={"script": f"touch {self.fleet.path('never')}"})
        wait_for(lambda: self.local(running["id"])["status"] == "RUNNING", "the start")
        for action in (queued, running):
            answer = self.agent.http("POST", f"/v1/actions/{action['id']}/signals",
                                     {"signal": "CANCEL"})
            self.assertIn(answer.status, (200, 202), answer)
            self.assertEqual(self.local_final(action["id"])["status"], "CANCELLED")
        self.assertFalse(harness.os.path.exists(self.fleet.path("never")))

    def test_bad_input_is_refused(self):
        self.start_alone()
        for action, code in (({"action": "no-such"}, "unknown_kind"),
                             ({"action": "exec", "inputs": {}}, "missing_field"),
                             ({"action": "exec", "inputs": {"argv": ["a"], "x": 1}},
                              "unknown_field")):
            answer = self.agent.http("POST", "/v1/actions", {"action": action})
            self.assertCode(answer, 400, code)
        self.assertEqual(self.agent.http("GET", f"/v1/actions/{harness.new_id()}").status, 404)

    def test_the_controller_adopts_what_it_did_not_know(self):
        self.start_alone()
        done = self.schedule(name="before", inputs={"script": "echo early"})
        self.local_final(done["id"])
        gate = self.fleet.path("gate")
        running = self.schedule(name="still", inputs={
            "script": f"until [ -e {gate} ]; do sleep 0.05; done"})
        self.fleet.server.start()
        self.agent.wait_online()
        wait_for(lambda: self.fleet.http("GET", f"/v1/actions/{running['id']}").status == 200,
                 "the adoption")
        adopted = self.fleet.wait_final(done["id"])[0]
        self.assertEqual((adopted["status"], adopted["origin"], adopted["target"], adopted["name"]),
                         ("SUCCEEDED", "agent", "a1", "before"))
        self.assertEqual(self.fleet.wait_status(running["id"], "RUNNING")["origin"], "agent")
        open(gate, "w", encoding="utf-8").close()
        self.assertEqual(self.fleet.wait_final(running["id"])[0]["status"], "SUCCEEDED")
        later = self.schedule(name="later", inputs={"argv": ["true"]})
        wait_for(lambda: self.fleet.http("GET", f"/v1/actions/{later['id']}").status == 200,
                 "the adoption of what came later")
        agent = self.fleet.expect(200, "GET", "/v1/agents/a1").json["agent"]
        self.assertEqual(agent["labels"], {"rack": "r1"})

    def test_the_agent_wins_a_conflict(self):
        self.fleet.server.start()
        self.agent.start()
        made = harness.new_id()
        self.agent.stop()
        self.agent.wait_offline()
        # Both sides make an action of the same id while they cannot see each other.
        self.fleet.submit("exec", "a1", id=made, name="controllers",
                          inputs={"script": f"echo controller >> {self.fleet.path('ran')}"})
        self.fleet.server.stop()
        self.start_alone()
        self.schedule(id=made, name="agents",
                      inputs={"script": f"echo agent >> {self.fleet.path('ran')}"})
        self.local_final(made)
        self.fleet.server.start()
        self.agent.wait_online()
        ended = self.fleet.wait_final(made)[0]
        self.assertEqual((ended["status"], ended["name"]), ("SUCCEEDED", "agents"))
        self.assertEqual(self.lines("ran"), ["agent"])

    def test_a_cancel_waits_for_an_agent_that_is_away(self):
        self.fleet.server.start()
        self.agent.start()
        running = self.fleet.exec("a1", "sleep 600")["id"]
        queued = self.fleet.exec("a1", f"touch {self.fleet.path('never')}")["id"]
        self.fleet.wait_status(running, "RUNNING")
        self.fleet.wait_status(queued, "NEW")
        self.agent.kill9()
        self.agent.wait_offline()
        for action in (running, queued):
            self.assertEqual(self.fleet.signal(action, "CANCEL", reason="while away").status, 202)
            shown = self.fleet.action(action)
            self.assertEqual(shown["control"], "CANCEL")
            self.assertNotIn(shown["status"], harness.FINAL)
        text = self.fleet.cli("explain", running, code=0).stdout
        self.assertIn("offline", text)
        self.agent.start()
        for ended in self.fleet.wait_final(running, queued):
            self.assertEqual(ended["status"], "CANCELLED")
        self.assertFalse(harness.os.path.exists(self.fleet.path("never")))

    def test_what_was_never_sent_is_cancelled_at_once(self):
        self.fleet.server.start()
        self.agent.start()
        self.agent.stop()
        self.agent.wait_offline()
        action = self.fleet.exec("a1", "true")["id"]
        self.assertEqual(self.fleet.action(action)["status"], "PENDING_SCHEDULE")
        self.fleet.signal(action, "CANCEL")
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "CANCELLED")

    def test_one_agent_away_does_not_hold_up_another(self):
        self.fleet.server.start()
        self.agent.start()
        self.fleet.add_agent("a2")
        self.agent.stop()
        self.agent.wait_offline()
        stuck = self.fleet.exec("a1", "true")["id"]
        other = self.fleet.exec("a2", "true")["id"]
        self.assertEqual(self.fleet.wait_final(other)[0]["status"], "SUCCEEDED")
        self.assertEqual(self.fleet.action(stuck)["status"], "PENDING_SCHEDULE")
        self.agent.start()
        self.assertEqual(self.fleet.wait_final(stuck)[0]["status"], "SUCCEEDED")

    def test_a_nudge_syncs(self):
        self.fleet.server.start()
        self.agent.start()
        answer = self.fleet.expect(202, "POST", "/v1/agents/a1/refresh").json
        self.assertEqual(answer["refreshed"], ["a1"])
        self.assertEqual(self.fleet.expect(202, "POST", "/v1/agents/refresh").json["refreshed"],
                         ["a1"])
        self.fleet.cli("nodes", "refresh", "a1", code=0)

    def test_a_list_of_controllers(self):
        other = self.fleet.add_agent("a2", "--controller", "127.0.0.1:1", start=False)
        # The dead one first.
        at = other.arguments.index("--controller")
        other.arguments[at + 1], other.arguments[-1] = other.arguments[-1], other.arguments[at + 1]
        self.fleet.server.start()
        other.start()

    def test_the_command_line_of_the_agent(self):
        self.start_alone()
        address = ("--socket", self.agent.socket)
        made = harness.new_id()
        self.fleet.cli("agent", "actions", "schedule", "exec", *address, "--id", made, "--",
                       "sh", "-c", f"echo by hand > {self.fleet.path('ran')}", code=0)
        self.local_final(made)
        listed = self.fleet.cli("agent", "actions", "list", *address, "-o", "json", code=0).stdout
        self.assertIn(made, listed)
        shown = self.fleet.cli("agent", "actions", "show", made, *address, "-o", "json", code=0)
        self.assertIn(json.loads(shown.stdout)["action"]["status"], ("DONE", "SUCCEEDED"))
        long = self.schedule(inputs={"argv": ["sleep", "600"]})["id"]
        self.fleet.cli("agent", "actions", "cancel", long, *address, code=0)
        self.assertEqual(self.local_final(long)["status"], "CANCELLED")


if __name__ == "__main__":
    unittest.main(verbosity=2)
