#!/usr/bin/env python3
"""Deployment plans: making, showing, explaining and comparing them, and plugins that fail."""

import json
import os
import unittest

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.join(HERE, "..", "..", "examples", "site.yaml")


class Plans(harness.FleetTest):
    AGENTS = ()

    def muster(self, *arguments, code=0):
        return self.fleet.cli(*arguments, code=code)

    def json(self, *arguments, code=0):
        return json.loads(self.muster(*arguments, "-o", "json", code=code).stdout)

    def test_a_plan_is_shown_and_its_tasks_are_explained(self):
        self.muster("apply", "-f", SITE)
        text = self.muster("plan").stdout
        self.assertTrue(text.startswith("Plan 1: "), text)
        self.assertIn("+ 1.1 ", text)
        self.assertIn("name: ", text)  # the properties of what is added
        made = self.json("plans", "show", "1")
        self.assertEqual(made["plan"]["state"], "initial")
        clusters = [phase["cluster"] for phase in made["phases"] if phase["cluster"]]
        self.assertEqual(clusters, sorted(clusters))  # db before web, which depends on it
        last = [task for task in made["tasks"] if task["phase"] == len(made["phases"])]
        for name in (last[0]["id"], f"{len(made['phases'])}.1", last[0]["item"]):
            self.assertIn("because", self.muster("plans", "explain", "1", name).stdout)
        newest = self.muster("plans", "explain", last[0]["id"]).stdout
        self.assertEqual(newest, self.muster("plans", "explain", "1", last[0]["id"]).stdout)
        self.assertIn("the ruleset puts it into DEPLOYMENT_", newest)
        self.assertIn("'one'", self.muster("plans", "explain", "one", "1.1", code=1).stderr)
        self.assertIn(last[0]["id"], self.muster("plans", "show", "-o", "wide").stdout)
        unknown = self.muster("plans", "explain", "1", "nosuch", code=1)
        self.assertIn("nosuch", unknown.stderr)
        several = self.muster("plans", "explain", "1", "config:", code=1)
        self.assertIn("fits", several.stderr)
        self.assertIn("digraph", self.muster("plans", "show", "1", "--graph", "dot").stdout)
        self.assertIn("<svg", self.muster("plans", "show", "1", "--graph", "svg").stdout)

    def test_an_edit_makes_a_plan_invalid_and_is_named(self):
        self.muster("apply", "-f", SITE)
        self.muster("plan", "--detailed-exitcode", code=2)
        before = self.json("plans", "show", "1")
        self.fleet.server.crash()
        self.assertEqual(self.json("plans", "show", "1"), before)
        self.muster("model", "update", "/software/items/web", "version=1.2")
        invalid = self.json("plans", "show", "1")["plan"]
        self.assertEqual(invalid["state"], "invalid")
        self.assertIn("update /software/items/web", invalid["state_reason"])
        self.muster("plan")
        changes = self.json("plans", "diff", "1", "2")
        self.assertEqual(changes["added"], [])
        fields = [field for task in changes["changed"] for field in task["fields"]]
        self.assertIn("attributes.version", fields)
        self.assertEqual(self.json("plans", "diff", "2", "2"),
                         {"added": [], "changed": [], "removed": []})

    def test_a_plan_is_removed_as_it_was_seen(self):
        self.muster("apply", "-f", SITE)
        self.muster("plan")
        stale = self.fleet.http("DELETE", "/v1/plans/1", headers={"If-Match": '"99"'})
        self.assertCode(stale, 412, "revision_mismatch")
        self.muster("plans", "remove", "1")
        self.muster("plans", "show", "1", code=1)
        for wrong in ("-1", "0", "99999999999999999999", ""):
            self.muster("plans", "show", wrong, code=64)

    def test_nothing_to_do_is_an_answer_of_its_own(self):
        answer = self.json("plan", "--detailed-exitcode")
        self.assertTrue(answer["nothing_to_do"])
        self.assertEqual(self.json("plans", "list")["plans"], [])


PACK = """name: odd
version: 1.0.0
description: Does what it is told by a file
needs: {core: "1.0"}
plugin: {program: bin/plugin}
"""

TYPES = """item_types:
  odd-item:
    extends: software-item
    description: An item of which the plugin writes a property
    properties:
      name: {type: basic_string, required: true, description: Its name}
      seen: {type: basic_string, description: Written by the plugin, plugin_may_update: true}
      old: {type: basic_string, description: Used to do something, deprecated: true}
"""

PLUGIN = """#!/usr/bin/env python3
import os
from muster_plugin import ConfigTask, Plugin, ValidationError, run

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def mode(name):
    return os.path.exists(os.path.join(FOLDER, name))


class Odd(Plugin):
    def update_model(self, ctx):
        for item in ctx.query("odd-item"):
            item.seen = "yes"

    def validate_model(self, ctx):
        if mode("invalid"):
            return [ValidationError(item.get_vpath(), "is not wanted")
                    for item in ctx.query("odd-item")]
        return []

    def create_configuration(self, ctx):
        if mode("crash"):
            os._exit(3)
        if mode("hang"):
            open(os.path.join(FOLDER, "hangs"), "w").close()
            open(os.path.join(FOLDER, "hang")).read()  # nobody writes to that pipe
        tasks = [ConfigTask(node, item, f"do {item.item_id}, seen: {item.seen}", "file",
                            "/tmp/" + item.item_id)
                 for node in ctx.query("ms") for item in node.query("odd-item")]
        if mode("circle"):
            task = tasks[0]
            other = ConfigTask(task.node, task.model_item, "the other", "file", "/tmp/other")
            task.requires.add(other)
            other.requires.add(task)
            tasks.append(other)
        return tasks


run(Odd)
"""


class PluginPlans(harness.FleetTest):
    AGENTS = ()

    def setUp(self):
        super().setUp()
        self.pack = self.fleet.path("odd")
        os.makedirs(os.path.join(self.pack, "bin"))
        os.makedirs(os.path.join(self.pack, "types"))
        self.write("pack.yaml", PACK)
        self.write("types/odd.yaml", TYPES)
        self.write("bin/plugin", PLUGIN)
        os.chmod(os.path.join(self.pack, "bin", "plugin"), 0o755)
        self.fleet.server.stop()
        self.fleet.server.arguments += ["--pack", self.pack]
        self.fleet.server.start()
        self.fleet.cli("model", "create", "/software/items/one", "-t", "odd-item", "name=one",
                       code=0)
        self.fleet.cli("model", "inherit", "/ms/items/one", "/software/items/one", code=0)

    def write(self, name, text=""):
        with open(os.path.join(self.pack, name), "w", encoding="utf-8") as file:
            file.write(text)

    def revision(self):
        return json.loads(self.fleet.cli("model", "history", "-o", "json").stdout)["revisions"][0]

    def test_a_refused_plan_leaves_the_model_as_it_was(self):
        before = self.revision()
        for mode in ("crash", "invalid"):
            self.write(mode)
            refused = self.fleet.cli("plan", code=1)
            self.assertIn("odd", refused.stderr)
            self.assertEqual(self.revision(), before)
            os.remove(os.path.join(self.pack, mode))

    def test_what_plugins_write_is_kept_with_the_plan(self):
        made = json.loads(self.fleet.cli("plan", "-o", "json", code=0).stdout)
        self.assertEqual([task["description"] for task in made["tasks"]], ["do one, seen: yes"])
        revision = self.revision()
        self.assertIn("plugins", revision["why"])
        self.assertEqual(made["plan"]["model_revision"], revision["number"])
        item = json.loads(self.fleet.cli("model", "show", "/ms/items/one", "-o", "json").stdout)
        self.assertEqual(item["properties"]["seen"], "yes")
        again = json.loads(self.fleet.cli("plan", "-o", "json", code=0).stdout)
        self.assertEqual(again["plan"]["digest"], made["plan"]["digest"])
        self.assertEqual(self.revision(), revision)

    def test_all_errors_of_all_sources_come_at_once(self):
        self.write("invalid")
        self.fleet.cli("model", "create", "/deployments/d", "-t", "deployment", code=0)
        self.fleet.cli("model", "create", "/deployments/d/clusters/c", "-t", "cluster",
                       code=0)
        self.fleet.cli("model", "create", "/deployments/d/clusters/c/nodes/n", "-t", "node",
                       "hostname=n", code=0)
        refused = self.fleet.cli("plan", code=1)
        self.assertIn("is not wanted", refused.stderr)
        self.assertIn("/deployments/d/clusters/c/nodes/n", refused.stderr)

    def test_what_the_planner_refuses_names_rule_task_item_and_plugin(self):
        self.write("circle")
        refused = self.fleet.http("POST", "/v1/plans", {})
        self.assertEqual((refused.status, refused.json["code"]), (422, "plan_refused"))
        [error] = refused.json["errors"]
        self.assertEqual((error["rule"], error["plugin"]), ("cycle", "odd"))
        self.assertIn("/tmp", error["task"].replace(",", "/"))
        self.assertEqual(error["path"], "/ms/items/one")

    def test_a_plan_that_other_packs_have_made_is_invalid(self):
        self.fleet.cli("plan", code=0)
        self.fleet.server.stop()
        self.write("pack.yaml", PACK.replace("version: ", "version: 9."))
        self.fleet.server.start()
        plan = json.loads(self.fleet.cli("plans", "show", "-o", "json", code=0).stdout)["plan"]
        self.assertEqual(plan["state"], "invalid")
        self.assertIn("packs have changed: odd is 9.", plan["state_reason"])

    def test_packs_and_types_are_those_of_the_controller(self):
        self.assertIn("odd", self.fleet.cli("packs", "list", "-o", "name", code=0).stdout.split())
        self.assertIn("odd-item", self.fleet.cli("packs", "show", "odd", code=0).stdout)
        self.assertIn("plugins may set it", self.fleet.cli("types", "show", "odd-item").stdout)
        self.assertIn("odd-item", self.fleet.cli("packs", "schema", code=0).stdout)
        unknown = self.fleet.cli("types", "show", "odd-itm", code=1)
        self.assertIn("did you mean 'odd-item'?", unknown.stderr)
        shipped = os.path.join(HERE, "..", "..", "packs")
        self.fleet.cli("types", "show", "odd-item", "--packs", shipped, code=1)
        self.fleet.server.stop()
        self.fleet.cli("types", "list", code=69)  # an address was given, and nobody is there

    def test_what_is_deprecated_is_told_when_it_is_used(self):
        used = self.fleet.cli("model", "update", "/software/items/one", "old=x", code=0)
        self.assertIn("property 'old' of item type 'odd-item' is deprecated", used.stderr)
        again = self.fleet.cli("model", "update", "/software/items/one", "old=x", code=0)
        self.assertNotIn("deprecated", again.stderr)

    def test_the_controller_stops_while_a_plugin_hangs(self):
        os.mkfifo(os.path.join(self.pack, "hang"))
        waiting = self.fleet.cli_start("plan")
        hangs = os.path.join(self.pack, "hangs")
        harness.wait_for(lambda: os.path.exists(hangs), "the plugin to hang")
        self.fleet.server.stop()
        _, words = waiting.communicate(timeout=harness.DEADLINE)
        self.assertIn("stopping", words)


if __name__ == "__main__":
    unittest.main()
