#!/usr/bin/env python3
"""Timeouts, retries, intervals and schedules: every action ends."""

import datetime
import os
import unittest

import harness
import processes
from harness import never, read, wait_for


def from_now(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return moment.isoformat().replace("+00:00", "Z")


class Timing(harness.FleetTest):
    AGENTS = ("a1",)

    def test_a_timeout_ends_the_process(self):
        pid_file = self.fleet.path("pid")
        action = self.fleet.exec("a1", f"echo $$ > {pid_file}; sleep 600", timeout="1s",
                                 inputs={"grace": "200ms"})
        ended = self.fleet.wait_final(action["id"])[0]
        self.assertEqual(ended["status"], "FAILED")
        self.assertRegex(ended["status_reason"].lower(), "time")
        pid = int(read(pid_file))
        wait_for(lambda: not processes.is_alive(pid), "the process to end")

    def test_an_engine_action_times_out(self):
        action = self.fleet.submit("sleep", inputs={"duration": 600}, timeout=0.2)
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "FAILED")

    def test_the_default_timeout_is_an_hour(self):
        self.assertEqual(self.fleet.submit("noop")["timeout"], 3600)

    def test_an_action_that_cannot_start_ends(self):
        self.fleet.agents["a1"].stop()
        self.fleet.agents["a1"].wait_offline()
        action = self.fleet.exec("a1", "true", queue_timeout="500ms")
        why = self.fleet.expect(200, "GET", f"/v1/actions/{action['id']}/explain").json["explain"]
        self.assertIn("a1", str(why["blockers"]))
        ended = self.fleet.wait_final(action["id"])[0]
        self.assertEqual(ended["status"], "FAILED")

    def test_a_failure_is_retried_with_back_off(self):
        tries = self.fleet.path("tries")
        action = self.fleet.exec("a1", f"echo x >> {tries}; test $(wc -l < {tries}) -ge 3",
                                 retry={"attempts": 5, "backoff": "50ms", "max_backoff": "100ms"})
        ended = self.fleet.wait_final(action["id"])[0]
        self.assertEqual((ended["status"], ended["attempt"]), ("SUCCEEDED", 3))
        self.assertEqual(len(self.lines("tries")), 3)

    def test_retries_run_out(self):
        action = self.fleet.exec("a1", f"echo x >> {self.fleet.path('tries')}; exit 1",
                                 retry={"attempts": 2, "backoff": "10ms"})
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "FAILED")
        self.assertEqual(len(self.lines("tries")), 2)

    def test_an_exit_code_can_ask_for_a_retry(self):
        tries = self.fleet.path("tries")
        action = self.fleet.exec(
            "a1", f"echo x >> {tries}; test $(wc -l < {tries}) -ge 2 || exit 75",
            inputs={"retry_codes": [75]}, retry={"backoff": "10ms"})
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "SUCCEEDED")
        self.assertEqual(len(self.lines("tries")), 2)

    def test_an_interval_repeats_without_overlap(self):
        seen = self.fleet.path("seen")
        busy = self.fleet.path("busy")
        # The fourth run does not end by itself, so that the cancel certainly meets a run.
        action = self.fleet.exec(
            "a1", f"mkdir {busy} || echo overlap >> {seen}; "
            f"test $(cat {seen} | wc -l) -lt 3 || sleep 600; sleep 1.3; rmdir {busy}; "
            f"echo run >> {seen}", interval="1s")
        wait_for(lambda: self.fleet.action(action["id"])["runs"] == 3, "three runs")
        self.assertEqual(self.lines("seen"), ["run"] * 3)
        wait_for(lambda: os.path.exists(busy), "the fourth run")
        self.assertNotIn(self.fleet.action(action["id"])["status"], harness.FINAL)
        self.fleet.signal(action["id"], "CANCEL")
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "CANCELLED")
        never(lambda: len(self.lines("seen")) > 3, "a cancelled repetition goes on", 0.5)

    def test_an_interval_ends_at_its_stop_time(self):
        action = self.fleet.submit("noop", interval="1s", stop_time=from_now(3.5))
        ended = self.fleet.wait_final(action["id"])[0]
        self.assertEqual(ended["status"], "SUCCEEDED")
        self.assertGreaterEqual(ended["runs"], 2)

    def test_a_start_time_is_kept(self):
        ran = self.fleet.path("ran")
        action = self.fleet.exec("a1", f"touch {ran}", start_time=from_now(2))
        never(lambda: os.path.exists(ran), "it runs before its time", 1)
        ended = self.fleet.wait_final(action["id"])[0]
        self.assertEqual(ended["status"], "SUCCEEDED")
        self.assertGreaterEqual(ended["start_time"], ended["scheduled_start"])

    def test_schedules_survive_a_crash_of_the_controller(self):
        ran = self.fleet.path("ran")
        action = self.fleet.exec("a1", f"touch {ran}", start_time=from_now(2))
        self.fleet.server.crash()
        self.assertEqual(self.fleet.wait_final(action["id"])[0]["status"], "SUCCEEDED")
        self.assertTrue(os.path.exists(ran))


if __name__ == "__main__":
    unittest.main(verbosity=2)
