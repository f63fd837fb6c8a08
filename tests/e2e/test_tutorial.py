#!/usr/bin/env python3
"""docs/tutorial-plugin.md, followed literally: its files are written, its commands are run."""

import os
import re
import shlex
import subprocess
import unittest

import harness

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = harness.read(os.path.join(ROOT, "docs", "tutorial-plugin.md"))
EXAMPLE = os.path.join(ROOT, "examples", "packs", "dns-client")
# A paragraph that begins with the name of a file, and the block after it.
FILE = re.compile(r"^`([\w./-]+\.(?:yaml|py)|[\w-]+/bin/plugin)`[^\n]*\n\n```\w+\n(.*?)^```$",
                  re.S | re.M)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
# Whose output is as shown; that of others is shown as an example.
EXACT = ("muster packs check", "muster plugin test")


def commands():
    """Each command of the page with the lines that are shown below it."""
    found = []
    for block in CONSOLE.findall(PAGE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line:
                found[-1][1].append(line)
    return found


class Tutorial(harness.FleetTest):
    START = False  # the page has a server of its own

    def setUp(self):
        super().setUp()
        self.server = None
        self.environment = dict(os.environ, PATH=os.path.dirname(harness.BINARY) + os.pathsep +
                                os.environ["PATH"])
        for name, text in FILE.findall(PAGE):
            path = self.fleet.path(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def tearDown(self):
        if self.server is not None:
            self.server.stop()
        super().tearDown()

    def serve(self, command):
        if self.server is not None:
            self.server.stop()
        self.server = harness.Daemon(self.fleet, "tutorial-server", shlex.split(command)[1:] + [
            "--listen", "", "--agent-listen", f"127.0.0.1:{harness.free_port()}"])
        self.server.launch()
        socket = self.fleet.path("data/muster.sock")

        def ready():
            self.server.must_run()
            try:
                connection = harness.UnixConnection(socket, 30)
                return harness.request(connection, "GET", "/readyz").status == 200
            except OSError:
                return False
        harness.wait_for(ready, "the server of the page to be ready")

    def run_command(self, command, shown):
        # Where the SDK is installed is a matter of the machine.
        command = re.sub(r"PYTHONPATH=\S+", f"PYTHONPATH={ROOT}/sdk/python", command)
        done = subprocess.run(["bash", "-c", command], cwd=self.fleet.dir, env=self.environment,
                              capture_output=True, text=True, timeout=harness.DEADLINE * 5,
                              check=False)
        told = f"$ {command}\n{done.stdout}{done.stderr}"
        refused = bool(shown) and shown[0].startswith("error: ")
        self.assertEqual(done.returncode != 0, refused, told)
        if command.startswith(EXACT) or refused:
            for line in shown:
                # How long something took is never the same.
                if line != "..." and " ms;" not in line:
                    self.assertIn(line, told.splitlines())
        return told

    def test_every_command_works(self):
        plans = []
        for command, shown in commands():
            if command.startswith("muster server "):
                self.serve(command)
            elif command.startswith("export "):
                name, value = command[len("export "):].split("=", 1)
                self.environment[name] = value.replace("$PWD", self.fleet.dir)
            else:
                told = self.run_command(command, shown)
                if command == "muster plan":
                    plans.append(told)
        self.assertEqual(len(plans), 2)
        self.assertIn("Run the exporter", plans[0])
        self.assertNotIn("resolv.conf", plans[0])
        self.assertIn("Run the exporter", plans[1])
        self.assertIn("Write /etc/resolv.conf", plans[1])

    def test_the_example_is_what_the_page_shows(self):
        shown = {name.split("/", 1)[1]: text for name, text in FILE.findall(PAGE)
                 if name.startswith("dns-client/")}
        self.assertEqual(set(shown), {"pack.yaml", "types/dns-client.yaml", "bin/plugin",
                                      "tests/two-servers.yaml"})
        for name, text in shown.items():
            self.assertEqual(text, harness.read(os.path.join(EXAMPLE, name)), name)

    def test_python_on_the_page_is_python(self):
        for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.S | re.M):
            compile(block, "tutorial-plugin.md", "exec")


if __name__ == "__main__":
    unittest.main()
