#!/usr/bin/env python3
"""The store on a bad day: locked, damaged, newer, full; and what was saved comes back."""

import os
import shutil
import sqlite3
import unittest

import harness
import processes
from harness import read, wait_for


class Refusals(harness.FleetTest):
    START = False

    def refused(self, *words):
        """The server does not start, and says why and what to do."""
        before = len(read(self.fleet.server.log))
        self.fleet.server.start(wait=False)
        code = self.fleet.server.wait_exit()
        said = read(self.fleet.server.log)[before:]
        self.assertNotEqual(code, 0, said)
        for word in words:
            self.assertIn(word, said)

    def test_a_wrong_address_does_not_touch_the_store(self):
        arguments = self.fleet.server.arguments
        for option, value in (("--listen", "nowhere"), ("--listen", "192.0.2.1:8440"),
                              ("--agent-listen", "127.0.0.1"), ("--agent-listen", "0.0.0.0:1")):
            with self.subTest(option=option, value=value):
                place = arguments.index(option) + 1
                right, arguments[place] = arguments[place], value
                self.fleet.server.start(wait=False)
                self.assertEqual(self.fleet.server.wait_exit(), 64)
                self.assertIn(value, read(self.fleet.server.log))
                self.assertFalse(os.path.exists(self.fleet.server.store))
                arguments[place] = right

    def make_store(self):
        self.fleet.server.start()
        made = self.fleet.submit("noop")["id"]
        self.fleet.wait_final(made)
        self.fleet.server.stop()
        return made

    def test_locked(self):
        self.fleet.server.start()
        second = harness.Fleet()
        self.addCleanup(lambda: shutil.rmtree(second.dir, ignore_errors=True))
        second.server.arguments[second.server.arguments.index("--data-dir") + 1] = \
            self.fleet.server.data
        second.server.start(wait=False)
        self.assertNotEqual(second.server.wait_exit(), 0)
        said = read(second.server.log)
        self.assertIn(str(self.fleet.server.pid), said)
        self.assertIn("store", said)
        self.assertEqual(self.fleet.http("GET", "/readyz").status, 200)

    def test_corrupt(self):
        self.make_store()
        size = os.path.getsize(self.fleet.server.store)
        with open(self.fleet.server.store, "r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))
        self.refused("muster restore", self.fleet.server.store)

    def test_not_a_database(self):
        self.make_store()
        for suffix in ("-wal", "-shm"):
            if os.path.exists(self.fleet.server.store + suffix):
                os.remove(self.fleet.server.store + suffix)
        with open(self.fleet.server.store, "wb") as file:
            file.write(b"something else entirely\n" * 500)
        self.refused("muster restore")

    def test_from_a_newer_version(self):
        self.make_store()
        with sqlite3.connect(self.fleet.server.store) as database:
            database.execute("PRAGMA user_version = 999")
        database.close()
        self.refused("999", "newer")


class Backup(harness.FleetTest):
    AGENTS = ("a1",)

    def test_what_was_saved_comes_back(self):
        kept = self.fleet.exec("a1", "echo kept")["id"]
        self.fleet.wait_final(kept)
        held = self.fleet.submit("noop", hold=True)["id"]
        file = self.fleet.path("saved.db")
        self.fleet.cli("backup", file, code=0)
        later = self.fleet.submit("noop")["id"]
        self.fleet.wait_final(later)
        self.assertNotEqual(self.fleet.cli("backup", file).returncode, 0, "it was overwritten")

        running = self.fleet.cli("restore", file, "--data-dir", self.fleet.server.data)
        self.assertNotEqual(running.returncode, 0, "restored under a running controller")
        self.fleet.server.stop()
        self.fleet.cli("restore", file, "--data-dir", self.fleet.server.data, code=0)
        self.fleet.server.start()
        self.fleet.agents["a1"].wait_online()
        self.assertEqual(self.fleet.action(kept)["status"], "SUCCEEDED")
        self.assertEqual(self.fleet.action(held)["status"], "INIT")
        self.assertEqual(self.fleet.http("GET", f"/v1/actions/{later}").status, 404)
        again = self.fleet.exec("a1", "true")["id"]
        self.assertEqual(self.fleet.wait_final(again)[0]["status"], "SUCCEEDED")

    def test_agents_take_a_backup_that_is_restored_on_a_new_machine(self):
        kept = self.fleet.submit("noop")["id"]
        self.fleet.wait_final(kept)
        file = self.fleet.path("saved.db")
        self.fleet.cli("backup", file, code=0)
        for _ in range(3):
            self.fleet.server.restart()
            self.fleet.agents["a1"].wait_online()
        self.fleet.server.stop()
        fresh = self.fleet.path("new-machine")
        self.fleet.cli("restore", file, "--data-dir", fresh, code=0)
        arguments = self.fleet.server.arguments
        arguments[arguments.index("--data-dir") + 1] = fresh
        self.fleet.server.start()
        self.fleet.agents["a1"].wait_online()
        self.assertEqual(self.fleet.action(kept)["status"], "SUCCEEDED")

    def test_a_copy_of_the_store_that_was_not_restored_is_refused_and_both_sides_say_so(self):
        self.fleet.server.stop()
        copy = self.fleet.path("copy")
        shutil.copytree(self.fleet.server.data, copy)
        self.fleet.server.restart()
        self.fleet.agents["a1"].wait_online()
        self.fleet.server.restart()
        self.fleet.agents["a1"].wait_online()
        self.fleet.server.stop()
        arguments = self.fleet.server.arguments
        arguments[arguments.index("--data-dir") + 1] = copy
        self.fleet.server.start()
        for log in (self.fleet.server.log, self.fleet.agents["a1"].log):
            wait_for(lambda: "muster restore" in read(log), f"a word about it in {log}")

    def test_a_backup_is_taken_while_work_goes_on(self):
        ids = [self.fleet.exec("a1", "true")["id"] for _ in range(10)]
        for i in range(3):
            self.fleet.cli("backup", self.fleet.path(f"saved{i}.db"), code=0)
            database = sqlite3.connect(self.fleet.path(f"saved{i}.db"))
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            database.close()
        self.fleet.wait_final(*ids)

    def test_rubbish_is_not_restored(self):
        with open(self.fleet.path("rubbish"), "wb") as file:
            file.write(b"x" * 10_000)
        self.fleet.server.stop()
        before = os.path.getsize(self.fleet.server.store)
        done = self.fleet.cli("restore", self.fleet.path("rubbish"), "--data-dir",
                              self.fleet.server.data)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(os.path.getsize(self.fleet.server.store), before)
        self.fleet.server.start()


class Quarantine(harness.FleetTest):
    def test_a_record_that_does_not_decode_is_set_aside(self):
        good = self.fleet.submit("noop", name="good")["id"]
        bad = self.fleet.submit("noop", name="bad", hold=True)["id"]
        self.fleet.wait_final(good)
        self.fleet.server.stop()
        database = sqlite3.connect(self.fleet.server.store)
        key = bytes.fromhex(bad.replace("-", ""))
        changed = database.execute("UPDATE actions SET value = ? WHERE id = ?",
                                   (b"\xff" * 40, key)).rowcount
        self.assertEqual(changed, 1)
        database.commit()
        database.close()

        self.fleet.server.start()
        self.assertEqual(self.fleet.action(good)["status"], "SUCCEEDED")
        status = self.fleet.expect(200, "GET", "/v1/status").json
        self.assertEqual(status["store"]["quarantined"], 1)
        entries = self.fleet.expect(200, "GET", "/v1/quarantine").json["entries"]
        self.assertEqual(len(entries), 1, entries)
        self.assertEqual(entries[0]["bytes"], 40)
        self.assertTrue(entries[0]["problem"])
        self.assertIn("quarantine", read(self.fleet.server.log))
        fresh = self.fleet.submit("noop")["id"]
        self.assertEqual(self.fleet.wait_final(fresh)[0]["status"], "SUCCEEDED")
        self.fleet.server.restart()
        self.assertEqual(len(self.fleet.expect(200, "GET", "/v1/quarantine").json["entries"]), 1)


def can_mount():
    probe = "/tmp/muster-mount-probe"
    os.makedirs(probe, exist_ok=True)
    try:
        mounted = processes.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
                                 probe]).returncode == 0
        if mounted:
            processes.run(["umount", probe], check=True)
        return mounted
    except OSError:
        return False
    finally:
        os.rmdir(probe)


@unittest.skipUnless(os.geteuid() == 0 and can_mount(), "needs to mount a small file system")
class FullDisk(harness.FleetTest):
    START = False
    SIZE = 8 << 20

    def setUp(self):
        super().setUp()
        os.makedirs(self.fleet.server.data)
        processes.run(["mount", "-t", "tmpfs", "-o", f"size={self.SIZE}", "tmpfs",
                       self.fleet.server.data], check=True)
        self.addCleanup(self.unmount)
        self.fleet.start("a1")

    def unmount(self):
        for daemon in self.fleet.daemons():
            if daemon.is_running():
                daemon.kill9()
        processes.run(["umount", "-l", self.fleet.server.data], check=True)

    def fill(self):
        """Takes every byte that is left."""
        with open(os.path.join(self.fleet.server.data, "ballast"), "ab", buffering=0) as file:
            chunk = 1 << 16
            while chunk:
                try:
                    file.write(b"x" * chunk)
                except OSError:
                    chunk //= 2

    def test_refuses_new_work_loses_nothing_and_recovers(self):
        done = self.fleet.exec("a1", "true")["id"]
        self.fleet.wait_final(done)
        gate = self.fleet.path("gate")
        running = self.fleet.exec("a1", f"until [ -e {gate} ]; do sleep 0.05; done")["id"]
        self.fleet.wait_status(running, "RUNNING")

        self.fill()
        accepted = []

        def refused():
            # What still fits into the log may be accepted; it then has to be kept.
            answer = self.fleet.http("POST", "/v1/actions", {"action": {
                "action": "noop", "hold": True, "context": {"padding": "x" * 200_000}}})
            if answer.status == 202:
                accepted.append(answer.json["action"]["id"])
                self.fill()
                return None
            return answer
        answer = wait_for(refused, "the refusal")
        self.assertCode(answer, 503, "store_unavailable")
        ready = self.fleet.http("GET", "/readyz")
        self.assertEqual(ready.status, 503, ready)
        self.assertEqual(self.fleet.http("GET", "/livez").status, 200)
        self.assertEqual(self.fleet.action(done)["status"], "SUCCEEDED")
        self.assertFalse(self.fleet.expect(200, "GET", "/v1/status").json["store"]["ok"])

        # The action ends meanwhile; its result cannot be written yet, and must not be lost.
        open(gate, "w", encoding="utf-8").close()
        os.remove(os.path.join(self.fleet.server.data, "ballast"))
        wait_for(lambda: self.fleet.http("GET", "/readyz").status == 200, "the recovery")
        self.assertEqual(self.fleet.wait_final(running)[0]["status"], "SUCCEEDED")
        fresh = self.fleet.exec("a1", "true")["id"]
        self.assertEqual(self.fleet.wait_final(fresh)[0]["status"], "SUCCEEDED")
        self.fleet.server.crash()
        for action in (done, running, fresh, *accepted):
            self.assertEqual(self.fleet.http("GET", f"/v1/actions/{action}").status, 200)

    def test_a_crash_while_the_disk_is_full(self):
        done = self.fleet.exec("a1", "true")["id"]
        self.fleet.wait_final(done)
        self.fill()
        self.fleet.server.kill9()
        self.fleet.server.start(wait=False)
        os.remove(os.path.join(self.fleet.server.data, "ballast"))
        if self.fleet.server.process.poll() is not None:
            self.fleet.server.start(wait=False)  # it may refuse to start without room
        try:
            self.fleet.server.wait_ready()
        except AssertionError:
            self.fleet.server.start()
        self.assertEqual(self.fleet.action(done)["status"], "SUCCEEDED")
        fresh = self.fleet.submit("noop")["id"]
        self.assertEqual(self.fleet.wait_final(fresh)[0]["status"], "SUCCEEDED")


class Retention(harness.FleetTest):
    SERVER_OPTIONS = ("--retention-count", "20")

    def test_history_is_bounded(self):
        ids = [action["id"] for action in
               self.fleet.submit_all([{"action": "noop"} for _ in range(60)])]
        kept = self.fleet.submit("noop", hold=True)["id"]

        def swept():
            return len(self.fleet.actions()) <= 25
        self.fleet.server.restart()
        wait_for(swept, lambda: f"the history to shrink, it has {len(self.fleet.actions())}")
        self.assertEqual(self.fleet.action(kept)["status"], "INIT")
        self.assertEqual(self.fleet.http("GET", f"/v1/actions/{ids[0]}").status, 404)


if __name__ == "__main__":
    unittest.main(verbosity=2)
