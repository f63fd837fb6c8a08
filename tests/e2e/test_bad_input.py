#!/usr/bin/env python3
"""What is wrong is refused with a problem document that says so, and changes nothing."""

import json
import socket
import unittest
import urllib.parse

import harness


class BadInput(harness.FleetTest):
    AGENTS = ("a1",)

    def post(self, action, **fields):
        return self.fleet.http("POST", "/v1/actions", {"action": dict(action, **fields)})

    def assertProblem(self, answer, status, code, *words):
        self.assertCode(answer, status, code)
        self.assertEqual(answer.headers["Content-Type"].split(";")[0], "application/problem+json")
        document = answer.json
        self.assertEqual(document["type"], f"urn:muster:problem:{code}")
        self.assertEqual(document["status"], status)
        for key in ("title", "detail", "request_id"):
            self.assertTrue(document[key], key)
        for word in words:
            self.assertIn(word, json.dumps(document, ensure_ascii=False))

    def test_actions_that_cannot_be(self):
        noop = {"action": "noop"}
        run = {"action": "exec", "target": "a1", "inputs": {"argv": ["true"]}}
        cases = [
            ({"action": "no-such-kind"}, "unknown_kind", ["no-such-kind"]),
            ({"action": "exce", "target": "a1"}, "unknown_kind", ["exec"]),
            (dict(run, target="aa1"), "unknown_target", ["did you mean 'a1'"]),
            (dict(run, target="no-such-agent"), "unknown_target", ["no-such-agent"]),
            (dict(noop, depends_on=["no-such-action"]), "unknown_dependency", ["no-such-action"]),
            (dict(noop, depended_by=[harness.new_id()]), "unknown_dependency", []),
            (dict(noop, name="self", depends_on=["self"]), "dependency_cycle", ["self"]),
            (dict(noop, timout=5), "unknown_field", ["/action/timout", "timeout"]),
            (dict(noop, timeout=-5), "invalid_value", ["/action/timeout"]),
            (dict(noop, timeout="-5s"), "invalid_value", ["/action/timeout"]),
            (dict(noop, timeout="soon"), "invalid_value", ["soon"]),
            (dict(noop, interval=-1), "invalid_value", ["/action/interval"]),
            (dict(noop, interval="1ms"), "invalid_value", ["/action/interval", "1s"]),
            (dict(noop, stop_time="2020-01-01T00:00:00Z"), "invalid_value", ["/action/stop_time"]),
            (dict(noop, misfire="skip"), "invalid_value", ["/action/misfire", "interval"]),
            (dict(noop, name=None), "invalid_value", ["/action/name"]),
            (dict(noop, name="a/b"), "invalid_value", ["/action/name"]),
            (dict(noop, name=""), "invalid_value", ["/action/name"]),
            (dict(noop, name="x" * 5000), "invalid_value", ["/action/name"]),
            (dict(noop, id="not-a-uuid"), "invalid_value", ["/action/id"]),
            (dict(noop, start_time="tomorrow"), "invalid_value", ["/action/start_time"]),
            (dict(noop, misfire="sometimes"), "invalid_value", ["/action/misfire"]),
            (dict(noop, retry={"attempts": 0}), "invalid_value", ["/action/retry/attempts"]),
            (dict(noop, retry={"atempts": 2}), "unknown_field", ["/action/retry/atempts"]),
            (dict(noop, approval={"count": 0}), "invalid_value", ["/action/approval/count"]),
            (dict(noop, hold="yes"), "invalid_value", ["/action/hold"]),
            (dict(noop, inputs=[]), "invalid_value", ["/action/inputs"]),
            (dict(noop, inputs={"a/b~c": 1}), "unknown_field", ["/action/inputs/a~1b~0c"]),
            (dict(run, inputs={}), "missing_field", ["/action/inputs/argv"]),
            (dict(run, inputs={"argv": ["a"], "cwd": "b"}), "invalid_value",
             ["/action/inputs/cwd"]),
            (dict(run, target=None), "missing_field", ["target"]),
            ({}, "missing_field", ["/action/action"]),
        ]
        for action, code, words in cases:
            with self.subTest(action=str(action)[:120], code=code):
                self.assertProblem(self.post(action), 400, code, *words)
        self.assertEqual(self.fleet.actions(), [])

    def test_all_mistakes_at_once(self):
        answer = self.fleet.http("POST", "/v1/actions", {"actions": [
            {"action": "sleep", "timeout": -1},
            {"action": "exec", "target": "a1", "inputs": {"argv": [], "wrong": 1}}]})
        self.assertProblem(answer, 400, "invalid_request")
        pointers = {error["pointer"] for error in answer.json["errors"]}
        self.assertEqual(pointers, {"/actions/0/timeout", "/actions/0/inputs/duration",
                                    "/actions/1/inputs/argv", "/actions/1/inputs/wrong"})

    def test_all_mistakes_at_once_also_those_that_only_the_engine_sees(self):
        answer = self.fleet.http("POST", "/v1/actions?colour=red", {"actions": [
            {"action": "slep", "timeout": -1},
            {"action": "exec", "depends_on": ["nobody", 5, "no-one"]}]})
        self.assertProblem(answer, 400, "invalid_request")
        pointers = {error["pointer"] for error in answer.json["errors"]}
        self.assertEqual(pointers, {"?colour", "/actions/0/timeout", "/actions/0/action",
                                    "/actions/1/target", "/actions/1/inputs/argv",
                                    "/actions/1/depends_on/0", "/actions/1/depends_on/1",
                                    "/actions/1/depends_on/2"})
        answer = self.fleet.http("GET", "/v1/actions?foo=zz&limit=0&sort=foo:up&status=xx")
        self.assertProblem(answer, 400, "invalid_request", "PENDING_SCHEDULE")
        pointers = {error["pointer"] for error in answer.json["errors"]}
        self.assertEqual(pointers, {"?foo", "?limit", "?sort", "?status"})

    def test_cycles(self):
        answer = self.fleet.http("POST", "/v1/actions", {"actions": [
            {"action": "noop", "name": "a", "depends_on": ["c"]},
            {"action": "noop", "name": "b", "depends_on": ["a"]},
            {"action": "noop", "name": "c", "depends_on": ["b"]}]})
        self.assertProblem(answer, 400, "dependency_cycle")
        first = self.fleet.submit("noop", name="first", hold=True)
        second = self.fleet.submit("noop", name="second", depends_on=[first["id"]])
        answer = self.post({"action": "noop", "depends_on": [second["id"]],
                            "depended_by": [first["id"]]})
        self.assertProblem(answer, 400, "dependency_cycle")

    def test_bodies_that_are_none(self):
        post = lambda body, **headers: self.fleet.http("POST", "/v1/actions", body, headers or None)
        self.assertProblem(post("{"), 400, "invalid_json")
        self.assertProblem(post(""), 400, "invalid_json", "empty")
        self.assertProblem(post('{"action":{"action":"noop","timeout":1e400}}'), 400,
                           "invalid_json", "1e400", "too large")
        self.assertProblem(post(b"\xff\xfe"), 400, "invalid_json")
        twice = '{"action":{"action":"noop","action":"fail"}}'
        self.assertProblem(post(twice), 400, "invalid_json")
        deep = "[" * 10_000 + "]" * 10_000
        self.assertProblem(post(deep), 400, "json_too_deep", "nested too deep")
        self.assertProblem(post('{"action":' * 10_000 + "1" + "}" * 10_000), 400, "json_too_deep")
        for body in ("[]", "7", "null", "{}", '{"action":{},"actions":[]}', '{"actions":[]}'):
            with self.subTest(body=body):
                self.assertEqual(post(body).status, 400)
        answer = self.fleet.http("POST", "/v1/actions", '{"action":{"action":"noop"}}',
                                 {"Content-Type": "text/plain"})
        self.assertProblem(answer, 415, "unsupported_media_type")

    def test_a_body_that_is_too_large(self):
        # Announced only: the refusal must not wait for what it does not want to read.
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(self.fleet.server.socket)
            connection.sendall(b"POST /v1/actions HTTP/1.1\r\nHost: x\r\n"
                               b"Content-Type: application/json\r\n"
                               b"Content-Length: 10000000000\r\n\r\n")
            answer = b""
            while b"body_too_large" not in answer:
                part = connection.recv(65536)
                self.assertTrue(part, answer)
                answer += part
        self.assertTrue(answer.startswith(b"HTTP/1.1 413"), answer)

    def test_references_that_lead_nowhere_or_everywhere(self):
        get = lambda path: self.fleet.http("GET", path)
        self.assertProblem(get("/v1/actions/no-such"), 404, "not_found", "no-such")
        self.assertProblem(get(f"/v1/actions/{harness.new_id()}"), 404, "not_found")
        self.assertProblem(get("/v1/agents/no-such"), 404, "not_found")
        self.assertProblem(get("/v1/no-such-route"), 404, "not_found")
        self.assertProblem(self.fleet.http("DELETE", "/v1/actions"), 405, "method_not_supported")
        twins = [self.fleet.submit("noop", name="twin")["id"] for _ in range(2)]
        self.assertProblem(get("/v1/actions/twin"), 400, "ambiguous", *twins)
        self.assertProblem(self.fleet.signal("twin", "CANCEL"), 400, "ambiguous", *twins)
        answer = self.post({"action": "noop", "depends_on": ["twin"]})
        self.assertProblem(answer, 400, "ambiguous", *twins)

    def test_duplicate_ids(self):
        made = self.fleet.submit("noop")["id"]
        self.assertProblem(self.post({"action": "noop", "id": made}), 409, "duplicate_id", made)
        self.fleet.wait_final(made)
        self.assertProblem(self.post({"action": "noop", "id": made}), 409, "duplicate_id", made)
        fresh = harness.new_id()
        answer = self.fleet.http("POST", "/v1/actions", {"actions": [
            {"action": "noop", "id": fresh}, {"action": "noop", "id": fresh}]})
        self.assertEqual(answer.json["code"], "duplicate_id", answer)
        self.assertEqual(self.fleet.http("GET", f"/v1/actions/{fresh}").status, 404)

    def test_lists(self):
        cases = [
            (f"marker={harness.new_id()}", "invalid_marker"),
            ("marker=nonsense", "invalid_marker"),
            ("limit=0", "invalid_value"),
            ("limit=501", "invalid_value"),
            ("limit=x", "invalid_value"),
            ("sort=colour", "invalid_value"),
            ("sort=name:sideways", "invalid_value"),
            ("status=SLEEPY", "invalid_value"),
            ("colour=red", "unknown_field"),
            ("filters=" + urllib.parse.quote('{"colour":"red"}'), None),
            ("filters=" + urllib.parse.quote("{"), None),
        ]
        for query, code in cases:
            with self.subTest(query=query):
                answer = self.fleet.http("GET", f"/v1/actions?{query}")
                self.assertEqual(answer.status, 400, answer)
                if code:
                    self.assertEqual(answer.code, code, answer)

    def test_signals_and_decisions(self):
        action = self.fleet.submit("sleep", inputs={"duration": 600})["id"]
        self.fleet.wait_status(action, "RUNNING")
        self.assertProblem(self.fleet.signal(action, "EXPLODE"), 400, "invalid_value", "EXPLODE")
        self.assertProblem(self.fleet.signal(action, "CANCEL", resaon="x"), 400, "unknown_field",
                           "reason")
        answer = self.fleet.http("POST", f"/v1/actions/{action}/signals", {})
        self.assertProblem(answer, 400, "missing_field", "signal")
        answer = self.fleet.http("PATCH", f"/v1/actions/{action}", {"action": {"status": "DONE"}})
        self.assertEqual(answer.status, 400, answer)
        answer = self.fleet.http("POST", f"/v1/actions/{action}/approve", {})
        self.assertProblem(answer, 409, "conflict")
        answer = self.fleet.http("POST", f"/v1/actions/{action}/signals", {"signal": "CANCEL"},
                                 {"If-Match": "seven"})
        self.assertEqual(answer.status, 400, answer)
        self.assertEqual(self.fleet.action(action)["status"], "RUNNING")

    def test_every_code_is_documented(self):
        root = harness.os.path.dirname(harness.os.path.dirname(harness.os.path.dirname(
            harness.os.path.abspath(__file__))))
        documented = harness.read(harness.os.path.join(root, "docs", "errors.md"))
        for code in ("unknown_kind", "unknown_target", "unknown_dependency", "unknown_field",
                     "dependency_cycle", "body_too_large", "invalid_json", "ambiguous",
                     "invalid_value", "invalid_marker", "duplicate_id", "store_locked",
                     "store_corrupt", "store_newer", "store_unavailable"):
            self.assertIn(code, documented)


class Listening(harness.FleetTest):
    START = False

    def refused(self, option, address):
        arguments = self.fleet.server.arguments
        arguments[arguments.index(option) + 1] = address
        self.fleet.server.start(wait=False)
        self.assertNotEqual(self.fleet.server.wait_exit(), 0)
        log = harness.read(self.fleet.server.log)
        self.assertIn("--insecure", log)

    def test_only_loopback_without_insecure(self):
        self.refused("--listen", "0.0.0.0:0")

    def test_only_loopback_for_agents_too(self):
        self.refused("--agent-listen", "0.0.0.0:0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
