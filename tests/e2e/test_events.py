#!/usr/bin/env python3
"""The event log: numbered without gaps, resumable, compacted with notice."""

import json
import unittest

import harness
from harness import wait_for


class EventStream:
    """Server-sent events over the unix socket."""

    def __init__(self, fleet, path="/v1/events", last=None):
        self.connection = harness.UnixConnection(fleet.server.socket, harness.DEADLINE)
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def next(self):
        """The next event as (id, type, document); comments are skipped."""
        fields = {}
        while True:
            line = self.answer.readline().decode()
            if not line:
                raise EOFError("the stream ended")
            line = line.rstrip("\n")
            if not line and fields:
                return int(fields["id"]), fields["event"], json.loads(fields["data"])
            name, _, value = line.partition(": ")
            if name in ("id", "event", "data"):
                fields[name] = value

    def until(self, wanted):
        events = []
        while True:
            events.append(self.next())
            if wanted(events[-1][2]):
                return events

    def close(self):
        self.connection.close()


class Events(harness.FleetTest):
    AGENTS = ("a1",)

    def stream(self, *arguments, **options):
        stream = EventStream(self.fleet, *arguments, **options)
        self.addCleanup(stream.close)
        return stream

    def test_a_stream_tells_the_life_of_an_action(self):
        stream = self.stream()
        self.assertEqual(stream.status, 200)
        self.assertIn("text/event-stream", stream.answer.headers["Content-Type"])
        action = self.fleet.exec("a1", "true")["id"]
        events = stream.until(lambda e: e["subject"] == action and e["status"] == "SUCCEEDED")
        statuses = [e["status"] for _, _, e in events if e["subject"] == action]
        self.assertEqual(statuses[0], "PENDING_SCHEDULE")
        self.assertIn("RUNNING", statuses)
        numbers = [number for number, _, _ in events]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        created = next(e for _, kind, e in events if kind == "action.created")
        self.assertEqual((created["action"], created["target"]), ("exec", "a1"))

    def test_a_stream_resumes_without_gap_or_repetition(self):
        first = self.stream(last=0)
        one = self.fleet.submit("noop")["id"]
        seen = first.until(lambda e: e["subject"] == one and e["status"] == "SUCCEEDED")
        first.close()
        two = self.fleet.submit("noop")["id"]
        self.fleet.wait_final(two)
        self.fleet.server.crash()
        second = self.stream(last=seen[-1][0])
        more = second.until(lambda e: e["subject"] == two and e["status"] == "SUCCEEDED")
        numbers = [number for number, _, _ in seen + more]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertFalse(any(e["subject"] == one for _, _, e in more))

    def test_pages_tell_the_same(self):
        one = self.fleet.submit("noop")["id"]
        self.fleet.wait_final(one)
        everything, after = [], 0
        while True:
            page = self.fleet.expect(200, "GET", f"/v1/events?after={after}&limit=2").json
            if not page["events"]:
                break
            self.assertLessEqual(len(page["events"]), 2)
            everything += page["events"]
            after = everything[-1]["seq"]
        self.assertEqual([e["seq"] for e in everything], list(range(1, len(everything) + 1)))
        only = self.fleet.expect(200, "GET", f"/v1/events?after=0&subject={one}").json["events"]
        self.assertTrue(only)
        self.assertEqual({e["subject"] for e in only}, {one})
        agents = self.fleet.expect(200, "GET", "/v1/events?after=0&type=agent.").json["events"]
        self.assertTrue(agents)
        self.assertTrue(all(e["type"].startswith("agent.") for e in agents))

    def test_agents_coming_and_going_are_events(self):
        stream = self.stream()
        self.fleet.agents["a1"].stop()
        stream.until(lambda e: e["subject"] == "a1" and e["status"] == "offline")
        self.fleet.agents["a1"].start()
        stream.until(lambda e: e["subject"] == "a1" and e["status"] == "online")

    def test_the_command_line_follows(self):
        process = self.fleet.cli_start("events", "-f", "-o", "json", "--after", "0")
        made = self.fleet.submit("noop", name="seen")["id"]

        def line_with_it():
            return made in process.stdout.readline()
        wait_for(line_with_it, "the event")
        harness.interrupt(process)
        process.communicate(timeout=harness.DEADLINE)


class Compaction(harness.FleetTest):
    SERVER_OPTIONS = ("--retention-events", "20")

    def test_what_is_no_longer_kept_is_gone(self):
        self.fleet.submit_all([{"action": "noop"} for _ in range(40)])
        wait_for(lambda: {row["status"] for row in self.fleet.actions()} == {"SUCCEEDED"},
                 "the end")
        self.fleet.server.restart()

        def compacted():
            answer = self.fleet.http("GET", "/v1/events?after=0")
            return answer if answer.status == 410 else None
        self.assertEqual(wait_for(compacted, "the compaction").code, "compacted")
        stream = EventStream(self.fleet, last=1)
        self.assertEqual(stream.status, 410)
        stream.close()
        last = self.fleet.expect(200, "GET", "/v1/status").json["last_event"]
        page = self.fleet.expect(200, "GET", f"/v1/events?after={last - 3}").json
        self.assertGreaterEqual(len(page["events"]), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
