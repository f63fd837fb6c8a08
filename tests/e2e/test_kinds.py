#!/usr/bin/env python3
"""Every shipped kind of action, over REST and the command line, as real work."""

import base64
import hashlib
import json
import os
import socket
import stat
import unittest

import harness
import web
from harness import read


class EngineKinds(harness.FleetTest):
    def setUp(self):
        super().setUp()
        self.web = web.Web()
        self.addCleanup(self.web.close)

    def end_of(self, kind, **fields):
        return self.fleet.wait_final(self.fleet.submit(kind, **fields)["id"])[0]

    def test_noop_sleep_and_fail(self):
        done = self.end_of("noop")
        self.assertEqual((done["status"], done["side"], done["cause"]),
                         ("SUCCEEDED", "engine", "RPC Request"))
        self.assertIsNotNone(done["start_time"])
        self.assertIsNotNone(done["stop_time"])
        self.assertEqual(self.end_of("sleep", inputs={"duration": "50ms"})["status"], "SUCCEEDED")
        failed = self.end_of("fail", inputs={"reason": "as rehearsed"})
        self.assertEqual(failed["status"], "FAILED")
        self.assertIn("as rehearsed", failed["status_reason"])
        self.assertEqual(self.end_of("fail", inputs={"result": "CANCEL"})["status"], "CANCELLED")
        self.assertEqual(self.end_of("fail", inputs={"result": "TIMEOUT"})["status"], "FAILED")

    def test_http_judges_the_answer(self):
        self.web.routes.update({"/ok": 200, "/gone": 410, "/wobbly": [503, 503, 200]})
        self.assertEqual(self.end_of("http", inputs={"url": self.web.url("/ok")})["status"],
                         "SUCCEEDED")
        failed = self.end_of("http", inputs={"url": self.web.url("/gone")})
        self.assertEqual(failed["status"], "FAILED")
        self.assertIn("410", failed["status_reason"])
        expected = self.end_of("http", inputs={"url": self.web.url("/gone"),
                                               "expect_status": [410]})
        self.assertEqual(expected["status"], "SUCCEEDED")
        retried = self.end_of("http", retry={"attempts": 3, "backoff": "10ms"},
                              inputs={"url": self.web.url("/wobbly"), "retry_status": [503]})
        self.assertEqual(retried["status"], "SUCCEEDED")
        self.assertEqual(len(self.web.seen("/wobbly")), 3)

    def test_http_sends_what_it_was_told(self):
        self.web.routes["/in"] = 201
        done = self.end_of("http", inputs={
            "url": self.web.url("/in"), "method": "POST", "headers": {"X-Token": "t"},
            "body": '{"a":1}'})
        self.assertEqual(done["status"], "SUCCEEDED")
        method, _, headers, body = self.web.seen("/in")[0]
        self.assertEqual((method, headers["X-Token"], body), ("POST", "t", b'{"a":1}'))

    def test_http_that_nobody_answers_fails(self):
        refused = self.end_of("http", inputs={"url": f"http://127.0.0.1:{harness.free_port()}/"})
        self.assertEqual(refused["status"], "FAILED")
        self.web.routes["/slow"] = lambda handler: handler.connection.recv(1)
        slow = self.end_of("http", inputs={"url": self.web.url("/slow"), "timeout": "200ms"})
        self.assertEqual(slow["status"], "FAILED")


class AgentKinds(harness.FleetTest):
    AGENTS = ("a1",)

    def end_of(self, kind, inputs, **fields):
        action = self.fleet.submit(kind, "a1", inputs=inputs, **fields)
        return self.fleet.wait_final(action["id"])[0]

    def test_exec_runs_a_program_and_keeps_its_output(self):
        done = self.end_of("exec", {"argv": ["printf", "%s|", "one", "two words", ""]})
        self.assertEqual((done["status"], done["side"]), ("SUCCEEDED", "agent"))
        self.assertEqual(done["outputs"]["exit_code"], 0)
        self.assertIn("one|two words||", done["outputs"]["output_tail"])
        self.assertEqual(self.fleet.logs(done["id"]), "one|two words||")

    def test_exec_gives_the_script_its_surroundings(self):
        os.mkdir(self.fleet.path("here"))
        done = self.end_of("exec", {
            "script": 'echo "$GREETING $(pwd) $(cat) ${HOME-none}"', "interpreter": "/bin/bash",
            "env": {"GREETING": "hello"}, "clear_env": True, "cwd": self.fleet.path("here"),
            "stdin": "typed"})
        self.assertEqual(done["status"], "SUCCEEDED", done)
        output = self.fleet.logs(done["id"])
        self.assertIn(f"hello {self.fleet.path('here')} typed", output)

    @harness.needs_root
    def test_exec_as_another_user(self):
        done = self.end_of("exec", {"argv": ["id", "-un"], "user": "nobody"})
        self.assertEqual((done["status"], self.fleet.logs(done["id"]).strip()),
                         ("SUCCEEDED", "nobody"))
        unknown = self.end_of("exec", {"argv": ["id"], "user": "no-such-user-here"})
        self.assertEqual(unknown["status"], "FAILED")
        self.assertIn("no-such-user-here", unknown["status_reason"])

    def test_exit_codes_mean_what_was_asked(self):
        failed = self.end_of("exec", {"script": "exit 3"})
        self.assertEqual((failed["status"], failed["outputs"]["exit_code"]), ("FAILED", 3))
        self.assertIn("3", failed["status_reason"])
        meant = self.end_of("exec", {"script": "exit 3", "success_codes": [0, 3]})
        self.assertEqual(meant["status"], "SUCCEEDED")
        killed = self.end_of("exec", {"script": "kill -SEGV $$"})
        self.assertEqual(killed["status"], "FAILED")
        missing = self.end_of("exec", {"argv": ["/no/such/program"]})
        self.assertEqual(missing["status"], "FAILED")
        self.assertIn("/no/such/program", missing["status_reason"])

    def test_limits_hold(self):
        loud = self.end_of("exec", {"script": "yes | head -c 300000", "output_limit": "64KiB"})
        self.assertEqual(loud["status"], "SUCCEEDED")
        self.assertTrue(loud["outputs"]["output_truncated"])
        self.assertLessEqual(len(self.fleet.logs(loud["id"], limit=1 << 20)), 65536 + 200)
        hungry = self.end_of("exec", {
            "argv": ["python3", "-c", "x = bytearray(800 << 20); print('got it')"],
            "memory_limit": "128MiB"})
        self.assertEqual(hungry["status"], "FAILED")
        self.assertNotIn("got it", self.fleet.logs(hungry["id"]))

    def test_file_put(self):
        path = self.fleet.path("deep/er/file")
        refused = self.end_of("file.put", {"path": path, "content": "x"})
        self.assertEqual(refused["status"], "FAILED")
        done = self.end_of("file.put", {"path": path, "content": "text\n", "mode": "0600",
                                        "create_parents": True})
        self.assertEqual(done["status"], "SUCCEEDED", done)
        self.assertEqual(read(path), "text\n")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        binary = bytes(range(256))
        done = self.end_of("file.put", {"path": path, "mode": "0644",
                                        "content_base64": base64.b64encode(binary).decode()})
        self.assertEqual(done["status"], "SUCCEEDED")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), binary)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o644)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["file"])

    def test_file_fetch_checks_and_resumes(self):
        server = web.Web()
        self.addCleanup(server.close)
        data = os.urandom(1 << 20)
        digest = hashlib.sha256(data).hexdigest()
        server.routes["/whole"] = web.serve_bytes(data)
        server.routes["/broken"] = web.serve_bytes(data, break_first_after=400_000)

        path = self.fleet.path("fetched")
        wrong = self.end_of("file.fetch", {"url": server.url("/whole"), "path": path,
                                           "sha256": "0" * 64})
        self.assertEqual(wrong["status"], "FAILED")
        self.assertIn("sha256", wrong["status_reason"])
        self.assertFalse(os.path.exists(path))

        done = self.end_of("file.fetch", {"url": server.url("/whole"), "path": path,
                                          "sha256": digest.upper(), "mode": "0640"})
        self.assertEqual(done["status"], "SUCCEEDED", done)
        with open(path, "rb") as file:
            self.assertEqual(hashlib.sha256(file.read()).hexdigest(), digest)

        other = self.fleet.path("resumed")
        done = self.end_of("file.fetch", {"url": server.url("/broken"), "path": other,
                                          "sha256": digest},
                           retry={"attempts": 4, "backoff": "10ms"})
        self.assertEqual(done["status"], "SUCCEEDED", done)
        with open(other, "rb") as file:
            self.assertEqual(file.read(), data)
        resumed = [headers for _, _, headers, _ in server.seen("/broken") if "Range" in headers]
        self.assertTrue(resumed, "the download began anew instead of going on")

    def test_service_says_why_it_cannot(self):
        done = self.end_of("service", {"unit": "muster-no-such-unit.service", "verb": "start"})
        self.assertEqual(done["status"], "FAILED")
        self.assertTrue(done["status_reason"])

    def test_facts(self):
        done = self.end_of("facts", {})
        self.assertEqual(done["status"], "SUCCEEDED")
        self.assertIn(socket.gethostname(), json.dumps(done["outputs"]))
        agent = self.fleet.expect(200, "GET", "/v1/agents/a1").json["agent"]
        self.assertEqual(agent["facts"]["hostname"], socket.gethostname())
        self.assertEqual(agent["facts"]["os"], "debian")
        self.assertIn("exec", agent["kinds"])

    def test_agents_also_do_the_simple_kinds(self):
        self.assertEqual(self.end_of("noop", {})["status"], "SUCCEEDED")
        self.assertEqual(self.end_of("sleep", {"duration": 0.05})["status"], "SUCCEEDED")
        self.assertEqual(self.end_of("fail", {})["status"], "FAILED")

    def test_the_command_line_does_the_same(self):
        done = self.fleet.cli("actions", "submit", "exec", "--target", "a1", "--name", "hello",
                              "--", "sh", "-c", "echo to the log", code=0)
        self.assertIn("hello", done.stdout + done.stderr)
        shown = json.loads(self.fleet.cli("actions", "show", "hello", "-o", "json", code=0).stdout)
        shown = shown.get("action", shown)
        self.assertEqual(shown["status"], "SUCCEEDED")
        self.assertEqual(self.fleet.cli("actions", "logs", "hello", code=0).stdout, "to the log\n")
        self.fleet.cli("actions", "submit", "file.put", "--target", "a1",
                       "--input", f"path={self.fleet.path('by-cli')}", "--input", "content=yes",
                       code=0)
        self.assertEqual(read(self.fleet.path("by-cli")), "yes")
        self.fleet.cli("actions", "submit", "noop", code=0)
        self.fleet.cli("actions", "submit", "fail", code=3)


class LiveOutput(harness.FleetTest):
    AGENTS = ("a1",)

    def test_logs_follow_a_running_action(self):
        gate = self.fleet.path("gate")
        action = self.fleet.exec("a1", f"echo first; until [ -e {gate} ]; do sleep 0.05; done; "
                                 "echo last")
        self.fleet.wait_status(action["id"], "RUNNING")
        follow = self.fleet.cli_start("actions", "logs", "-f", action["id"])
        self.assertEqual(follow.stdout.readline(), "first\n")
        self.assertIsNone(follow.poll())
        with open(gate, "w", encoding="utf-8"):
            pass
        rest, _ = follow.communicate(timeout=harness.DEADLINE)
        self.assertEqual((rest, follow.returncode), ("last\n", 0))

    def test_logs_can_be_read_in_parts(self):
        action = self.fleet.exec("a1", "printf 0123456789")
        self.fleet.wait_final(action["id"])
        part = self.fleet.expect(200, "GET", f"/v1/actions/{action['id']}/logs?offset=3&limit=4")
        self.assertEqual((part.text, part.headers["X-Muster-Log-Offset"]), ("3456", "7"))

    def test_the_tail_stays_when_the_agent_is_away(self):
        action = self.fleet.exec("a1", "echo kept")
        self.fleet.wait_final(action["id"])
        self.fleet.agents["a1"].stop()
        self.fleet.agents["a1"].wait_offline()
        answer = self.fleet.expect(200, "GET", f"/v1/actions/{action['id']}/logs")
        self.assertEqual((answer.text, answer.headers["X-Muster-Log-Source"]),
                         ("kept\n", "record"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
