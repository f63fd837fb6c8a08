"""A fleet of real processes for a test: one controller, any number of agents.

Everything lives in one temporary directory and talks over unix sockets and loopback ports.
MUSTER_BINARY names the program under test. At the end every process is killed, also runners that
outlive their agent. When a test fails, the logs are printed.
"""

import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import uuid

import processes

BINARY = os.environ.get("MUSTER_BINARY", "")
# Sanitizers slow everything down; a loaded machine does so too. No test waits this long unless it
# fails.
DEADLINE = float(os.environ.get("MUSTER_TEST_DEADLINE", "60"))
FINAL = ("SUCCEEDED", "FAILED", "CANCELLED", "LOST")
LOG_LINES_SHOWN = 80
# What must never stand in a log, whatever the test did.
ALARMS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:", "check failed:")


class Timeout(AssertionError):
    pass


def wait_for(condition, what, deadline=None):
    """Waits until condition() is truthy and answers with it; fails with `what` at the deadline."""
    end = time.monotonic() + (DEADLINE if deadline is None else deadline)
    pause = 0.005
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Timeout(f"timed out waiting for {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def never(condition, what, seconds):
    """Fails if condition() becomes truthy within `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            raise AssertionError(f"{what}, which must not happen")
        time.sleep(0.02)


def free_port():
    """A port that nobody listens on, below those that outgoing connections take: one of these
    could otherwise take the port of a server that is down for a moment."""
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def read(path, missing=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return missing


def new_id():
    return str(uuid.uuid4())


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Response:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def code(self):
        """The code of a problem document."""
        return self.json.get("code") if self.body.startswith(b"{") else None

    def __repr__(self):
        return f"<{self.status} {self.body[:600]!r}>"


def request(connection, method, path, body=None, headers=None):
    headers = dict(headers or {})
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
        body = body.encode() if isinstance(body, str) else body
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        return Response(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


class Daemon:
    """One long-running muster process with its log."""

    def __init__(self, fleet, label, arguments):
        self.fleet = fleet
        self.label = label
        self.arguments = arguments
        self.log = os.path.join(fleet.dir, f"{label}.log")
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def launch(self, **options):
        assert not self.is_running(), f"{self.label} runs already"
        with open(self.log, "ab") as log:
            log.write(f"--- {' '.join(self.arguments)}\n".encode())
            log.flush()
            self.process = processes.spawn([BINARY, *self.arguments], stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=log, cwd=self.fleet.dir,
                                           start_new_session=True, **options)

    def kill9(self):
        self.process.kill()
        self.process.wait()

    def stop(self, expect=0):
        """SIGTERM, and the exit code that a clean end has."""
        self.process.terminate()
        try:
            code = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{self.label} does not end on SIGTERM") from None
        assert code == expect, f"{self.label} ended with {code}, not {expect}"

    def must_run(self):
        if not self.is_running():
            raise AssertionError(f"{self.label} ended with {self.process.returncode} by itself")

    def wait_exit(self):
        return wait_for(lambda: not self.is_running() and (self.process.returncode,),
                        f"{self.label} to exit")[0]


class Server(Daemon):
    def __init__(self, fleet, options):
        self.data = os.path.join(fleet.dir, "server")
        self.socket = os.path.join(fleet.dir, "muster.sock")
        self.port = free_port()
        self.agent_port = free_port()
        super().__init__(fleet, "server", [
            "server", "--data-dir", self.data, "--socket", self.socket, "--socket-mode", "0666",
            "--listen", f"127.0.0.1:{self.port}", "--agent-listen", f"127.0.0.1:{self.agent_port}",
            *options])

    @property
    def store(self):
        return os.path.join(self.data, "muster.db")

    def start(self, wait=True, **options):
        self.launch(**options)
        if wait:
            self.wait_ready()

    def is_ready(self):
        self.must_run()
        try:
            return self.http("GET", "/readyz").status == 200
        except OSError:
            return False

    def wait_ready(self):
        wait_for(self.is_ready, "the server to be ready")

    def restart(self):
        if self.is_running():
            self.stop()
        self.start()

    def crash(self, wait=True):
        """kill -9 and start again."""
        self.kill9()
        self.start(wait)

    def http(self, method, path, body=None, headers=None, tcp=False, timeout=30):
        connection = (http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout) if tcp
                      else UnixConnection(self.socket, timeout))
        return request(connection, method, path, body, headers)


class Agent(Daemon):
    def __init__(self, fleet, name, options):
        self.name = name
        self.state = os.path.join(fleet.dir, f"agent-{name}")
        self.socket = os.path.join(fleet.dir, f"agent-{name}.sock")
        super().__init__(fleet, f"agent-{name}", [
            "agent", "--name", name, "--state-dir", self.state, "--socket", self.socket,
            "--controller", f"127.0.0.1:{fleet.server.agent_port}", *options])

    def start(self, wait=True):
        self.launch()
        if wait:
            self.wait_online()

    def wait_online(self):
        def online():
            self.must_run()
            return self.fleet.agent_state(self.name) == "online"
        wait_for(online, f"{self.name} to be online")

    def wait_offline(self):
        wait_for(lambda: self.fleet.agent_state(self.name) == "offline",
                 f"{self.name} to be offline")

    def wait_local(self):
        """Waits for the agent's own API, which needs no controller."""
        def answers():
            self.must_run()
            try:
                return self.http("GET", "/v1/actions").status == 200
            except OSError:
                return False
        wait_for(answers, f"the local API of {self.name}")

    def http(self, method, path, body=None, headers=None, timeout=30):
        return request(UnixConnection(self.socket, timeout), method, path, body, headers)

    def run_directory(self, action, attempt=1):
        return os.path.join(self.state, "runs", f"{action}.{attempt}")

    def runner_pid(self, action, attempt=1):
        """The process that watches over an attempt, or None if there is none yet."""
        for line in self.run_facts(action, attempt):
            words = line.split()
            if words[0] == "runner" and words[1].isdigit():
                return int(words[1])
        return None

    def run_facts(self, action, attempt=1):
        """The complete lines of the file that tells about an attempt."""
        text = read(os.path.join(self.run_directory(action, attempt), "run"))
        return [line for line in text.split("\n")[:-1] if line]


class Fleet:
    def __init__(self, server_options=()):
        if not BINARY or not os.access(BINARY, os.X_OK):
            raise RuntimeError("MUSTER_BINARY does not name a program")
        processes.adopt_orphans()
        # A test that is told to end still cleans up.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
        # Short: the path of a unix socket has at most 107 bytes. Open: other users call the API.
        self.dir = tempfile.mkdtemp(prefix="muster-", dir="/tmp")
        os.chmod(self.dir, 0o755)
        self.server = Server(self, list(server_options))
        self.agents = {}

    def start(self, *agents):
        self.server.start()
        for name in agents:
            self.add_agent(name, start=True, wait=False)
        for name in agents:
            self.agents[name].wait_online()
        return self

    def add_agent(self, name, *options, start=True, wait=True):
        agent = Agent(self, name, list(options))
        self.agents[name] = agent
        if start:
            agent.start(wait)
        return agent

    def path(self, name):
        return os.path.join(self.dir, name)

    # --- The controller's API. ---

    def http(self, method, path, body=None, headers=None, **options):
        return self.server.http(method, path, body, headers, **options)

    def expect(self, status, method, path, body=None, headers=None, **options):
        answer = self.http(method, path, body, headers, **options)
        assert answer.status == status, f"{method} {path}: {answer!r} is not {status}"
        return answer

    def submit(self, kind=None, target=None, headers=None, **fields):
        """Creates one action and answers with its document."""
        action = dict(fields)
        if kind:
            action["action"] = kind
        if target:
            action["target"] = target
        return self.expect(202, "POST", "/v1/actions", {"action": action}, headers).json["action"]

    def submit_all(self, actions):
        return self.expect(202, "POST", "/v1/actions", {"actions": actions}).json["actions"]

    def exec(self, target, script, **fields):
        inputs = dict(fields.pop("inputs", {}), script=script)
        return self.submit("exec", target, inputs=inputs, **fields)

    def action(self, ref):
        return self.expect(200, "GET", f"/v1/actions/{urllib.parse.quote(ref)}").json["action"]

    def actions(self, **query):
        """Every action that matches, over all pages."""
        rows, marker = [], None
        while True:
            page = dict(query, limit=500, **({"marker": marker} if marker else {}))
            answer = self.expect(200, "GET", "/v1/actions?" + urllib.parse.urlencode(page)).json
            rows += answer["actions"]
            marker = answer["next_marker"]
            if not marker:
                return rows

    def signal(self, ref, name, **body):
        return self.http("POST", f"/v1/actions/{ref}/signals", dict(body, signal=name))

    def wait_status(self, ref, *wanted, deadline=None):
        seen = {}

        def reached():
            seen.update(self.action(ref))
            if seen["status"] not in wanted and seen["status"] in FINAL:
                raise AssertionError(f"{seen['name']} is {seen['status']} "
                                     f"({seen['status_reason']}), not {wanted}")
            return seen["status"] in wanted
        wait_for(reached, lambda: f"{ref} to be {wanted}, it is {seen.get('status')} "
                 f"({seen.get('status_reason')})", deadline)
        return dict(seen)

    def wait_final(self, *refs, deadline=None):
        """Waits until all have ended; answers with their documents."""
        done = {}

        def ended():
            for ref in refs:
                if ref not in done:
                    action = self.action(ref)
                    if action["status"] in FINAL:
                        done[ref] = action
            return len(done) == len(set(refs))

        def what():
            open_ones = [self.http("GET", f"/v1/actions/{r}/explain").text
                         for r in refs if r not in done]
            return f"{len(open_ones)} actions to end: {open_ones[:5]}"
        wait_for(ended, what, deadline)
        return [done[ref] for ref in refs]

    def logs(self, ref, **query):
        suffix = "?" + urllib.parse.urlencode(query) if query else ""
        return self.expect(200, "GET", f"/v1/actions/{ref}/logs{suffix}").text

    def agent_state(self, name):
        answer = self.http("GET", f"/v1/agents/{name}")
        return answer.json["agent"]["state"] if answer.status == 200 else None

    def http_as(self, user, method, path, body=None, headers=None):
        """The same over the unix socket as another user of this host."""
        def call():
            answer = request(UnixConnection(self.server.socket, 30), method, path, body, headers)
            return json.dumps([answer.status, answer.text]).encode()
        status, text = json.loads(processes.call_as(user, call))
        return Response(status, {}, text.encode())

    # --- The command line. ---

    def cli_environment(self, **extra):
        environment = {"PATH": os.environ["PATH"], "HOME": self.dir, "LC_ALL": "C.UTF-8",
                       "MUSTER_ADDR": f"unix:{self.server.socket}"}
        for name, value in os.environ.items():
            if name.endswith("SAN_OPTIONS"):
                environment[name] = value
        environment.update(extra)
        return environment

    def cli_start(self, *arguments, prefix=(), **extra):
        return processes.spawn([*prefix, BINARY, *arguments], env=self.cli_environment(**extra),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, cwd=self.dir,
                               start_new_session=True)

    def cli(self, *arguments, code=None, text_in="", prefix=(), **extra):
        """Runs a client command; with `code`, fails unless it exits with that."""
        process = self.cli_start(*arguments, prefix=prefix, **extra)
        try:
            out, err = process.communicate(text_in, timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise Timeout(f"muster {' '.join(arguments)} does not end: {out!r} {err!r}") from None
        done = subprocess.CompletedProcess(arguments, process.returncode, out, err)
        if code is not None and done.returncode != code:
            raise AssertionError(f"muster {' '.join(arguments)}: exit code {done.returncode}, not "
                                 f"{code}\nstdout: {out[-2000:]}\nstderr: {err[-2000:]}")
        return done

    # --- The end. ---

    def daemons(self):
        return [self.server, *self.agents.values()]

    def check_logs(self):
        for daemon in self.daemons():
            for line in read(daemon.log).splitlines():
                for alarm in ALARMS:
                    assert alarm not in line, f"{daemon.label}: {line}"

    def dump_logs(self):
        for daemon in self.daemons():
            lines = read(daemon.log).splitlines()
            print(f"===== {daemon.label}: the last {LOG_LINES_SHOWN} of {len(lines)} lines",
                  file=sys.stderr)
            for line in lines[-LOG_LINES_SHOWN:]:
                print("  " + line[:400], file=sys.stderr)

    def close(self):
        processes.kill_descendants()
        for daemon in self.daemons():
            if daemon.process is not None:
                daemon.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class FleetTest(unittest.TestCase):
    """A test with a fleet of its own, `self.fleet`; AGENTS are started with it."""

    AGENTS = ()
    SERVER_OPTIONS = ()
    START = True

    def setUp(self):
        self.fleet = Fleet(self.SERVER_OPTIONS)
        if self.START:
            self.fleet.start(*self.AGENTS)

    def tearDown(self):
        self.fleet.check_logs()

    def run(self, result=None):
        self.fleet = None
        result = result if result is not None else self.defaultTestResult()
        before = len(result.failures) + len(result.errors)
        try:
            return super().run(result)
        finally:
            if self.fleet is not None:
                if len(result.failures) + len(result.errors) > before:
                    print(f"===== {self.id()} failed", file=sys.stderr)
                    self.fleet.dump_logs()
                self.fleet.close()

    def assertCode(self, answer, status, code):
        self.assertEqual((answer.status, answer.code), (status, code), answer)

    def lines(self, name):
        return read(self.fleet.path(name)).split()


needs_root = unittest.skipUnless(os.geteuid() == 0, "needs root to act as another user")


def interrupt(process):
    os.killpg(process.pid, signal.SIGINT)
