#!/usr/bin/env python3
"""Dependencies, signals, idempotency and holding, with real processes."""

import os
import unittest

import harness
import processes
from harness import never, read, wait_for


class Dependencies(harness.FleetTest):
    AGENTS = ("a1", "a2", "a3")

    def append(self, name, target, **fields):
        return dict(fields, name=name, action="exec", target=target,
                    inputs={"script": f"echo {name} >> {self.fleet.path('order')}"})

    def test_a_dag_runs_in_order_over_the_fleet(self):
        edges = {"top": [], "left": ["top"], "right": ["top"], "low": ["left"],
                 "join": ["low", "right"], "end": ["join"]}
        targets = ["a1", "a2", "a3"]
        actions = [self.append(name, targets[i % 3], depends_on=before)
                   for i, (name, before) in enumerate(edges.items())]
        made = self.fleet.submit_all(actions)
        ended = self.fleet.wait_final(*[action["id"] for action in made])
        self.assertEqual({action["status"] for action in ended}, {"SUCCEEDED"})
        order = self.lines("order")
        self.assertEqual(sorted(order), sorted(edges))
        for name, before in edges.items():
            for dependency in before:
                self.assertLess(order.index(dependency), order.index(name), order)
        by_name = {action["name"]: action for action in ended}
        self.assertEqual(set(by_name["top"]["depended_by"]),
                         {by_name["left"]["id"], by_name["right"]["id"]})
        self.assertEqual(by_name["end"]["depends_on_left"], [])

    def test_depended_by_is_the_other_end(self):
        later = self.fleet.submit(**self.append("later", "a1", hold=True))
        self.fleet.submit(**self.append("earlier", "a2", depended_by=[later["id"]]))
        self.fleet.signal(later["id"], "RESUME")
        self.fleet.wait_final(later["id"])
        self.assertEqual(self.lines("order"), ["earlier", "later"])

    def test_engine_and_agent_actions_depend_on_each_other(self):
        made = self.fleet.submit_all([
            self.append("one", "a1"),
            {"name": "between", "action": "sleep", "inputs": {"duration": "50ms"},
             "depends_on": ["one"]},
            self.append("two", "a2", depends_on=["between"])])
        ended = self.fleet.wait_final(*[action["id"] for action in made])
        self.assertEqual([action["status"] for action in ended], ["SUCCEEDED"] * 3)
        self.assertLessEqual(ended[1]["stop_time"], ended[2]["start_time"])

    def test_what_depends_on_a_failure_never_runs(self):
        made = self.fleet.submit_all([
            {"name": "bad", "action": "exec", "target": "a1", "inputs": {"script": "exit 9"}},
            self.append("after", "a2", depends_on=["bad"]),
            self.append("after-that", "a3", depends_on=["after"]),
            self.append("aside", "a3")])
        ended = {action["name"]: action
                 for action in self.fleet.wait_final(*[action["id"] for action in made])}
        self.assertEqual({name: action["status"] for name, action in ended.items()},
                         {"bad": "FAILED", "after": "FAILED", "after-that": "FAILED",
                          "aside": "SUCCEEDED"})
        self.assertIn("bad", ended["after"]["status_reason"])
        self.assertEqual(self.lines("order"), ["aside"])

    def test_what_depends_on_a_cancelled_action_is_cancelled(self):
        made = self.fleet.submit_all([
            {"name": "long", "action": "exec", "target": "a1",
             "inputs": {"argv": ["sleep", "600"]}},
            self.append("after", "a2", depends_on=["long"])])
        self.fleet.wait_status(made[0]["id"], "RUNNING")
        waiting = self.fleet.action(made[1]["id"])
        self.assertEqual((waiting["status"], waiting["depends_on_left"]),
                         ("WAITING", [made[0]["id"]]))
        why = self.fleet.expect(200, "GET", f"/v1/actions/{made[1]['id']}/explain").json["explain"]
        self.assertIn("long", str(why["blockers"]))
        self.assertEqual(self.fleet.signal(made[0]["id"], "CANCEL", reason="enough").status, 202)
        ended = self.fleet.wait_final(*[action["id"] for action in made])
        self.assertEqual([action["status"] for action in ended], ["CANCELLED", "CANCELLED"])
        self.assertEqual(self.lines("order"), [])

    def test_one_agent_runs_one_action_at_a_time(self):
        script = ("mkdir {0} || echo overlap >> {1}; sleep 0.1; rmdir {0}; echo done >> {1}"
                  .format(self.fleet.path("busy"), self.fleet.path("seen")))
        ids = [self.fleet.exec("a1", script)["id"] for _ in range(6)]
        self.fleet.wait_final(*ids)
        self.assertEqual(self.lines("seen"), ["done"] * 6)


class Signals(harness.FleetTest):
    AGENTS = ("a1",)

    def run_tree(self, trap="", **fields):
        """A process with a child and a grandchild; answers with the action and the pids."""
        pids = self.fleet.path("pids")
        script = (f"{trap} sh -c 'echo $$ >> {pids}; sleep 600 & echo $! >> {pids}; wait' & "
                  f"echo $$ >> {pids}; while :; do wait; sleep 0.1; done")
        action = self.fleet.exec("a1", script, **fields)
        wait_for(lambda: len(self.lines("pids")) == 3, "the process tree")
        self.fleet.wait_status(action["id"], "RUNNING")
        return action["id"], [int(pid) for pid in self.lines("pids")]

    def gone(self, pids):
        wait_for(lambda: not any(processes.is_alive(pid) for pid in pids), "the processes to end")

    def test_suspend_freezes_and_resume_goes_on(self):
        ticks = self.fleet.path("ticks")
        action = self.fleet.exec("a1", f"echo $$ > {self.fleet.path('pids')}; "
                                 f"while :; do echo x >> {ticks}; sleep 0.05; done")
        wait_for(lambda: len(read(ticks)) > 4, "the first ticks")
        pid = int(self.lines("pids")[0])
        self.assertEqual(self.fleet.signal(action["id"], "SUSPEND").status, 202)
        self.fleet.wait_status(action["id"], "SUSPENDED")
        wait_for(lambda: processes.is_stopped(pid), "the process to stop")
        frozen = read(ticks)
        never(lambda: read(ticks) != frozen, "a suspended action goes on", 0.5)
        self.assertEqual(self.fleet.signal(action["id"], "RESUME").status, 202)
        self.fleet.wait_status(action["id"], "RUNNING")
        wait_for(lambda: len(read(ticks)) > len(frozen) + 4, "more ticks")
        self.assertFalse(processes.is_stopped(pid))
        self.fleet.signal(action["id"], "CANCEL")
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "CANCELLED")
        self.gone([pid])

    def test_cancel_ends_the_whole_group(self):
        action, pids = self.run_tree()
        self.assertEqual(self.fleet.signal(action, "CANCEL", reason="enough").status, 202)
        ended = self.fleet.wait_final(action)[0]
        self.assertEqual(ended["status"], "CANCELLED")
        self.assertIn("enough", ended["status_reason"] + ended["control_reason"])
        self.gone(pids)

    def test_cancel_kills_what_does_not_listen(self):
        action, pids = self.run_tree(trap="trap '' TERM;", inputs={"grace": "300ms"})
        self.fleet.signal(action, "CANCEL")
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "CANCELLED")
        self.gone(pids)

    def test_a_suspended_action_can_be_cancelled(self):
        action, pids = self.run_tree()
        self.fleet.signal(action, "SUSPEND")
        self.fleet.wait_status(action, "SUSPENDED")
        self.fleet.signal(action, "CANCEL")
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "CANCELLED")
        self.gone(pids)

    def test_a_queued_action_is_cancelled_without_a_start(self):
        first = self.fleet.exec("a1", "sleep 600")
        queued = self.fleet.exec("a1", f"touch {self.fleet.path('never')}")
        self.fleet.wait_status(first["id"], "RUNNING")
        self.fleet.wait_status(queued["id"], "NEW")
        answer = self.fleet.http("PATCH", f"/v1/actions/{queued['id']}",
                                 {"action": {"status": "CANCELLED"}})
        self.assertEqual(answer.status, 202, answer)
        self.assertEqual(self.fleet.wait_final(queued["id"])[0]["status"], "CANCELLED")
        self.fleet.signal(first["id"], "CANCEL")
        self.fleet.wait_final(first["id"])
        self.assertFalse(os.path.exists(self.fleet.path("never")))

    def test_engine_actions_take_signals(self):
        action = self.fleet.submit("sleep", inputs={"duration": 600})
        self.fleet.wait_status(action["id"], "RUNNING")
        self.fleet.signal(action["id"], "SUSPEND")
        self.fleet.wait_status(action["id"], "SUSPENDED")
        self.fleet.signal(action["id"], "RESUME")
        self.fleet.wait_status(action["id"], "RUNNING")
        self.fleet.signal(action["id"], "CANCEL")
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "CANCELLED")

    def test_the_end_is_the_end(self):
        action = self.fleet.submit("noop")
        self.fleet.wait_final(action["id"])
        for name in ("CANCEL", "SUSPEND", "RESUME"):
            self.assertCode(self.fleet.signal(action["id"], name), 409, "action_final")

    def test_a_stale_revision_is_refused(self):
        action = self.fleet.submit("sleep", inputs={"duration": 600})
        self.fleet.wait_status(action["id"], "RUNNING")
        path = f"/v1/actions/{action['id']}"
        stale = {"If-Match": '"1"'}
        self.assertCode(self.fleet.http("POST", path + "/signals", {"signal": "CANCEL"}, stale),
                        412, "revision_mismatch")
        fresh = {"If-Match": self.fleet.http("GET", path).headers["ETag"]}
        answer = self.fleet.http("POST", path + "/signals", {"signal": "CANCEL"}, fresh)
        self.assertEqual(answer.status, 202)

    def test_signals_over_the_command_line(self):
        action, pids = self.run_tree()
        self.fleet.cli("actions", "signal", action, "SUSPEND", code=0)
        self.fleet.wait_status(action, "SUSPENDED")
        self.fleet.cli("actions", "signal", action, "RESUME", code=0)
        self.fleet.wait_status(action, "RUNNING")
        self.fleet.cli("actions", "signal", action, "CANCEL", "--reason", "by hand", code=0)
        self.fleet.wait_final(action)
        self.gone(pids)
        self.fleet.cli("actions", "signal", action, "CANCEL", code=7)


class Submission(harness.FleetTest):
    AGENTS = ("a1",)

    def post(self, body, key):
        return self.fleet.http("POST", "/v1/actions", body, {"Idempotency-Key": key})

    def test_a_key_is_accepted_once_even_across_a_crash(self):
        body = {"action": {"action": "exec", "target": "a1",
                           "inputs": {"script": f"echo x >> {self.fleet.path('runs')}"}}}
        first = self.post(body, "once")
        self.assertEqual(first.status, 202)
        again = self.post(body, "once")
        self.assertEqual(again.json["action"]["id"], first.json["action"]["id"])
        self.fleet.server.crash()
        after = self.post(body, "once")
        self.assertEqual(after.json["action"]["id"], first.json["action"]["id"])
        other = self.post({"action": {"action": "noop"}}, "once")
        self.assertCode(other, 422, "idempotency_mismatch")
        self.fleet.wait_final(first.json["action"]["id"])
        self.assertEqual(self.lines("runs"), ["x"])

    def test_an_answer_says_where_the_action_is(self):
        answer = self.fleet.http("POST", "/v1/actions", {"action": {"action": "noop"}})
        location = answer.headers["Location"]
        self.assertEqual(location, f"/v1/actions/{answer.json['action']['id']}")
        self.assertEqual(self.fleet.http("GET", location).status, 200)

    def test_a_batch_is_all_or_nothing(self):
        answer = self.fleet.http("POST", "/v1/actions", {"actions": [
            {"action": "noop", "name": "good"}, {"action": "no-such-kind"}]})
        self.assertEqual(answer.status, 400)
        self.assertEqual(answer.json["errors"][0]["pointer"], "/actions/1/action")
        self.assertEqual(self.fleet.http("GET", "/v1/actions/good").status, 404)

    def test_a_held_action_waits_for_resume(self):
        action = self.fleet.exec("a1", f"touch {self.fleet.path('ran')}", hold=True)
        self.assertEqual(action["status"], "INIT")
        never(lambda: os.path.exists(self.fleet.path("ran")), "a held action runs", 0.5)
        self.assertEqual(self.fleet.signal(action["id"], "RESUME").status, 202)
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "SUCCEEDED")
        self.assertTrue(os.path.exists(self.fleet.path("ran")))

    def test_actions_are_found_by_id_name_and_prefix(self):
        made = harness.new_id()
        action = self.fleet.submit("noop", id=made, name="Mine")
        self.assertEqual(action["id"], made)
        for ref in (made, "Mine", made[:8], made.upper()):
            self.assertEqual(self.fleet.action(ref)["id"], made, ref)

    def test_lists_filter_sort_and_page(self):
        self.fleet.submit_all([{"action": "noop", "name": f"n{i:02}"} for i in range(25)])
        self.fleet.submit("exec", "a1", name="other", inputs={"argv": ["true"]})
        names = [row["name"] for row in self.fleet.actions(action="noop", sort="name:desc")]
        self.assertEqual(names, [f"n{i:02}" for i in reversed(range(25))])
        page = self.fleet.expect(200, "GET", "/v1/actions?limit=10&sort=name:asc").json
        self.assertEqual(len(page["actions"]), 10)
        rest = self.fleet.expect(
            200, "GET", f"/v1/actions?limit=100&sort=name:asc&marker={page['next_marker']}").json
        self.assertEqual(len(rest["actions"]), 16)
        self.assertIsNone(rest["next_marker"])
        rows = self.fleet.actions(target="a1")
        self.assertEqual([row["name"] for row in rows], ["other"])
        rows = self.fleet.actions(filters='{"name":["n01","n02"]}')
        self.assertEqual([row["name"] for row in rows], ["n01", "n02"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
