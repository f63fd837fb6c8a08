#!/usr/bin/env python3
"""kill -9 of the controller, an agent and a runner at many moments.

A stream of actions appends a line `id attempt` to a file when its effect starts. Whatever is
killed whenever: at the end every acknowledged action is there and final, no (id, attempt) has
started twice, an action that succeeded has started, and nothing is left running or waiting.

The moments are drawn from a seed, which a failure prints; MUSTER_TEST_SEED repeats it.
"""

import os
import random
import signal
import threading
import time
import unittest
from collections import Counter

import harness
import processes
from harness import wait_for

SEED = int(os.environ.get("MUSTER_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
ROUNDS = int(os.environ.get("MUSTER_TEST_CRASHES", "12"))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Stream(threading.Thread):
    """Submits actions until it is told to stop, whether or not the controller answers."""

    def __init__(self, fleet, targets, seed):
        super().__init__(daemon=True)
        self.fleet = fleet
        self.targets = targets
        self.random = random.Random(seed)
        self.acknowledged = []
        self.unanswered = []  # may or may not have been accepted
        self.refused = []
        self.hopeless = []  # dependencies that had failed when somebody wanted to wait for them
        self.stopping = threading.Event()

    def action(self):
        made = harness.new_id()
        # The effect, some time, and sometimes a failure that is tried again.
        attempt = "${MUSTER_ATTEMPT:?}"
        script = (f'echo "{made} {attempt}" >> {self.fleet.path("effects")}; '
                  f'sleep 0.0{self.random.randrange(1, 9)}')
        action = {"id": made, "action": "exec", "target": self.random.choice(self.targets),
                  "inputs": {"script": script}, "timeout": 60}
        if self.random.random() < 0.2:
            action["inputs"]["script"] += f'; test {attempt} -ge 2'
            action["retry"] = {"attempts": 3, "backoff": "20ms"}
        if self.acknowledged and self.random.random() < 0.3:
            action["depends_on"] = [self.random.choice(self.acknowledged[-5:])]
        return action

    def run(self):
        while not self.stopping.is_set():
            action = self.action()
            try:
                answer = self.fleet.http("POST", "/v1/actions", {"action": action}, timeout=5)
            except (OSError, harness.http.client.HTTPException):
                self.unanswered.append(action["id"])
                self.stopping.wait(0.05)
                continue
            if answer.status == 202:
                self.acknowledged.append(action["id"])
            elif answer.json.get("code") == "unknown_dependency":
                self.refused.append(f"a dependency was lost: {answer!r}")
            elif answer.status == 409 and "will not succeed" in answer.json["detail"]:
                self.hopeless.extend(action["depends_on"])
            elif answer.status >= 500 or answer.status == 429:
                self.unanswered.append(action["id"])
            else:
                self.refused.append(repr(answer))
            self.stopping.wait(0.02)


class Crashes(harness.FleetTest):
    AGENTS = ("a1", "a2")

    def setUp(self):
        print(f"MUSTER_TEST_SEED={SEED}", flush=True)
        self.random = random.Random(SEED)
        super().setUp()
        self.stream = Stream(self.fleet, self.AGENTS, SEED)

    def pause(self):
        """A moment of random length, so that crashes meet every stage of an action's life."""
        end = time.monotonic() + self.random.choice([0.01, 0.05, 0.2, 0.5]) * self.random.random()
        wait_for(lambda: time.monotonic() >= end, "a moment")

    def crash_server(self):
        self.fleet.server.kill9()
        self.pause()
        self.fleet.server.start(wait=self.random.random() < 0.5)

    def crash_agent(self):
        agent = self.fleet.agents[self.random.choice(self.AGENTS)]
        agent.kill9()
        self.pause()
        agent.start(wait=False)

    def runners(self, agent):
        """The runners of what is running on an agent."""
        runs = os.path.join(agent.state, "runs")
        for name in sorted(os.listdir(runs) if os.path.isdir(runs) else []):
            # Beside the run directories there are files and spare directories of the agent's own.
            if name.startswith("spare.") or not os.path.isdir(os.path.join(runs, name)):
                continue
            run = name.rsplit(".", 1)
            if not any(line.startswith("result ") for line in agent.run_facts(*run)):
                pid = agent.runner_pid(*run)
                if pid and processes.is_alive(pid):
                    yield pid

    def crash_runner(self):
        """Kills the runner of whatever is running; its action may end as FAILED."""
        agent = self.fleet.agents[self.random.choice(self.AGENTS)]
        for pid in self.runners(agent):
            kill(pid)

    def crash_host(self):
        """Kills everything of an agent at once, as if its host had lost power."""
        agent = self.fleet.agents[self.random.choice(self.AGENTS)]
        runners = list(self.runners(agent))
        below = [pid for root in [agent.pid, *runners] for pid in processes.descendants(root)]
        for pid in [*below, *runners]:
            kill(pid)
        agent.kill9()
        self.pause()
        agent.start(wait=False)

    def crash_both(self):
        agent = self.fleet.agents[self.random.choice(self.AGENTS)]
        self.fleet.server.kill9()
        agent.kill9()
        self.pause()
        first, second = self.random.sample([self.fleet.server, agent], 2)
        first.start(wait=False)
        second.start(wait=False)

    def check(self, may_fail):
        self.stream.stopping.set()
        self.stream.join(harness.DEADLINE)
        self.fleet.server.wait_ready()
        for name in self.AGENTS:
            self.fleet.agents[name].wait_online()
        self.assertEqual(self.stream.refused, [])
        self.assertGreater(len(self.stream.acknowledged), 20)
        known = {row["id"] for row in self.fleet.actions()}
        self.assertEqual(set(self.stream.acknowledged) - known, set(), "acknowledged, then lost")
        self.assertEqual(known - set(self.stream.acknowledged) - set(self.stream.unanswered), set())
        ended = self.fleet.wait_final(*sorted(known), deadline=2 * harness.DEADLINE)

        starts = Counter(line for line in
                         harness.read(self.fleet.path("effects")).splitlines() if line)
        twice = {line: count for line, count in starts.items() if count > 1}
        self.assertEqual(twice, {}, "effects that started twice")
        started = {line.split()[0] for line in starts}
        self.assertEqual(started - known, set(), "effects of actions that nobody knows")
        statuses = Counter(action["status"] for action in ended)
        succeeded = {action["id"] for action in ended if action["status"] == "SUCCEEDED"}
        self.assertEqual(succeeded & set(self.stream.hopeless), set(),
                         "told to have failed, then succeeded")
        for action in ended:
            if action["status"] == "SUCCEEDED":
                self.assertIn(action["id"], started, action)
            elif not may_fail:
                self.fail(f"{action['id']} is {action['status']}: {action['status_reason']}")
        status = self.fleet.expect(200, "GET", "/v1/status").json
        self.assertEqual(status["store"]["quarantined"], 0)
        print(f"{len(known)} actions, {sum(starts.values())} starts, {dict(statuses)}", flush=True)

    def run_rounds(self, *crashes, may_fail=False):
        self.stream.start()
        for _ in range(ROUNDS):
            self.pause()
            self.random.choice(crashes)()
            count = len(self.stream.acknowledged)
            wait_for(lambda: len(self.stream.acknowledged) > count + 3, "the stream to go on")
        self.check(may_fail)

    def test_the_controller_dies(self):
        self.run_rounds(self.crash_server)

    def test_an_agent_dies(self):
        self.run_rounds(self.crash_agent)

    def test_a_runner_dies(self):
        self.run_rounds(self.crash_runner, may_fail=True)

    def test_everything_dies(self):
        self.run_rounds(self.crash_server, self.crash_agent, self.crash_runner, self.crash_host,
                        self.crash_both, may_fail=True)

    def test_a_host_dies(self):
        self.run_rounds(self.crash_host, may_fail=True)


class Survival(harness.FleetTest):
    AGENTS = ("a1",)

    def long_action(self):
        gate = self.fleet.path("gate")
        action = self.fleet.exec("a1", f"echo started; echo $$ >> {self.fleet.path('pids')}; "
                                 f"until [ -e {gate} ]; do sleep 0.05; done; echo finished")
        wait_for(lambda: self.lines("pids"), "the start")
        return action["id"], gate

    def test_a_run_survives_its_agent_which_attaches_again(self):
        action, gate = self.long_action()
        pid = int(self.lines("pids")[0])
        self.fleet.agents["a1"].kill9()
        self.fleet.agents["a1"].wait_offline()
        self.assertTrue(processes.is_alive(pid))
        self.assertEqual(self.fleet.action(action)["status"], "RUNNING")
        self.fleet.agents["a1"].start()
        open(gate, "w", encoding="utf-8").close()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")
        self.assertEqual(len(self.lines("pids")), 1)
        self.assertEqual(self.fleet.logs(action), "started\nfinished\n")

    def test_a_run_that_ends_while_the_agent_is_away_is_reported(self):
        action, gate = self.long_action()
        pid = int(self.lines("pids")[0])
        self.fleet.agents["a1"].kill9()
        open(gate, "w", encoding="utf-8").close()
        wait_for(lambda: not processes.is_alive(pid), "the end of the process")
        self.fleet.agents["a1"].start()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")
        self.assertEqual(len(self.lines("pids")), 1)

    def test_a_cancel_reaches_a_run_after_the_agent_came_back(self):
        action, _ = self.long_action()
        pid = int(self.lines("pids")[0])
        self.fleet.agents["a1"].kill9()
        self.fleet.agents["a1"].wait_offline()
        self.assertEqual(self.fleet.signal(action, "CANCEL").status, 202)
        shown = self.fleet.action(action)
        self.assertEqual((shown["status"], shown["control"]), ("RUNNING", "CANCEL"))
        why = self.fleet.expect(200, "GET", f"/v1/actions/{action}/explain").json["explain"]
        self.assertIn("CANCEL", str(why))
        self.fleet.agents["a1"].start()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "CANCELLED")
        wait_for(lambda: not processes.is_alive(pid), "the end of the process")

    def test_a_result_reaches_a_controller_that_was_away(self):
        action, gate = self.long_action()
        self.fleet.server.kill9()
        open(gate, "w", encoding="utf-8").close()
        pid = int(self.lines("pids")[0])
        wait_for(lambda: not processes.is_alive(pid), "the end of the process")
        self.fleet.server.start()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")

    def test_a_run_whose_runner_dies_ends_and_is_not_repeated(self):
        action, gate = self.long_action()
        runner = wait_for(lambda: self.fleet.agents["a1"].runner_pid(action), "the runner")
        os.kill(runner, signal.SIGKILL)
        ended = self.fleet.wait_final(action)[0]
        self.assertEqual(ended["status"], "FAILED")
        self.assertTrue(ended["status_reason"])
        pid = int(self.lines("pids")[0])
        wait_for(lambda: not processes.is_alive(pid), "the orphan to be killed")
        open(gate, "w", encoding="utf-8").close()
        self.assertEqual(len(self.lines("pids")), 1)

    def test_a_journal_that_was_lost_makes_actions_lost(self):
        action, _ = self.long_action()
        agent = self.fleet.agents["a1"]
        agent.kill9()
        pid = int(self.lines("pids")[0])
        os.kill(agent.runner_pid(action), signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        harness.shutil.rmtree(agent.state)
        agent.start()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "LOST")

    def test_an_engine_action_that_ran_is_taken_up_again(self):
        action = self.fleet.submit("sleep", inputs={"duration": "1s"})["id"]
        self.fleet.wait_status(action, "RUNNING")
        self.fleet.server.crash()
        self.assertEqual(self.fleet.wait_final(action)[0]["status"], "SUCCEEDED")


if __name__ == "__main__":
    unittest.main(verbosity=2)
