#!/usr/bin/env python3
"""The command line: exit codes, formats, waiting, detaching, completion."""

import json
import os
import shutil
import unittest

import harness
import processes
from harness import wait_for

try:
    import yaml
except ImportError:
    yaml = None


class ExitCodes(harness.FleetTest):
    AGENTS = ("a1",)

    def test_each_means_one_thing(self):
        cli = self.fleet.cli
        cli("actions", "submit", "noop", code=0)
        cli("actions", "submit", "fail", code=3)
        cli("actions", "submit", "fail", "--input", "result=CANCEL", code=5)
        cli("actions", "submit", "sleep", "--input", "duration=600", "--wait-timeout", "200ms",
            code=6)
        cli("actions", "submit", "noop", "--approval", code=8)
        cli("actions", "submit", code=64)
        cli("actions", "sumbit", "noop", code=64)
        cli("actions", "list", "--no-such-option", code=64)
        cli("actions", "show", "no-such-action", code=1)
        cli("actions", "submit", "no-such-kind", code=1)
        cli("status", code=69, MUSTER_ADDR=f"unix:{self.fleet.path('nobody-here')}")
        cli("status", code=0)
        cli("--help", code=0)
        cli("--version", code=0)

    def test_waiting_for_several(self):
        good = self.fleet.submit("noop")["id"]
        bad = self.fleet.submit("fail")["id"]
        self.fleet.cli("actions", "wait", good, code=0)
        self.fleet.cli("actions", "wait", bad, code=3)
        self.fleet.cli("actions", "wait", good, bad, code=4)
        slow = self.fleet.submit("sleep", inputs={"duration": 600})["id"]
        self.fleet.cli("actions", "wait", slow, "--timeout", "200ms", code=6)

    def test_mistakes_are_explained(self):
        wrong = self.fleet.cli("actions", "sumbit", code=64)
        self.assertIn("submit", wrong.stderr)
        self.assertEqual(wrong.stdout, "")
        wrong = self.fleet.cli("actions", "submit", "exec", "--target", "a1", "--input", "agrv=x",
                               code=1)
        self.assertIn("argv", wrong.stderr)
        wrong = self.fleet.cli("actions", "submit", "noop", "--timeout", "soon", code=64)
        self.assertIn("soon", wrong.stderr)


class Output(harness.FleetTest):
    AGENTS = ("a1",)

    def setUp(self):
        super().setUp()
        self.made = [self.fleet.exec("a1", "true", name=f"job-{i}")["id"] for i in range(3)]
        self.fleet.wait_final(*self.made)

    def test_json(self):
        listed = json.loads(self.fleet.cli("actions", "list", "-o", "json", code=0).stdout)
        rows = listed["actions"] if isinstance(listed, dict) else listed
        self.assertEqual({row["id"] for row in rows}, set(self.made))
        nodes = self.fleet.cli("nodes", "list", "-o", "json", code=0).stdout
        self.assertIn("a1", nodes)
        json.loads(nodes)
        json.loads(self.fleet.cli("status", "-o", "json", code=0).stdout)
        json.loads(self.fleet.cli("nodes", "show", "a1", "-o", "json", code=0).stdout)

    def test_name(self):
        lines = self.fleet.cli("actions", "list", "-o", "name", code=0).stdout.split()
        self.assertEqual(set(lines), set(self.made))
        self.assertEqual(self.fleet.cli("nodes", "list", "-o", "name", code=0).stdout.split(),
                         ["a1"])

    @unittest.skipIf(yaml is None, "needs a YAML reader")
    def test_yaml(self):
        text = self.fleet.cli("actions", "show", self.made[0], "-o", "yaml", code=0).stdout
        document = yaml.safe_load(text)
        document = document.get("action", document)
        self.assertEqual(document["id"], self.made[0])
        self.assertEqual(document["inputs"], {"script": "true"})

    def test_tables(self):
        table = self.fleet.cli("actions", "list", code=0, COLUMNS="80").stdout.splitlines()
        self.assertTrue(all(len(line) <= 80 for line in table), table)
        self.assertEqual(len(table), 4)
        self.assertIn("job-0", "\n".join(table))
        wide = self.fleet.cli("actions", "list", "-o", "wide", code=0, COLUMNS="80").stdout
        self.assertIn(self.made[0], wide)
        self.assertNotIn("\x1b", wide)
        shown = self.fleet.cli("actions", "show", "job-0", code=0).stdout
        self.assertIn("SUCCEEDED", shown)
        self.assertIn("a1", self.fleet.cli("nodes", "list", code=0).stdout)
        self.fleet.cli("actions", "list", "-o", "rainbow", code=64)

    def test_filters(self):
        listed = self.fleet.cli("actions", "list", "--name", "job-1", "-o", "name", code=0).stdout
        self.assertEqual(listed.split(), [self.made[1]])
        listed = self.fleet.cli("actions", "list", "--status", "FAILED", "-o", "name", code=0)
        self.assertEqual(listed.stdout, "")
        first = self.fleet.cli("actions", "list", "--limit", "1", "-o", "name", code=0).stdout
        self.assertEqual(first.split(), [self.made[2]])

    def test_explain(self):
        held = self.fleet.submit("noop", hold=True)["id"]
        waiting = self.fleet.submit("noop", depends_on=[held])["id"]
        self.assertIn(held[:8], self.fleet.cli("explain", waiting, code=0).stdout)


class Submitting(harness.FleetTest):
    AGENTS = ("a1",)

    def test_from_a_file(self):
        order = self.fleet.path("order")
        text = f"""
actions:
  - name: one
    action: exec
    target: a1
    inputs: {{script: "echo one >> {order}"}}
  - name: two
    action: exec
    target: a1
    depends_on: [one]
    inputs: {{script: "echo two >> {order}"}}
"""
        self.fleet.cli("actions", "submit", "-f", "-", text_in=text, code=0)
        self.assertEqual(self.lines("order"), ["one", "two"])

    def test_detached(self):
        done = self.fleet.cli("actions", "submit", "sleep", "--input", "duration=600", "--detach",
                              code=0)
        made = done.stdout.strip()
        self.assertNotIn(self.fleet.action(made)["status"], harness.FINAL)

    def test_interrupting_detaches_and_the_action_goes_on(self):
        process = self.fleet.cli_start("actions", "submit", "exec", "--target", "a1", "--name",
                                       "goes-on", "--", "sleep", "600")

        def running():
            answer = self.fleet.http("GET", "/v1/actions/goes-on")
            return answer.status == 200 and answer.json["action"]["status"] == "RUNNING"
        wait_for(running, "the start")
        harness.interrupt(process)
        _, err = process.communicate(timeout=harness.DEADLINE)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("goes", err)
        self.assertIn("muster actions wait", err)
        self.assertEqual(self.fleet.action("goes-on")["status"], "RUNNING")

    def test_a_wait_survives_a_crash_of_the_controller(self):
        gate = self.fleet.path("gate")
        process = self.fleet.cli_start("actions", "submit", "exec", "--target", "a1", "--name",
                                       "patient", "--", "sh", "-c",
                                       f"until [ -e {gate} ]; do sleep 0.05; done")

        def running():
            answer = self.fleet.http("GET", "/v1/actions/patient")
            return answer.status == 200 and answer.json["action"]["status"] == "RUNNING"
        wait_for(running, "the start")
        self.fleet.server.crash()
        open(gate, "w", encoding="utf-8").close()
        out, err = process.communicate(timeout=harness.DEADLINE)
        self.assertEqual(process.returncode, 0, out + err)


class Completion(harness.FleetTest):
    AGENTS = ("a1",)

    def test_scripts_are_valid(self):
        bash = self.fleet.cli("completion", "bash", code=0).stdout
        processes.run(["bash", "-n"], text_in=bash, check=True)
        zsh = self.fleet.cli("completion", "zsh", code=0).stdout
        self.assertIn("muster", zsh)
        if shutil.which("zsh"):
            processes.run(["zsh", "-n"], text_in=zsh, check=True)

    def test_bash_completes_commands_and_names(self):
        self.fleet.submit("noop", name="by-name", hold=True)
        script = self.fleet.cli("completion", "bash", code=0).stdout
        probe = script + """
complete_line() {
  COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($*); [ "${COMP_LINE: -1}" = " " ] &&
    COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  local function
  function=$(complete -p muster | sed 's/.*-F \\([^ ]*\\).*/\\1/')
  $function muster "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
  printf '%s\\n' "${COMPREPLY[@]}"
}
complete_line "muster act"
echo ---
complete_line "muster actions sub"
echo ---
complete_line "muster nodes show a"
"""
        environment = self.fleet.cli_environment()
        environment["PATH"] = os.path.dirname(harness.BINARY) + ":" + environment["PATH"]
        done = processes.run(["bash", "-c", probe], env=environment)
        commands, verbs, nodes = done.stdout.split("---\n")
        self.assertIn("actions", commands, done.stderr)
        self.assertIn("submit", verbs, done.stderr)
        self.assertIn("a1", nodes, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
