#!/usr/bin/env python3
"""Approvals: who, why, how many, until when."""

import os
import unittest

import harness
from harness import never


@harness.needs_root
class Approvals(harness.FleetTest):
    AGENTS = ("a1",)

    def pending(self, approval=True):
        action = self.fleet.exec("a1", f"echo x >> {self.fleet.path('ran')}", approval=approval)
        self.assertEqual(action["status"], "PENDING_APPROVE")
        return f"/v1/actions/{action['id']}", action["id"]

    def test_the_requester_may_not_approve(self):
        path, action = self.pending()
        self.assertCode(self.fleet.http("POST", path + "/approve", {}), 403, "self_approval")
        never(lambda: self.lines("ran"), "an action runs without approval", 0.3)
        self.assertEqual(self.fleet.action(action)["status"], "PENDING_APPROVE")

    def test_another_user_approves(self):
        path, action = self.pending()
        answer = self.fleet.http_as("nobody", "POST", path + "/approve", {"reason": "looks right"})
        self.assertEqual(answer.status, 200, answer)
        ended = self.fleet.wait_final(action)[0]
        self.assertEqual(ended["status"], "SUCCEEDED")
        decision = ended["approval"]["decisions"][0]
        self.assertEqual((decision["who"], decision["approved"], decision["reason"]),
                         ("nobody", True, "looks right"))
        self.assertEqual(ended["requested_by"], "root")

    def test_the_requester_may_where_it_is_allowed(self):
        path, action = self.pending({"allow_requester": True})
        self.assertEqual(self.fleet.http("POST", path + "/approve", {}).status, 200)
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")

    def test_a_rejection_cancels(self):
        path, action = self.pending()
        answer = self.fleet.http_as("nobody", "POST", path + "/reject", {"reason": "not today"})
        self.assertEqual(answer.status, 200, answer)
        ended = self.fleet.wait_final(action)[0]
        self.assertEqual(ended["status"], "CANCELLED")
        self.assertIn("not today", ended["status_reason"])
        self.assertEqual(self.lines("ran"), [])

    def test_two_must_be_two_people(self):
        path, action = self.pending({"count": 2})
        self.assertEqual(self.fleet.http_as("nobody", "POST", path + "/approve", {}).status, 200)
        self.assertEqual(self.fleet.action(action)["status"], "PENDING_APPROVE")
        self.assertCode(self.fleet.http_as("nobody", "POST", path + "/approve", {}), 409,
                        "duplicate_approval")
        self.assertEqual(self.fleet.http_as("daemon", "POST", path + "/approve", {}).status, 200)
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")

    def test_nobody_in_particular_may_not_approve(self):
        path, _ = self.pending()
        answer = self.fleet.http("POST", path + "/approve", {}, tcp=True)
        self.assertCode(answer, 403, "forbidden")
        self.assertIn("unix socket", answer.json["detail"])

    def test_nobody_in_particular_may_not_ask_for_four_eyes(self):
        noop = {"action": "noop", "approval": True}
        answer = self.fleet.http("POST", "/v1/actions", {"action": noop}, tcp=True)
        self.assertCode(answer, 403, "forbidden")
        self.assertEqual([error["pointer"] for error in answer.json["errors"]],
                         ["/action/approval"])
        noop["approval"] = {"allow_requester": True}
        answer = self.fleet.http("POST", "/v1/actions", {"action": noop}, tcp=True)
        self.assertEqual(answer.status, 202, answer)

    def test_a_decision_is_for_what_was_seen(self):
        path, action = self.pending()
        stale = self.fleet.http_as("nobody", "POST", path + "/approve", {}, {"If-Match": '"99"'})
        self.assertCode(stale, 412, "revision_mismatch")
        seen = self.fleet.http("GET", path).headers["ETag"]
        answer = self.fleet.http_as("nobody", "POST", path + "/approve", {}, {"If-Match": seen})
        self.assertEqual(answer.status, 200, answer)
        self.fleet.wait_final(action)
        self.assertEqual(self.fleet.http_as("nobody", "POST", path + "/approve", {}).status, 409)

    def test_an_approval_expires(self):
        _, action = self.pending({"expires_in": "300ms"})
        ended = self.fleet.wait_final(action)[0]
        self.assertIn(ended["status"], ("CANCELLED", "FAILED"))
        self.assertEqual(self.lines("ran"), [])

    def test_an_approval_survives_a_crash(self):
        path, action = self.pending({"count": 2})
        self.assertEqual(self.fleet.http_as("nobody", "POST", path + "/approve", {}).status, 200)
        self.fleet.server.crash()
        self.assertEqual(self.fleet.action(action)["approval"]["decisions"][0]["who"], "nobody")
        self.assertEqual(self.fleet.http_as("daemon", "POST", path + "/approve", {}).status, 200)
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")

    def test_over_the_command_line(self):
        submitted = self.fleet.cli("actions", "submit", "noop", "--approval", "--name", "careful",
                                   code=8)
        self.assertIn("approve", submitted.stdout + submitted.stderr)
        self.fleet.cli("actions", "approve", "careful", code=77)
        other = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        if not os.access(harness.BINARY, os.X_OK):
            self.skipTest("the binary is not for everybody")
        self.fleet.cli("actions", "approve", "careful", "--reason", "fine", prefix=other, code=0)
        self.fleet.cli("actions", "wait", "careful", code=0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
